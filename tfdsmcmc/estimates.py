"""What an estimator of the log-likelihood returns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Estimate(float):
    """A number that knows its errors.

    Attributes:
      value: the number itself.
      standard_error: Monte Carlo standard error: how far the number may be off for these very rows.
      row_standard_error: standard deviation of the rows over √n: how far it may be off for new rows of the same law.
      effective_sample_size: mean over the rows.
    """

    def __new__(cls, value, standard_error, row_standard_error, effective_sample_size):
        self = super().__new__(cls, value)
        self.standard_error = float(standard_error)
        self.row_standard_error = float(row_standard_error)
        self.effective_sample_size = float(effective_sample_size)
        return self

    def __getnewargs__(self):
        return float(self), self.standard_error, self.row_standard_error, self.effective_sample_size

    @property
    def value(self):
        return float(self)

    def __repr__(self):
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
      num_samples: (n,), the draws spent on each row; None where there are none or they are not counted.
      pareto_k: (n,), k̂ of the tail of the importance weights, see `likelihood.pareto`; nan where the tail cannot be
        fitted; None where it was not asked for.
    """

    value: np.ndarray
    standard_error: np.ndarray
    effective_sample_size: np.ndarray
    num_samples: np.ndarray | None = None
    pareto_k: np.ndarray | None = None

    @classmethod
    def joined(cls, parts) -> LogLikelihood:
        """The estimates of some rows and then of others, one after the other."""
        return cls(*(None if fields[0] is None else np.concatenate(fields) for fields in zip(*parts, strict=True)))

    def mean(self) -> Estimate:
        """The mean over the rows: a float with its Monte Carlo and its row standard error."""
        n = len(self.value)
        rows = np.std(self.value, ddof=1) / np.sqrt(n) if n > 1 else np.nan
        monte_carlo = np.sqrt(np.sum(np.square(self.standard_error, dtype=np.float64))) / n
        return Estimate(np.mean(self.value), monte_carlo, rows, np.mean(self.effective_sample_size))
