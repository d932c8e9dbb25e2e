"""A column of real numbers that are skewed.

    p(y) = Normal(ψ(y); μ, σ) ψ'(y),      E y = ∫ ψ⁻¹(μ + σε) Normal(ε; 0, 1) dε

with the transform ψ of Yeo and Johnson, of power λ, and μ and σ as those of `Real`. For λ from 0 to 2 it is onto, so p
is normalised; below 1 the law has a long tail above, over 1 below.

In numbers. The mean is by Gauss and Hermite's rule with 24 nodes: to 1 in 500 for σ up to 2, to 1 in 8 for the largest
one. ψ(y) of draws, and at these nodes, counts as at most 30 and at least −30; of values as at most 10¹⁵.

Source: Yeo and Johnson, "A new family of power transformations to improve normality or symmetry", Biometrika 87 (2000).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import supports
from tfdsmcmc._common import checks, yeo_johnson
from tfdsmcmc.columns.base import Kind
from tfdsmcmc.columns.real import Real

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support

_LARGEST, _FARTHEST = 5.0, 30.0
_LARGE = 1e15  # whose square, over that of the least scale, float32 has
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(24)


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Skewed(Kind):
    """Skewed real numbers, best with median 0 and of size 1: one entry, of which the parameters are those of `Real`.

    Args:
      power: λ, from 0 to 2.
      least_scale: σ_0 of `Real`.
      largest_scale: σ_1 of `Real`.
      same_scale: whether all rows share s of `Real`.

    Raises:
      ValueError: for numbers out of range.
    """

    word = "skewed"

    def __init__(
        self, power: float = 0.0, least_scale: float = 0.01, largest_scale: float = _LARGEST, same_scale: bool = False
    ):
        self.power: float = float(checks.nonnegative_number("power", power))
        if self.power > 2:
            raise ValueError(f"power must be at most 2. Received: power={power!r}")
        self._normal = Real(least_scale, largest_scale, same_scale)
        self.parameters, self.shared = self._normal.parameters, self._normal.shared

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.Skewed([kind.power for kind in kinds])

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        t = tf.clip_by_value(yeo_johnson.transformed(value, self.power), -_LARGE, _LARGE)
        return self._normal.log_prob(t, parameters, shared) + yeo_johnson.log_slope(value, self.power)[..., 0]

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        return self._restored(self._normal.draw(parameters, shared, seed))

    def moved(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        """As columns of `Real` move, in ψ(y)."""
        return self._restored(
            self._normal.moved(yeo_johnson.transformed(value, self.power), parameters, shared, seed)
        )

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        scale = self._normal.scale(parameters, shared)[..., tf.newaxis]
        values = self._restored(parameters[..., :1] + scale * _NODES.astype(np.float32))
        weights = (_WEIGHTS / math.sqrt(2 * math.pi)).astype(np.float32)
        return tf.reduce_sum(weights * values, -1, keepdims=True)

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of ψ(y), as `Real` has them."""
        return self._normal.fitted(yeo_johnson.transformed(values.astype(np.float32), self.power).numpy())

    def of_same_scale(self) -> Self:
        return type(self)(**{**self.get_config(), "same_scale": True})

    def get_config(self) -> Config:
        return {"power": self.power, **self._normal.get_config()}

    def _restored(self, t):
        return yeo_johnson.restored(tf.clip_by_value(t, -_FARTHEST, _FARTHEST), self.power)
