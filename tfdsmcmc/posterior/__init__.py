"""Samples of the weights from their posterior: collect, store, average, predict."""

from tfdsmcmc.posterior.collector import Collector
from tfdsmcmc.posterior.ensemble import Posterior, load

__all__ = ["Collector", "Posterior", "load"]
