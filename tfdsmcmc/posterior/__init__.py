"""Samples of the weights from their posterior: collect, store, average, predict."""

from tfdsmcmc.posterior.collector import Collector
from tfdsmcmc.posterior.curve import Curve
from tfdsmcmc.posterior.ensemble import Posterior
from tfdsmcmc.posterior.last_part import last_part
from tfdsmcmc.posterior.mean import MeanOverChains
from tfdsmcmc.posterior.opening import load, present

__all__ = ["Collector", "Curve", "MeanOverChains", "Posterior", "last_part", "load", "present"]
