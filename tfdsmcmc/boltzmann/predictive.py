"""The predictive average of a Boltzmann machine over posterior samples of its weights.

    log p(x given X) ≈ log (1/M) Σ_m p(x given θ_m),      log p(x given θ_m) = log p*(x; θ_m) − log Z(θ_m)

Each sample has a log Z of its own, and an error ρ_m of it; that of the average is at most Σ_m r_m ρ_m for each row,
with r_m the share of sample m in the sum: so much if the errors are one and the same, as runs from one seed make them
nearly. It is stated so, and as an error that the rows share.
"""

from __future__ import annotations

import numpy as np

from tfdsmcmc import checks
from tfdsmcmc.boltzmann.checked_rows import source_of
from tfdsmcmc.boltzmann.estimates import known_partition
from tfdsmcmc.boltzmann.exact import machine_of
from tfdsmcmc.boltzmann.sampling import unnormalized_log_prob
from tfdsmcmc.estimates import LogLikelihood


def predictive_log_likelihood(rbm, posterior, x, log_partition=None, batch_size=1000) -> LogLikelihood:
    """log p(x given X) of each row, averaged over posterior samples.

    Args:
      rbm: `RBM` of the samples' architecture; its weights stay as they are.
      posterior: `Posterior`, as `posterior.load` gives it.
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      log_partition: function from a `Machine` to its `LogPartition` or log Z, such as
        `lambda machine: log_partition(machine, 100, 1000)`; by default exact, where a layer has at most 25 units.
      batch_size: rows at a time.

    Returns:
      `LogLikelihood`; the effective sample size is (Σ_m p_m)²/Σ_m p_m² of the samples.

    Raises:
      ValueError: for data or samples that do not fit, or where log Z is needed and not given.
    """
    source = source_of(rbm.visible, "x", x, rbm.units, missing=False)
    rbm.check_rows(source)
    batch_size = checks.positive_integer("batch_size", batch_size)
    posterior.check(rbm)
    values, errors, kind = [], [], type(rbm.machine)
    for sample in posterior.samples:
        machine = machine_of(kind(*sample.theta))
        known = known_partition(machine, None if log_partition is None else log_partition(machine))
        values.append(unnormalized_log_prob(machine, source, batch_size, rbm.uses_xla) - known.value)
        errors.append(known.standard_error)
    values, errors = np.stack(values), np.array(errors)[:, np.newaxis]
    total = np.logaddexp.reduce(values)
    shares = np.exp(values - total)
    error = (shares * errors).sum(0)
    size = 1.0 / np.square(shares).sum(0)
    return LogLikelihood(total - np.log(len(values)), error, size, shared_standard_error=float(error.mean()))
