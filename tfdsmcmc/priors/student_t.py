"""Independent entries of a Student-t law: the published prior of weights, and by default that of biases.

    log p(w) = Σᵢ [log Γ((ν + 1)/2) − log Γ(ν/2) − ½ log(πν) − log s − (ν + 1)/2 · log(1 + ((wᵢ − μ)/s)²/ν)]

This is the density of `tfp.distributions.StudentT` with its constant as a number. TFP's takes ninety operations for
each weight, most of them for the constant: a fifth of all that the step of a small network is compiled from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc.priors.base import WeightPrior

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Distribution, TensorLike


class StudentTPrior(WeightPrior):
    """Independent entries of a Student-t law.

    Args:
      df: ν, a number above 0.
      loc: μ, a number.
      scale: s, a number other than 0; its sign is of no consequence.
    """

    df: float
    loc: float
    scale: float

    def __init__(self, df: float, loc: float, scale: float):
        self.df, self.loc, self.scale = df, loc, scale
        normaliser = math.lgamma(df / 2) - math.lgamma((df + 1) / 2) + 0.5 * math.log(math.pi * df)
        self._constant = -normaliser - math.log(abs(scale))

    @classmethod
    def of(cls, distribution: Distribution) -> StudentTPrior | None:
        """The prior of a `tfp.distributions.StudentT` of float32 numbers in range; None for any other distribution."""
        if type(distribution) is not tfp.distributions.StudentT or distribution.dtype != tf.float32:
            return None
        found = [tf.get_static_value(part) for part in (distribution.df, distribution.loc, distribution.scale)]
        if any(part is None for part in found):  # variables
            return None
        df, loc, scale = map(float, found)
        return cls(df, loc, scale) if 0 < df < math.inf and 0 < abs(scale) < math.inf else None

    def log_prob(self, value: TensorLike, auxiliary: Sequence[TensorLike]) -> tf.Tensor:
        value = tf.cast(value, tf.float32)
        # flat from there on, for the square of a float32 must not overflow
        squares = tf.square(tf.clip_by_value((value - self.loc) / self.scale, -1e15, 1e15))
        logs = tf.reduce_sum(tf.math.log1p(squares / self.df))
        return self._constant * tf.cast(tf.size(value), tf.float32) - 0.5 * (self.df + 1) * logs

    def get_config(self) -> Config:
        return {"df": self.df, "loc": self.loc, "scale": self.scale}
