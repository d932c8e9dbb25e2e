"""Real units, normal given the field.

    u(v) = γ v²/2,      Γ(x) = ½ Σ_i (x_i²/γ_i − log γ_i + log 2π),      v ~ N(x/γ, 1/γ)

The precision γ is a further natural parameter, with t_2(v) = −v²/2. It is one number for all units and fixed, or one
for each and learnt, as log γ: so it stays positive however a kernel moves it.

A machine has a log Z where its other layer is bounded. Of two Gaussian layers it has one if Γ_v and Γ_h, the precisions
on a diagonal, and W make a positive definite matrix (Γ_v, −W; −W', Γ_h): for equal precisions γ_v γ_h > ‖W‖². Weights
that have none are refused by all that needs one; learning may pass through them. Of hidden units only W γ^(−½) and
a γ^(−½) bear on p(v), so that there is nothing to learn of their γ.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.units.base import Units, registered

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Number, TensorLike, Weight


@registered
class Gaussian(Units):
    """Real units. Columns of the data are best put in units of their standard deviations first.

    Args:
      precision: γ, above 0; where it is learnt, the initial one.
      learnt: whether each unit learns its own, as the weight `log_precision` or, of hidden units,
        `hidden_log_precision`.

    Raises:
      ValueError: for an argument out of range.
    """

    def __init__(self, precision: float = 1.0, learnt: bool = False):
        self.precision: float = checks.positive_in_float32("precision", precision)
        self.learnt: bool = checks.boolean("learnt", learnt)
        self.parameters: tuple[str, ...] = ("log_precision",) if self.learnt else ()
        self.initial: tuple[float, ...] = (math.log(self.precision),) if self.learnt else ()

    def natural(self, bias: Weight, log_precision: Weight | None = None) -> list[Weight]:
        return [bias, self.precision * tf.ones_like(bias) if log_precision is None else tf.exp(log_precision)]

    def statistics(self, v: TensorLike) -> list[TensorLike]:
        return [v, -0.5 * tf.square(v)]

    def cumulant(self, field: TensorLike, precision: TensorLike) -> tf.Tensor:
        constant = tf.reduce_sum(math.log(2.0 * math.pi) - tf.math.log(precision), -1)
        return 0.5 * (tf.reduce_sum(tf.square(field) / precision, -1) + constant)

    def increment(self, before: Number, after: Number, field: TensorLike, precision: TensorLike) -> tf.Tensor:
        """½ (β' − β) (β' + β) Σ_i x_i²/γ_i."""
        return 0.5 * (after - before) * (after + before) * tf.reduce_sum(tf.square(field) / precision, -1)

    def mean(self, field: TensorLike, precision: TensorLike) -> tf.Tensor:
        return field / precision

    def draw(self, uniforms: TensorLike, field: TensorLike, precision: TensorLike) -> tf.Tensor:
        # the middle of a cell: 2u − 1 is exact in float32, symmetric and never ±1
        normal = math.sqrt(2.0) * tf.math.erfinv(tf.cast(2.0 * uniforms - 1.0, field.dtype))
        return field / precision + normal * tf.math.rsqrt(precision)

    def log_prob(self, v: TensorLike, field: TensorLike, precision: TensorLike) -> tf.Tensor:
        terms = tf.math.log(precision) - math.log(2.0 * math.pi) - precision * tf.square(v - field / precision)
        return 0.5 * tf.reduce_sum(terms, -1)

    def fit(self, x: np.ndarray, smoothing: float) -> list[np.ndarray]:
        """Where γ is learnt, the variances are those of N rows and 2 · smoothing · N of variance 1/`precision`."""
        mean, variance = x.mean(0, dtype=np.float64), x.var(0, dtype=np.float64)
        spread = (variance + 2.0 * smoothing / self.precision) / (1.0 + 2.0 * smoothing)
        precision = 1.0 / spread if self.learnt else np.full_like(mean, self.precision)
        weights = [mean * precision, *([np.log(precision)] if self.learnt else [])]
        return [weight.astype(np.float32) for weight in weights]

    def get_config(self) -> Config:
        return {"precision": self.precision, "learnt": self.learnt}
