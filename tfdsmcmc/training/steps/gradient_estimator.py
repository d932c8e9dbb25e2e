"""The contract of a gradient estimator.

    (weights, rows, N, auxiliary, carry, seed) → (g, draws, carry),      E g ≈ ∇ log p(θ given X) / N

An estimator draws at random what the gradient needs, a minibatch given. What it drew is handed on, for metrics and for
whatever else learns from it. A carry is what its draws leave to the next call: nothing, the states of a Markov chain
for each row of the data (`carries = "row"`), or something that the whole run shares, such as the particles of
persistent contrastive divergence (`carries = "run"`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import tensorflow as tf

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.networks import RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


class GradientEstimator:
    """Base class: a subclass defines `gradient`, and what differs of the rest.

    Attributes:
      carries: None, "row" or "run".
      metric_names: keys of the metrics of its draws.
      recognition: `RecognitionNetwork` that it draws by, or None.
      fills_gaps: whether it draws what is missing of a row, so that rows with gaps suit any data layer.
      takes_weights: whether its means over the rows of a minibatch heed their weights, `rows.mean_over_rows`.
      burn_in: sweeps behind each row that `start` starts.
      warm_up: over how many updates of an optimizer its draws warm up; with more than 0, `gradient` takes the argument
        `latent_power`, the kernel's.
    """

    carries: Literal["row", "run"] | None = None
    recognition: RecognitionNetwork | None = None
    fills_gaps = False
    takes_weights = False
    burn_in = 0
    warm_up = 0
    metric_names: tuple[str, ...] = ()

    def gradient(
        self,
        weights: Sequence[tf.Tensor],
        x: TensorLike | Rows,
        num_rows: Number,
        auxiliary: Sequence[tf.Tensor],
        carry: Nest,
        seed: Seed,
        prior_weight: Number = 1.0,
    ) -> tuple[list[tf.Tensor], Nest, Nest]:
        """The gradient of log p(θ given X)/N from a minibatch.

        Args:
          weights: list of tensors.
          x: (B, D), a tensor, or `Rows` where entries are missing.
          num_rows: N, scalar.
          auxiliary: list of tensors, the scales of shrinkage priors.
          carry: what an earlier call left, see `start`; None for nothing.
          seed: int32 of shape (2,).
          prior_weight: the power of the prior p(θ) in the posterior: 1, or 0 while an optimizer climbs. A number, or a
            scalar tensor where one program has both.

        Returns:
          (list of tensors like the weights, draws, carry): the draws are any nest; a carry of rows is a list of tensors
          (B, …).
        """
        raise NotImplementedError(f"{type(self).__name__} must define gradient(weights, x, num_rows, …).")

    def draw(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows, carry: Nest, seed: Seed) -> tuple[Nest, Nest]:
        """(draws, carry) without a gradient, as `gradient` makes them."""
        raise NotImplementedError(f"{type(self).__name__} must define draw(weights, x, carry, seed).")

    def start(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows | None, seed: Seed) -> Nest:
        """The carry of new chains: for the rows x, list of tensors (B, …); or of the run, whatever x."""
        raise NotImplementedError(f"{type(self).__name__} carries nothing.")

    def no_rows(self) -> list[np.ndarray]:
        """The carry of no rows, list of arrays (0, …), where `carries` is "row"."""
        raise NotImplementedError(f"{type(self).__name__} carries nothing for each row.")

    def metrics(self, draws: Nest) -> dict[str, tf.Tensor]:
        """Dict of float32 scalars, one for each of `metric_names`."""
        del draws
        return {name: tf.zeros([]) for name in self.metric_names}
