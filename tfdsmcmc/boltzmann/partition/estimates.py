"""What estimators of log Z return, and log-likelihoods of rows that have it in common."""

from __future__ import annotations

import hashlib
import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np

from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.boltzmann.partition.exact import exact_log_partition, is_enumerable, machine_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.machines.rbm import RBM

_OVER = "/"  # between the fingerprints of a ratio
_ERRORS = 3.0  # standard errors on either side of an interval


class LogPartition(NamedTuple):
    """An estimate of log Z, or of log Z_b − log Z_a, from R runs of annealed importance sampling.

    With Ẑ the mean of the weights and ρ = σ̂/Ẑ its relative standard error, the interval of a forward estimate is
    log(Ẑ ± 3σ̂) = log Ẑ + log(1 ± 3ρ), −∞ below where 3ρ ≥ 1. In reverse it is 1/Z whose mean is estimated, and the
    upper end may be ∞. Of one run neither end is known. The error is what the runs show of it: where few of them carry
    the sum, it is too small.

    Attributes:
      value: log Ẑ.
      standard_error: ρ, that of the value by the delta method; 0 for an exact value.
      interval: (low, high), at three standard errors.
      effective_sample_size: (Σ w)²/Σ w² of the runs.
      direction: "forward", a lower bound in expectation; "reverse", an upper bound where the runs start at exact draws;
        "exact".
      starts: of what the runs begin at: "independent" or "exact" draws, or "chains", ends of Markov chains, with which
        neither bound is sure.
      log_weights: (R,) float64.
      fingerprint: of the weights whose log Z it is, as `fingerprint_of` gives it, of a ratio of two machines' as
        `fingerprint_of_ratio` does; None where that is not known.
    """

    value: float
    standard_error: float
    interval: tuple[float, float]
    effective_sample_size: float
    direction: str = "exact"
    starts: str = "exact"
    log_weights: np.ndarray | None = None
    fingerprint: str | None = None

    def __repr__(self) -> str:
        low, high = self.interval
        return (
            f"LogPartition({self.value:.3f}, standard_error={self.standard_error:.3f}, "
            f"interval=({low:.3f}, {high:.3f}), effective_sample_size={self.effective_sample_size:.1f}, "
            f"direction={self.direction!r}, starts={self.starts!r})"
        )

    @property
    def largest_share(self) -> float | None:
        """The share of the largest weight in their sum; None where there are no runs."""
        if self.log_weights is None:
            return None
        return float(np.exp(self.log_weights.max() - np.logaddexp.reduce(self.log_weights)))

    @classmethod
    def of_weights(
        cls,
        log_weights: ArrayLike,
        constant: float = 0.0,
        direction: Literal["forward", "reverse"] = "forward",
        starts: Literal["independent", "exact", "chains"] = "independent",
    ) -> LogPartition:
        """The estimate from log-weights of runs.

        Args:
          log_weights: (R,), of w with the mean Z exp(−constant), or in reverse of w' with the mean exp(constant)/Z.
          constant: what is added to log Z.
          direction: "forward" or "reverse".
          starts: see above.
        """
        log_weights = np.asarray(log_weights, np.float64)
        count, sign = len(log_weights), 1.0 if direction == "forward" else -1.0
        largest = log_weights.max()
        w = np.exp(log_weights - largest)
        value = sign * (largest + np.log(w.mean())) + constant
        error = float(w.std(ddof=1) / np.sqrt(count) / w.mean()) if count > 1 else np.nan
        ends = sorted(sign * np.array([_log1p(-_ERRORS * error), _log1p(_ERRORS * error)]))
        ends = ends if count > 1 else [-np.inf, np.inf]  # one run does not tell its error
        interval = tuple(float(value + end) for end in ends)
        return cls(float(value), error, interval, float(w.sum() ** 2 / (w**2).sum()), direction, starts, log_weights)


PartitionLike: TypeAlias = "LogPartition | float | Callable[[Machine], LogPartition | float]"


def fingerprint_of(rbm: RBM | Machine) -> str:
    """Sixteen hexadecimal digits of a machine's weights, in float32, and of its kinds of units."""
    digest, machine = hashlib.blake2b(digest_size=8), machine_of(rbm)
    if type(machine) is not Machine:
        digest.update(type(machine).__name__.encode())
    for part in machine:
        digest.update(repr(tuple(part.shape)).encode())
        digest.update(np.ascontiguousarray(part))
    return digest.hexdigest()


def fingerprint_of_ratio(a: RBM | Machine, b: RBM | Machine) -> str:
    """What stands for the weights of two machines where log Z_b − log Z_a is meant; that of no one machine."""
    return fingerprint_of(b) + _OVER + fingerprint_of(a)


def known_partition(rbm: RBM | Machine | MachineDensity, log_partition: LogPartition | float | None) -> LogPartition:
    """`LogPartition` of what a user gives: one, a number, or None for the exact value.

    Raises:
      ValueError: for something else, an estimate of other weights or of a ratio, or None where there is no exact
        value.
    """
    if isinstance(log_partition, LogPartition):
        found = log_partition
        if _OVER in (found.fingerprint or ""):
            raise ValueError(
                "log_partition is log Z of one machine: add that of the first to the value, and give the number, or "
                f"with its error replace the fingerprint by None. Received: a log_partition_ratio of {found.value:.3f}"
            )
        if found.fingerprint not in (None, fingerprint_of(rbm)):
            units, hidden_units = machine_of(rbm).kernel.shape
            raise ValueError(
                "log_partition is of other weights: of another machine, or of this one before its weights changed. "
                f"Received: an estimate for a machine of {units} and {hidden_units} units whose weights are others"
            )
    elif log_partition is None:
        if not is_enumerable(rbm):
            units, hidden_units = machine_of(rbm).kernel.shape
            raise ValueError(
                "log_partition is needed, as boltzmann.log_partition estimates it, where both layers are too large to "
                f"be enumerated. Received: log_partition=None, layers of {units} and {hidden_units} units"
            )
        value = exact_log_partition(rbm)
        return LogPartition(value, 0.0, (value, value), np.inf)
    elif isinstance(log_partition, (numbers.Real, np.number)) and not isinstance(log_partition, bool):
        value = float(log_partition)
        found = LogPartition(value, 0.0, (value, value), np.inf)
    else:
        both = hasattr(log_partition, "lower") and hasattr(log_partition, "gap")
        which = " Of a sandwich pass one end, such as its `lower`." if both else ""
        raise ValueError(
            f"log_partition is what boltzmann.log_partition returns, or a number.{which} "
            f"Received: log_partition={log_partition!r}"
        )
    if not np.isfinite(found.value):
        raise ValueError(f"log_partition must be finite. Received: log_partition={found.value}")
    return found


def normalised(
    rbm: RBM | Machine | MachineDensity,
    log_unnormalized: np.ndarray,
    log_partition: LogPartition | float | None,
) -> LogLikelihood:
    """`LogLikelihood` of rows with known log p*(x), (n,), which share the error of log Z."""
    known = known_partition(rbm, log_partition)
    rows = np.ones_like(log_unnormalized)
    return LogLikelihood(
        log_unnormalized - known.value,
        rows * known.standard_error,
        rows * known.effective_sample_size,
        shared_standard_error=known.standard_error,
    )


def _log1p(x):
    return float(np.log1p(x)) if x > -1 else -np.inf
