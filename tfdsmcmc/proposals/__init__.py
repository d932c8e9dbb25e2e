"""Objectives for the recognition network."""

from tfdsmcmc.proposals.base import Proposal
from tfdsmcmc.proposals.iwae import IWAE
from tfdsmcmc.proposals.nvil import NVIL
from tfdsmcmc.proposals.sleep import Sleep
from tfdsmcmc.proposals.wake import Wake
from tfdsmcmc.proposals.wake_sleep import WakeSleep

__all__ = ["IWAE", "NVIL", "Proposal", "Sleep", "Wake", "WakeSleep"]
