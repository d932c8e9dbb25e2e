"""What an estimator of the log-likelihood returns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from typing_extensions import Self


class Estimate(float):
    """A number that knows its errors.

    Attributes:
      value: the number itself.
      standard_error: Monte Carlo standard error: how far the number may be off for these very rows.
      row_standard_error: standard deviation of the rows over √n: how far it may be off for new rows of the same law.
      effective_sample_size: mean over the rows.
    """

    standard_error: float
    row_standard_error: float
    effective_sample_size: float

    def __new__(
        cls,
        value: float,
        standard_error: float,
        row_standard_error: float,
        effective_sample_size: float,
    ) -> Self:
        self = super().__new__(cls, value)
        self.standard_error = float(standard_error)
        self.row_standard_error = float(row_standard_error)
        self.effective_sample_size = float(effective_sample_size)
        return self

    def __getnewargs__(self) -> tuple[float, float, float, float]:
        return float(self), self.standard_error, self.row_standard_error, self.effective_sample_size

    @property
    def value(self) -> float:
        return float(self)

    def __repr__(self) -> str:
        return (
            f"Estimate({float(self):.3f}, standard_error={self.standard_error:.3f}, "
            f"row_standard_error={self.row_standard_error:.3f}, "
            f"effective_sample_size={self.effective_sample_size:.1f})"
        )


class LogLikelihood(NamedTuple):
    """Estimates of log p(x) for each row, in nats.

    Attributes:
      value: (n,).
      standard_error: (n,), Monte Carlo; 0 for an exact value, nan where one sample leaves it unknown.
      effective_sample_size: (n,); inf for an exact value.
      num_samples: (n,), the draws that the estimate of each row is of; None where there are none, or nobody counts.
      pareto_k: (n,), k̂ of the tail of the importance weights, see `likelihood.pareto`; nan where the tail cannot be
        fitted; None where it was not asked for.
      shared_standard_error: the part of the standard errors that is one error of all rows, such as that of a log Z,
        and does not average out over them; for all rows together, a number.
    """

    value: np.ndarray
    standard_error: np.ndarray
    effective_sample_size: np.ndarray
    num_samples: np.ndarray | None = None
    pareto_k: np.ndarray | None = None
    shared_standard_error: float = 0.0

    @classmethod
    def joined(cls, parts: Iterable[LogLikelihood]) -> LogLikelihood:
        """The estimates of some rows and then of others, one after the other; whatever error they share is the same."""
        *of_rows, shared = zip(*parts, strict=True)
        return cls(*(None if fields[0] is None else np.concatenate(fields) for fields in of_rows), shared[0])

    def mean(self) -> Estimate:
        """The mean over the rows: a float with its Monte Carlo and its row standard error."""
        n = len(self.value)
        rows = np.std(self.value, ddof=1) / np.sqrt(n) if n > 1 else np.nan
        shared = self.shared_standard_error**2
        own = np.square(self.standard_error, dtype=np.float64)
        own = np.maximum(own - shared, 0.0) if shared else own
        monte_carlo = np.sqrt(np.sum(own) / n**2 + shared)
        return Estimate(np.mean(self.value), monte_carlo, rows, np.mean(self.effective_sample_size))
