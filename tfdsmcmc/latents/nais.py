"""Neural adaptive importance sampling.

    z_k ~ q(z given x; φ),      log w_k = log p(x, z_k; θ) − log q(z_k given x; φ),      k = 1, …, K

The self-normalised weights w̃ = softmax(log w) turn the draws into posterior expectations, with a bias of order 1/K:

    ∇ log p(x; θ) = E[∇ log p(x, z; θ) given x] ≈ Σ_k w̃_k ∇ log p(x, z_k; θ)

Source: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions
on Neural Networks and Learning Systems 29 (2018).
"""

from __future__ import annotations

import keras

from tfdsmcmc.checks import positive_integer
from tfdsmcmc.types import WeightedLatents


@keras.saving.register_keras_serializable("tfdsmcmc")
class NAIS:
    """Importance samples from the recognition network.

    Args:
      num_samples: K, the draws for each row.

    Raises:
      ValueError: if `num_samples` is no positive integer.
    """

    def __init__(self, num_samples=5):
        self.num_samples = positive_integer("num_samples", num_samples)

    def draw(self, generative, recognition, x, seed, carry=None):
        """Draws z and its log-weights.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D).
          seed: integer, or int32 tensor of shape (2,).
          carry: not used; importance samples are independent.

        Returns:
          (`WeightedLatents`, None): z a list of (K, B, H_l), log_weights (K, B).
        """
        z = recognition.sample(x, self.num_samples, seed)
        return WeightedLatents(z, generative.log_joint(x, z) - recognition.log_prob(z, x)), None

    def get_config(self):
        return {"num_samples": self.num_samples}

    @classmethod
    def from_config(cls, config):
        return cls(**config)
