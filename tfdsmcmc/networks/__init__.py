"""Networks of stochastic layers, each the parent of the next.

    generative     p(x, z; θ) = p(z_L) Π_l p(z_l given z_{l+1}) p(x given z_1)
    recognition    q(z given x; φ) = q(z_1 given x) Π_l q(z_{l+1} given z_l)

Everywhere `z` is a list, nearest to the data first: [z_1, …, z_L]. Data x are a tensor, or `Rows` where entries are
missing.
"""

from tfdsmcmc.networks.generative import GenerativeNetwork, data_log_prob
from tfdsmcmc.networks.network import evaluated_at
from tfdsmcmc.networks.recognition import RecognitionNetwork

__all__ = ["GenerativeNetwork", "RecognitionNetwork", "data_log_prob", "evaluated_at"]
