"""Independent draws of the scales of shrinkage priors given the weights, by quadrature.

A Gibbs sweep moves a common scale τ by little where the weights tell little of their own variances, as where τ is below
the floor: from a start far off it needs hundreds of sweeps. Here the variances are integrated out, and nothing settles.

    w_g given ζ_g ~ N(0, ζ_g + m²), n weights in a group,     ζ_g/τ² ~ BetaPrime(a, b)
    p(w given τ) = Π_g ∫ p(ζ_g given τ) (ζ_g + m²)^(−n/2) exp(−S_g/(2(ζ_g + m²))) dζ_g,     S_g = Σ w² of the group

The integral is a sum over ln ζ in steps of h = 1.5/√(n + 2 min(a, b)), ½ at most, in which the tails of ζ beyond the
grid count at its ends. The sum errs by the Fourier transform of the integrand at 2π/h. That goes as the product of a
law of ln ζ by the weights, whose variance is 2/n or more, and one a priori, whose variance is 1/a + 1/b or more. Normal
laws with those would err by 2 exp(−4π²/(h²(n + 2 min(a, b)))) of the integral, 5·10⁻⁸, or less
(`augmentation.variational.grid_scales` has more).

Then τ is drawn from p(τ given w) on a grid that is made finer four times around where its mass is, and each ζ_g from
p(ζ_g given w, τ), uniform within a step.

The draws are near the law, to within the steps, and Gibbs sweeps from there, which leave the law invariant, only come
nearer. In SciPy and float64, in blocks of bounded memory.

Source: derived here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import scipy.special
import tensorflow as tf

from tfdsmcmc import random

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Number, Seed

_BLOCK = 2**21  # numbers at a time
_POINTS, _ROUNDS, _NATS = 64, 4, 25.0
REACH = 36.0  # of ln τ² on both sides of what is expected; what is left out of a half-Cauchy law is 10⁻⁸


class ScalesGivenWeights:
    """The variances ζ of columns of groups of weights, a scale τ for each column.

    Args:
      sums: Σ w² of each group, (K, J).
      size: n, weights in a group.
      a, b: of the beta prime law.
      floor: m².
      highest: the largest ln τ² that is asked for.
    """

    size: float
    a: float
    b: float
    floor: float
    sums: np.ndarray

    def __init__(self, sums: ArrayLike, size: Number, a: float, b: float, floor: float, highest: float):
        self.size, self.a, self.b, self.floor = float(np.nan_to_num(size)), a, b, floor  # n is 0/0 of no groups
        self.sums = np.asarray(sums, np.float64)
        if not floor:  # without a floor a weight of 0 has no law
            self.sums = np.maximum(self.sums, 1e-24)
        self.step: float = min(0.5, log_step(self.size, a, b))
        least = math.log(floor) - 10 if floor else math.log(np.min(self.sums, initial=1.0)) - 6
        low = least - math.log(max(self.size, 1.0))
        high = 16 + max(highest, math.log(np.max(self.sums, initial=1e-30)), low)
        self.log_zeta: np.ndarray = np.arange(low, high, self.step)

    def log_density(self, log_scale: np.ndarray) -> np.ndarray:
        """Σ over the groups of ln p(w_g given τ) but for a constant, (K, T).

        Args:
          log_scale: ln τ², (K, T).
        """
        total = np.zeros(log_scale.shape)
        for rows, columns in self._blocks(log_scale.shape[1]):
            given_scale = np.swapaxes(np.exp(self._log_prior(log_scale[rows])), 1, 2)
            density = np.exp(self._evidence(rows, columns)) @ given_scale
            total[rows] += np.sum(np.log(np.maximum(density, 1e-300)), 1)
        return total

    def draw(self, log_scale: np.ndarray, seed: Seed) -> np.ndarray:
        """ln ζ given w and τ, (K, J).

        Args:
          log_scale: ln τ², (K,).
          seed: int32 of shape (2,).
        """
        uniforms = random.uniform(self.sums.shape, seed, tf.float64).numpy()
        found = np.empty(self.sums.shape)
        for rows, columns in self._blocks(1):
            logs = self._evidence(rows, columns) + self._log_prior(log_scale[rows, np.newaxis])
            found[rows, columns] = _by_inversion(self.log_zeta, logs, uniforms[rows, columns])
        return found

    def _blocks(self, num_scales):
        """Pairs of slices over columns and groups whose arrays are of bounded size."""
        num_columns, num_groups = self.sums.shape
        groups = max(1, min(num_groups, _BLOCK // len(self.log_zeta)))
        columns = max(1, _BLOCK // (len(self.log_zeta) * max(groups, num_scales)))
        for row in range(0, num_columns, columns):
            for column in range(0, num_groups, groups):
                yield slice(row, row + columns), slice(column, column + groups)

    def _evidence(self, rows, columns):
        """−n/2 ln(ζ + m²) − S/(2(ζ + m²)) below its largest value, (K, J, I)."""
        variance = np.exp(self.log_zeta) + self.floor
        logs = -0.5 * (self.size * np.log(variance) + self.sums[rows, columns, np.newaxis] / variance)
        return logs - np.max(logs, -1, keepdims=True)

    def _log_prior(self, log_scale):
        """ln of the probabilities of the points given τ, (K, T, I)."""
        return log_probabilities(self.a, self.b, self.log_zeta - log_scale[..., np.newaxis], self.step)


def log_step(size: float, a: float, b: float) -> float:
    """The step h in ln ζ for groups of n weights, see the module; 1.5/√(n + 2 min(a, b))."""
    return 1.5 / math.sqrt(size + 2 * min(a, b))


def log_probabilities(a: float, b: float, log_ratio: np.ndarray, step: float) -> np.ndarray:
    """ln of the probabilities of a beta prime law's logarithm on a grid; the first and last point have the tails.

    Args:
      a, b: of the law.
      log_ratio: ln ζ/τ² on the grid, (…, I).
      step: h.
    """
    logs = math.log(step) + _log_beta_prime(a, b, log_ratio)
    logs[..., 0] = _log_rest(a, b, log_ratio[..., 0] + step / 2, step)
    logs[..., -1] = _log_rest(b, a, step / 2 - log_ratio[..., -1], step)
    return logs


def _log_beta_prime(a, b, t):
    """ln density of t = ln ζ/τ²."""
    return a * t - (a + b) * np.logaddexp(0, t) - scipy.special.betaln(a, b)


def _log_rest(a, b, t, step):
    """ln of the probability below t, as a sum in steps from there on leaves it, F(t) − h²/24 F''(t) and so on."""
    mass = np.maximum(scipy.special.betainc(a, b, scipy.special.expit(t)), 1e-300)
    curvature = np.exp(_log_beta_prime(a, b, t)) * (a - (a + b) * scipy.special.expit(t)) / mass
    return np.log(mass) - np.log1p(np.maximum(step**2 / 24 * curvature, -0.5))


def half_cauchy(log_ratio: np.ndarray) -> np.ndarray:
    """ln density of x = ln τ²/τ₀² but for a constant, τ half-Cauchy of scale τ₀."""
    return log_ratio / 2 - np.logaddexp(0, log_ratio)


def finest(
    log_density: Callable[[np.ndarray], np.ndarray],
    low: float,
    high: float,
    count: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Grids (K, N) around the mass of K densities of one number each, and the logarithms of the densities there.

    Between two rounds a grid shrinks to what is less than 25 nats below the largest value, and a point beside it.

    Args:
      log_density: function of (K, N) → (K, N).
      low, high: where to look.
      count: K.
    """
    low, high = np.full(count, low), np.full(count, high)
    for _ in range(_ROUNDS):
        grid = np.linspace(low, high, _POINTS, axis=-1)
        logs = log_density(grid)
        near = logs > np.max(logs, -1, keepdims=True) - _NATS
        first = np.maximum(np.argmax(near, -1) - 1, 0)
        last = np.minimum(_POINTS - np.argmax(near[:, ::-1], -1), _POINTS - 1)
        low, high = (np.take_along_axis(grid, place[:, np.newaxis], -1)[:, 0] for place in (first, last))
    return grid, logs


def draw_on(grid: np.ndarray, logs: np.ndarray, seed: Seed) -> np.ndarray:
    """A draw from each of K densities on their grids, uniform within a step, (K,).

    Args:
      grid: (K, N), in equal steps.
      logs: the logarithms of the densities.
      seed: int32 of shape (2,).
    """
    return _by_inversion(grid, logs, random.uniform(grid.shape[:1], seed, tf.float64).numpy())


def _by_inversion(grid, logs, uniforms):
    """Where the distribution function, linear within a step around each point, is a uniform number, (…)."""
    cumulative = np.cumsum(np.exp(logs - np.max(logs, -1, keepdims=True)), -1)
    wanted = uniforms * cumulative[..., -1]
    place = np.sum(cumulative < wanted[..., np.newaxis], -1)
    above = np.take_along_axis(cumulative, place[..., np.newaxis], -1)[..., 0]
    before = np.take_along_axis(cumulative, np.maximum(place - 1, 0)[..., np.newaxis], -1)[..., 0] * (place > 0)
    grid = np.broadcast_to(grid, cumulative.shape)
    centre = np.take_along_axis(grid, place[..., np.newaxis], -1)[..., 0]
    return centre + (grid[..., 1] - grid[..., 0]) * ((wanted - before) / (above - before) - 0.5)
