"""Objectives for the recognition network."""

from tfdsmcmc.proposals.wake import Wake

__all__ = ["Wake"]
