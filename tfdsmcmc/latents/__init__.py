"""How the latent variables are drawn given the data, and with which weights."""

from tfdsmcmc.latents.base import Latents
from tfdsmcmc.latents.gibbs import Gibbs
from tfdsmcmc.latents.nais import NAIS

__all__ = ["NAIS", "Gibbs", "Latents"]
