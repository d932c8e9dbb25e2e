"""Samples of the weights from their posterior: collect, store, average, predict."""

from tfdsmcmc.posterior.collector import Collector
from tfdsmcmc.posterior.curve import Curve
from tfdsmcmc.posterior.ensemble import MeanOverChains, Posterior, load

__all__ = ["Collector", "Curve", "MeanOverChains", "Posterior", "load"]
