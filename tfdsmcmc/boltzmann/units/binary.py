"""Units of {0, 1}.

    u = 0,      Γ(x) = Σ_i log(1 + exp x_i),      E v = σ(x)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random, supports
from tfdsmcmc.boltzmann.units.base import Units, registered
from tfdsmcmc.boltzmann.units.softplus import softplus_increment, sum_softplus
from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, TensorLike


@registered
class Binary(Units):
    """Units of zeros and ones; x is the logit of a one."""

    support = supports.Binary()

    def cumulant(self, field: TensorLike) -> tf.Tensor:
        return sum_softplus(field)

    def increment(self, before: Number, after: Number, field: TensorLike) -> tf.Tensor:
        return softplus_increment(field, before, after)

    def mean(self, field: TensorLike) -> tf.Tensor:
        return tf.sigmoid(field)

    def draw(self, uniforms: TensorLike, field: TensorLike) -> tf.Tensor:
        return random.bernoulli_of(field, uniforms)

    def log_prob(self, v: TensorLike, field: TensorLike) -> tf.Tensor:
        return bernoulli_log_prob(v, field)

    def values(self, width: int) -> list[np.ndarray] | None:
        return [np.array([[0.0], [1.0]])] * width

    def fit(self, x: np.ndarray, smoothing: float) -> list[np.ndarray]:
        rates = (x.mean(0, dtype=np.float64) + smoothing) / (1.0 + 2.0 * smoothing)
        return [(np.log(rates) - np.log1p(-rates)).astype(np.float32)]
