"""Analyses of several imputations put together, by Rubin's rules.

With estimates Q_i and their variances U_i of m completed tables

    Q̄ = mean Q_i      Ū = mean U_i      B = Σ_i (Q_i − Q̄)² / (m − 1)      T = Ū + (1 + 1/m) B

and (Q − Q̄)/√T has about Student's t distribution with ν degrees of freedom. With the share λ = (1 + 1/m) B / T of the
variance that is due to what is missing

    ν_m = (m − 1) / λ²                                                                       Rubin 1987
    1/ν = 1/ν_m + 1/ν_obs,    ν_obs = (1 − λ) ν_com (ν_com + 1)/(ν_com + 3)                  Barnard and Rubin 1999

where ν_com are the degrees of freedom of the analysis of a complete table. The fraction of missing information is

    γ = (r + 2/(ν_m + 3)) / (r + 1) = λ + 2 (1 − λ)/(ν_m + 3),      r = (1 + 1/m) B / Ū

Sources: Rubin, "Multiple imputation for nonresponse in surveys" (1987), section 3.1; Barnard and Rubin, "Small-sample
degrees of freedom with multiple imputation", Biometrika 86 (1999).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy.special

from tfdsmcmc._common import checks
from tfdsmcmc._common.real_numbers import real_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


class Pooled(NamedTuple):
    """Estimates of several imputations as one; each field a float64 array of the shape of one estimate, or a scalar.

    Attributes:
      estimate: Q̄.
      variance: T.
      degrees_of_freedom: ν; ∞ where all imputations agree and those of a complete table were not given.
      fraction_missing: γ, the share of the information about Q that is missing, estimated.
      within: Ū.
      between: B.
    """

    estimate: np.ndarray
    variance: np.ndarray
    degrees_of_freedom: np.ndarray
    fraction_missing: np.ndarray
    within: np.ndarray
    between: np.ndarray

    @property
    def standard_error(self) -> np.ndarray:
        """√T."""
        return np.sqrt(self.variance)

    def interval(self, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
        """(low, high) of the interval Q̄ ± t √T that covers Q with a probability of about `level`.

        Raises:
          ValueError: for a level that is not between 0 and 1.
        """
        half = _t_quantile(self.degrees_of_freedom, 0.5 + checks.fraction("level", level) / 2) * self.standard_error
        return self.estimate - half, self.estimate + half


def pool(estimates: ArrayLike, variances: ArrayLike, complete_degrees_of_freedom: float | None = None) -> Pooled:
    """Pools the estimates of m imputations, elementwise.

    Args:
      estimates: (m, …), Q_i of each completed table, m at least 2.
      variances: (m, …), U_i, squared standard errors.
      complete_degrees_of_freedom: ν_com, such as rows less coefficients of a regression; None for many rows.

    Returns:
      `Pooled`.

    Raises:
      ValueError: for fewer than two imputations, other shapes, numbers that are not finite, negative variances, or
        degrees of freedom that are not above 0.

    Example:

    >>> import tfdsmcmc as ds
    >>> pooled = ds.imputation.pool([1.0, 2.0, 3.0], [0.5, 0.5, 0.5])
    >>> float(pooled.estimate), round(float(pooled.variance), 4)
    (2.0, 1.8333)
    """
    q, u = _checked("estimates", estimates), _checked("variances", variances)
    if q.shape != u.shape:
        raise ValueError(f"Each estimate has a variance. Received: shapes {q.shape} and {u.shape}")
    if len(q) < 2:
        raise ValueError(f"Two imputations at least are pooled. Received: {len(q)}")
    if (u < 0).any():
        raise ValueError(f"variances must be at least 0. Received: {u[u < 0][0]}")
    if complete_degrees_of_freedom is not None:
        checks.positive_number("complete_degrees_of_freedom", complete_degrees_of_freedom)
    m = len(q)
    estimate, within, between = q.mean(0), u.mean(0), q.var(0, ddof=1)
    variance = within + (1 + 1 / m) * between
    share = np.divide((1 + 1 / m) * between, variance, out=np.zeros_like(variance), where=variance > 0)
    with np.errstate(divide="ignore"):
        by_imputations = (m - 1) / share**2
    freedom = by_imputations
    if complete_degrees_of_freedom is not None:
        freedom = _of_few_rows(by_imputations, share, float(complete_degrees_of_freedom))
    missing = share + 2 * (1 - share) / (by_imputations + 3)
    return Pooled(*map(np.asarray, (estimate, variance, freedom, missing, within, between)))


def _of_few_rows(by_imputations, share, complete):
    observed = (1 - share) * complete * (complete + 1) / (complete + 3)
    with np.errstate(divide="ignore", invalid="ignore"):
        both = 1 / (1 / by_imputations + 1 / observed)
    # where completed tables have no errors of their own, ν_obs = 0 tells nothing: the imputations alone do
    return np.where(share < 1, both, by_imputations)


def _t_quantile(freedom, p):
    """Of Student's distribution; of the normal one where the degrees of freedom are too many to differ."""
    many = freedom > 1e8
    return np.where(many, scipy.special.ndtri(p), scipy.special.stdtrit(np.where(many, 1.0, freedom), p))


def _checked(name, values):
    try:
        array = real_numbers(values)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be an array of numbers ({error}). Received: {type(values).__name__}") from None
    if array.ndim == 0 or not np.isfinite(array).all():
        raise ValueError(f"{name} must be finite, one for each imputation. Received: {name}={values!r}")
    return array
