"""The wake-phase objective: the inclusive divergence KL(p(z given x) ‖ q(z given x)).

    −∇_φ KL = E[∇_φ log q(z given x; φ) given x] ≈ Σ_k w̃_k ∇_φ log q(z_k given x; φ)

with the draws and weights of NAIS. It fits q to cover the posterior, as an importance sampler should.

Sources: Du, Zhu and Zhang, IEEE Transactions on Neural Networks and Learning Systems 29 (2018);
Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015 (the wake-phase q update).
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc.proposals.base import Proposal, fixed
from tfdsmcmc.rows import mean_over_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import (
        Config,
        LatentSampler,
        OptimizerLike,
        Seed,
        TensorLike,
        WeightedCompletions,
        WeightedLatents,
    )
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


@keras.saving.register_keras_serializable("tfdsmcmc")
class Wake(Proposal):
    """Fits the recognition network to the weighted draws.

    Args:
      optimizer: Keras optimizer of φ, or its name.
      redraw: False to use the draws of the last θ-update of the minibatch (as the paper does); True to draw again
        with the moved θ before each φ-update.

    Raises:
      ValueError: if `redraw` is neither True nor False, or `optimizer` is no optimizer.

    Example:

    >>> import keras, tfdsmcmc as ds
    >>> proposal = ds.proposals.Wake(keras.optimizers.Adam(3e-4))
    """

    takes_weights = True

    def __init__(self, optimizer: OptimizerLike = "adam", redraw: bool = False):
        if not isinstance(redraw, bool):
            raise ValueError(f"redraw must be True or False. Received: redraw={redraw!r}")
        super().__init__(optimizer)
        self.redraw = redraw

    def check(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        latents: LatentSampler | None = None,
    ) -> None:
        """Refuses draws of q that are equally weighted: there E_q[∇ log q] = 0, and φ would walk at random. So it does
        with a single importance sample, whose weight is 1, of which a warning tells."""
        if latents is not None and latents.weights_all_alike:
            raise ValueError(
                f"{type(self).__name__} needs draws with importance weights, or of the posterior. "
                f"Received: latents {type(latents).__name__} with weights='uniform'"
            )

        single = getattr(latents, "importance_weighted", False) and latents.num_samples == 1
        if single and self._wakes_alone and generative.latent_units:
            warnings.warn(
                f"A single importance sample has the weight 1 whatever it is: from it {type(self).__name__} lets the "
                "recognition network walk at random. Take more, by num_samples, or climbing_samples where an optimizer "
                f"climbs. Received: {type(latents).__name__} of one sample",
                UserWarning,
                stacklevel=2,
            )

    @property
    def _wakes_alone(self):
        """Whether φ learns from the weighted draws alone."""
        return True

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """mean_B Σ_k w̃_k log q(z_k given x; φ), a scalar to ascend; draws and weights are constants.

        Args:
          generative: not used; other objectives need it.
          recognition: `RecognitionNetwork`.
          x: (B, D).
          latents: `WeightedLatents` of x, or `WeightedCompletions`, each with an x of its own.
          seed: not used; other objectives draw.
        """
        seen = getattr(latents, "x", x)
        weights = tf.stop_gradient(tf.nn.softmax(latents.log_weights, axis=0))
        return mean_over_rows(tf.reduce_sum(weights * recognition.log_prob(fixed(latents.z), seen), 0), x)

    def get_config(self) -> Config:
        return {**super().get_config(), "redraw": self.redraw}
