"""The factors of a row in mean-field variational Bayes: q(z_n) of its latent units, and q(γ_n).

    q(γ_jn) = PG(1, C_jn),   C² = ⟨ψ²⟩,   γ̄ = tanh(C/2)/(2C)
    logit h̄_kn = ⟨ψ_kn⟩ + Σ_j ∂/∂h̄_kn [(ȳ_jn − ½) ⟨ψ_jn⟩ − ½ γ̄_jn ⟨ψ_jn²⟩],   j in the layer below, and later in its own

where a unit is a target of its own layer's regressions, a regressor of the layer below, and in a DARN a regressor of
the units after it: the last sum is easily left out. What the bound has of a row is

    Σ_jn [−ln 2 + (ȳ − ½) ⟨ψ⟩ − ½ γ̄ ⟨ψ²⟩ − KL(PG(1, C) ‖ PG(1, 0))] + Σ_kn H(h̄_kn)
    KL(PG(1, C) ‖ PG(1, 0)) = ln cosh(C/2) − C² γ̄/2

Missing entries of the data drop out of all sums.

Source: Gan, Henao, Carlson and Carin (2015), section 3.2; deep and autoregressive networks from the same bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc._common import loops
from tfdsmcmc.distributions.polya_gamma import mean_of_one

if TYPE_CHECKING:
    from types import ModuleType

    from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape


class WeightFactor(NamedTuple):
    """q(w_j) of a layer: means (J, P) and, by kind, covariances as wrapped diagonals or variances (J, P)."""

    mean: tf.Tensor
    covariance: tf.Tensor


class LocalFactors(NamedTuple):
    """The factors of some rows.

    Attributes:
      units: list of (B, K_l), the means of the latent units, nearest to the data first.
      tilts: list of (B, J_l), C, of the data's layer first.
    """

    units: list[tf.Tensor]
    tilts: list[tf.Tensor]


class Observations(NamedTuple):
    """Rows as the factors see them.

    Attributes:
      x: (B, D), zeros and ones; whatever is finite where an entry is missing.
      known: (B, D), 1 where an entry is observed, else 0; None if all are.
      context: (B, C), what a row is given; (B, 0) without.
    """

    x: tf.Tensor
    known: tf.Tensor | None
    context: tf.Tensor


def log_cosh(x: tf.Tensor) -> tf.Tensor:
    """ln cosh x."""
    return tf.abs(x) + tf.math.softplus(-2 * tf.abs(x)) - math.log(2)


class LocalModel:
    """What the factors of rows are, given those of the weights.

    Args:
      layers: list of `LayerShape`, the data's first.
      kind: the module of the weights' factors, `full_covariance` or `diagonal_covariance`.
    """

    layers: list[LayerShape]
    kind: ModuleType

    def __init__(self, layers: Iterable[LayerShape], kind: ModuleType):
        self.layers, self.kind = list(layers), kind

    def regressors(self, rows: Observations, units: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """List of (B, P), the means of each layer's regressors."""
        values = [rows.x, *units]
        parents = [*units, rows.context]
        return [layer.regressors(*parts) for layer, *parts in zip(self.layers, parents, values, strict=True)]

    def targets(self, rows: Observations, units: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """List of (B, J), ȳ − ½; 0 for missing entries."""
        data = rows.x - 0.5
        return [data if rows.known is None else data * rows.known, *(part - 0.5 for part in units)]

    def tilts(self, weights: Sequence[WeightFactor], rows: Observations, units: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """List of (B, J), the best C for the other factors."""
        tilts = []
        for (mean, covariance), r in zip(weights, self.regressors(rows, units), strict=True):
            second = tf.square(tf.matmul(r, mean, transpose_b=True)) + self._variance(mean, covariance, r)
            tilts.append(tf.sqrt(tf.maximum(second, 0)))
        return tilts

    def gammas(self, rows: Observations, tilts: Sequence[tf.Tensor]) -> list[tf.Tensor]:
        """List of (B, J), γ̄; 0 for missing entries."""
        data, *latent = (mean_of_one(tilt) for tilt in tilts)
        return [data if rows.known is None else data * rows.known, *latent]

    def update_units(
        self,
        weights: Sequence[WeightFactor],
        rows: Observations,
        factors: LocalFactors,
        place: int,
    ) -> tf.Tensor:
        """The means (B, K) of latent layer `place`, nearest to the data 0, one unit after the other."""
        own = self.layers[place + 1]
        gammas = self.gammas(rows, factors.tilts)[place : place + 2]
        targets = self.targets(rows, factors.units)[place : place + 2]
        r = self.regressors(rows, factors.units)[place : place + 2]
        lower, upper = weights[place : place + 2]
        start = factors.units[place]
        parts, moving = self.kind.slopes(*lower, gammas[0], targets[0], r[0])
        # ⟨ψ⟩ of the layer itself, but for its own units
        first, inner, last = own.columns
        outer = tf.matmul(r[1][:, first], upper.mean[:, first], transpose_b=True)
        outer += tf.matmul(r[1][:, last], upper.mean[:, last], transpose_b=True)
        if own.lateral:
            own_parts, own_moving = self.kind.slopes(*upper, gammas[1], targets[1], r[1])

        def one(k, units, moving, *own_moving):
            value = units[:, k]
            logit = outer[:, k] + parts.linear[:, k] + self.kind.slope(parts, moving, lower.mean, k, value)
            if own.lateral:
                p = inner.start + k
                logit += tf.linalg.matvec(units, upper.mean[k, inner])
                logit += self.slope_of_later_units(own_parts, *own_moving, upper.mean, p, units, value)
            change = tf.sigmoid(logit) - value
            units += change[:, tf.newaxis] * tf.one_hot(k, own.units, dtype=units.dtype)
            moving = self.kind.moved(parts, moving, lower.mean, k, change)
            own_moving = [self.kind.moved(own_parts, part, upper.mean, p, change) for part in own_moving]
            return (k + 1, units, moving, *own_moving)

        state = (tf.constant(0), start, moving, *([own_moving] if own.lateral else []))
        return loops.while_loop(lambda k, *_: k < own.units, one, state)[1]

    def slope_of_later_units(
        self,
        parts: Any,
        moving: tf.Tensor,
        mean: tf.Tensor,
        p: int | tf.Tensor,
        units: tf.Tensor,
        value: tf.Tensor,
    ) -> tf.Tensor:
        """(B,), what the units (B, J) of a DARN add to the logit of one before them, regressor p of mean `value`."""
        return tf.linalg.matvec(units - 0.5, mean[:, p]) + self.kind.slope(parts, moving, mean, p, value)

    def fit(
        self,
        weights: Sequence[WeightFactor],
        rows: Observations,
        units: Sequence[tf.Tensor],
        rounds: int,
    ) -> tuple[LocalFactors, tf.Tensor]:
        """Rounds over q(γ), then q(h) of each layer from the data up.

        Args:
          weights: list of `WeightFactor`.
          rows: `Observations`.
          units: list of (B, K_l), the means to start from.
          rounds: how many.

        Returns:
          (`LocalFactors`, (B,)): the factors after the last round, whose tilts belong to the units before it, and the
          bounds of the rows just before these units.
        """
        for _ in range(rounds):
            tilts = self.tilts(weights, rows, units)
            factors = LocalFactors(list(units), tilts)
            bound = self.bound(weights, rows, factors, best=True)
            for place in range(len(units)):
                factors.units[place] = self.update_units(weights, rows, factors, place)
            units = factors.units
        return factors, bound

    def bound(
        self,
        weights: Sequence[WeightFactor],
        rows: Observations,
        factors: LocalFactors,
        best: bool = False,
    ) -> tf.Tensor:
        """(B,), what the bound has of each row; `best` if the tilts are those of `tilts`."""
        targets = self.targets(rows, factors.units)
        total = sum(entropy(part) for part in factors.units) if factors.units else 0.0
        for layer, r in enumerate(self.regressors(rows, factors.units)):
            (mean, covariance), tilt = weights[layer], factors.tilts[layer]
            psi = tf.matmul(r, mean, transpose_b=True)
            terms = -math.log(2) - log_cosh(tilt / 2)
            if not best:
                second = tf.square(psi) + self._variance(mean, covariance, r)
                terms += 0.5 * mean_of_one(tilt) * (tf.square(tilt) - second)
            if layer == 0 and rows.known is not None:
                terms *= rows.known
            total += tf.reduce_sum(targets[layer] * psi + terms, 1)
        return total

    def _variance(self, mean, covariance, r):
        """(B, J), the variance of ψ under q."""
        return tf.matmul(r * (1 - r), tf.square(mean), transpose_b=True) + self.kind.spread(covariance, r)


def entropy(means: tf.Tensor) -> tf.Tensor:
    """(B,), the entropy of independent zeros and ones (B, K) of these means."""
    return -tf.reduce_sum(tf.math.xlogy(means, means) + tf.math.xlog1py(1 - means, -means), 1)
