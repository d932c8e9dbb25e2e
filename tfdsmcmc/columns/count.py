"""A column of counts.

    p(y) = NegativeBinomial(y; μ, r) = Γ(y + r) / (Γ(r) y!) · (r/(r + μ))^r (μ/(r + μ))^y,      μ = exp(η)
    p(y) = Poisson(y; μ)

With a limit B the mean is μ = exp(η) up to B. Beyond it log μ = log B + log(1 + η − log B), of the same slope where
they meet. A mean that is log-linear in other columns would be astronomical for a row that is far out in these. It still
grows, so that a small count speaks against a large η: log p falls by some r log of it, where a mean that stopped at B
would leave it free.

η is the parameter of a row and r = exp(ρ) that of the column, which all rows share: the variance is μ + μ²/r. With
zero inflation a second parameter g of the row says that a count is 0 beside its law, with probability π = σ(g):

    p(0) = π + (1 − π) p₀(0),      p(y) = (1 − π) p₀(y)        for y > 0

In numbers. log(r/(r + μ)) = −softplus(η − ρ) and log(μ/(r + μ)) = −softplus(ρ − η). η counts as at most 16.6,
where the support ends, and at least −15, ρ as at most 12 and at least −6; beyond them no gradient passes.

With δ = η − log y a Poisson count y > 0 has y η − μ = y log y − y − y (e^δ − 1 − δ), and y log y − y − log y! is small,
by Stirling's series, so that nothing large is subtracted from something large.

Networks and other columns see log(c + y). A mean that is log-linear in it goes as (c + y)^u, and differs between y = 0
and a typical count t by the factor (1 + t/c)^u, which is 2^u at c = t. At c = 1 the few small counts among large ones
are many standard deviations out: where these rows lack the other column, u says of them what the rest do not support.

Source: Lawless, "Negative binomial and mixed Poisson regression", Canadian Journal of Statistics 15 (1987); Lambert,
"Zero-inflated Poisson regression", Technometrics 34 (1992).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random, supports
from tfdsmcmc._common import checks
from tfdsmcmc.columns.base import Kind
from tfdsmcmc.distributions.poisson_draws import poisson

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support

_LAWS = ("negative binomial", "poisson")
_LOG_MEANS, _LOG_SIZES = (-15.0, 16.6), (-6.0, 12.0)  # the support ends at e^16.6
_STIRLING = 8.0  # from where on the correction of log y! is known


@keras.saving.register_keras_serializable("tfdsmcmc.columns")
class Count(Kind):
    """Counts: one entry, of which the parameter is the logarithm of the mean.

    Args:
      law: "negative binomial", with a size r that all rows share, or "poisson".
      zero_inflated: whether more zeros are allowed for, with a second parameter.
      typical: a count as the column has them, above 0: what a recognition network sees in place of a missing one.
      offset: c, above 0: networks and other columns see log(c + y) of a count y. The typical count suits large ones.
      limit: B, above 0, beyond which means grow with the logarithm alone; some times the largest count. None for none.

    Raises:
      ValueError: for another law, or a number out of range.
    """

    word = "count"
    offset, limit = 1.0, None  # of pickled kinds that have none

    def __init__(
        self,
        law: Literal["negative binomial", "poisson"] = "negative binomial",
        zero_inflated: bool = False,
        typical: float = 1.0,
        offset: float = 1.0,
        limit: float | None = None,
    ):
        self.law = checks.one_of("law", law, _LAWS)
        self.zero_inflated: bool = checks.boolean("zero_inflated", zero_inflated)
        self.typical: float = float(checks.positive_number("typical", typical))
        self.offset: float = float(checks.positive_number("offset", offset))
        self.limit: float | None = None if limit is None else float(checks.positive_number("limit", limit))
        self.parameters = 2 if self.zero_inflated else 1
        self.shared = 1 if law == "negative binomial" else 0

    @property
    def likeness(self) -> Hashable:
        return "count", self.law, self.zero_inflated, self.limit

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        return supports.Counts([kind.typical for kind in kinds], [kind.offset for kind in kinds])

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        y = value[..., 0]
        return self._log_law(y, parameters, shared, self._log_ways(y, shared))

    def log_factor(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """Without Γ(y + r) / (Γ(r) y!), which takes longer than all the rest; it is 1 at y = 0."""
        if type(self).log_prob is not Count.log_prob:  # a law of its own
            return self.log_prob(value, parameters, shared)
        return self._log_law(value[..., 0], parameters, shared, 0.0)

    def _log_law(self, y, parameters, shared, log_ways):
        """log p, log_ways the first term of the law itself."""
        counted = log_ways + self._log_powers(y, self._log_mean(parameters), shared)
        if not self.zero_inflated:
            return counted
        g = parameters[..., 1]
        other = counted - tf.nn.softplus(g)
        beside = -tf.nn.softplus(-g) + tf.zeros_like(other)
        return tf.where(y == 0, tfp.math.log_add_exp(beside, other), other)

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        rate_seed, count_seed, zero_seed = tf.unstack(random.split(seed, 3))
        rate = tf.exp(self._log_mean(parameters))
        if self.shared:
            size = tf.broadcast_to(tf.exp(_clipped(shared[..., 0], _LOG_SIZES)), tf.shape(rate))
            rate *= random.gamma(tf.shape(rate), size, rate_seed) / size
        y = poisson(rate, count_seed)
        if self.zero_inflated:
            y *= 1.0 - random.bernoulli(parameters[..., 1], zero_seed)
        return y[..., tf.newaxis]

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        mean = tf.exp(self._log_mean(parameters))[..., tf.newaxis]
        return mean * tf.sigmoid(-parameters[..., 1:]) if self.zero_inflated else mean

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By moments: the mean, and r = μ² / (variance − μ) between 0.1 and 100. Zero inflation starts at 1 in 20."""
        values = values.astype(np.float64)
        mean = max(values.mean(), 0.5 / len(values))
        log_mean, log_limit = np.log(mean), np.inf if self.limit is None else np.log(self.limit)
        log_mean = min(log_mean, log_limit) + np.expm1(max(log_mean - log_limit, 0.0))
        size = np.clip(mean**2 / max(values.var() - mean, 1e-9), 0.1, 100.0)
        return np.float32([log_mean, -3.0][: self.parameters]), np.float32([np.log(size)][: self.shared])

    def get_config(self) -> Config:
        own = {"law": self.law, "zero_inflated": self.zero_inflated}
        return {**own, "typical": self.typical, "offset": self.offset, "limit": self.limit}

    def _log_mean(self, parameters):
        """log μ, of the law itself."""
        eta = _clipped(parameters[..., 0], _LOG_MEANS)
        if self.limit is None:
            return eta
        beyond = tf.nn.relu(eta - math.log(self.limit))
        return eta - beyond + tf.math.log1p(beyond)

    def _log_powers(self, y, eta, shared):
        """What depends on the mean, of the law itself."""
        if not self.shared:
            delta = eta - tf.math.log(tf.maximum(y, 1.0))  # y η − e^η, less y log y − y: what is left is small
            return tf.where(y > 0, -y * (tf.math.expm1(delta) - delta), -tf.exp(eta))
        rho = _clipped(shared[..., 0], _LOG_SIZES)
        return -tf.exp(rho) * tf.nn.softplus(eta - rho) - y * tf.nn.softplus(rho - eta)

    def _log_ways(self, y, shared):
        """What does not."""
        if not self.shared:
            return _poisson_ways(y)
        r = tf.exp(_clipped(shared[..., 0], _LOG_SIZES))
        # Γ(y + r) / (Γ(r) y!) = 1 / ((y + r) B(r, y + 1))
        return -tfp.math.lbeta(r + tf.zeros_like(y), y + 1.0) - tf.math.log(r + y)


def _poisson_ways(y):
    """y log y − y − log y!, of which the first and the last are large, and nearly the same, where y is."""
    some, many = tf.clip_by_value(y, 1.0, _STIRLING), tf.maximum(y, _STIRLING)
    few = tf.where(y > 0, some * tf.math.log(some) - some - tf.math.lgamma(some + 1.0), 0.0)
    return tf.where(y < _STIRLING, few, -0.5 * tf.math.log(2 * math.pi * many) - tfp.math.log_gamma_correction(many))


def _clipped(x, bounds):
    return tf.clip_by_value(x, *bounds)
