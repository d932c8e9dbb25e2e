"""Estimates of log p(v) of a deep belief network: the variational bound, importance sampling, annealing over h.

Functions of what has `rbms`, `stack`, `source_to_estimate` and `uses_xla`, as a `DBN` has, whose methods they are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.annealing import forward, log_normaliser, pilot, schedules
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.boltzmann.deep.path import DeepPath
from tfdsmcmc.boltzmann.deep.sweeps import layers_of, widths_of
from tfdsmcmc.boltzmann.machines.sampling import program
from tfdsmcmc.boltzmann.partition.estimates import known_partition
from tfdsmcmc.programs import batches, power_of_two

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.densities.stack import StackDensity
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source

_AT_ONCE = 2000  # rows times draws in one call


def log_likelihood_bound(
    self: DBN | StackDensity, x: RowsLike, num_samples: int = 5,
    log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
) -> LogLikelihood:  # fmt: skip
    """The variational lower bound of log p(x), of each row.

    Args:
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      num_samples: M, draws from Q for each row, all of which are in memory at a time.
      log_partition: `LogPartition` of the topmost machine, or log Z as a number; by default exact, where one of its
        layers has at most 25 units.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Returns:
      `LogLikelihood`, with the error of log Z in that of each row and, undiminished, of the mean. An estimate of
      log Z that is too low, as those from below are on average, makes the bound too high.

    Raises:
      ValueError: for data that do not fit, or where log Z is needed and not given.
    """
    num_samples = checks.positive_integer("num_samples", num_samples)
    source, known = _prepared(self, x, log_partition)
    run, stack, parts = program(deep.bound_terms, self.uses_xla), self.stack, []
    size = _rows_at_once(source, batch_size, num_samples)
    for rows, each in batches(source, size, random.stream(seed, "bound")):
        terms = run(stack, _floats(rows, size), num_samples, each).numpy()[:, : len(rows.values)].astype(np.float64)
        spread = terms.std(0, ddof=1) if num_samples > 1 else np.full(terms.shape[1], np.nan)
        if len(stack.machines) == 1:
            spread = np.zeros(terms.shape[1])
        parts.append([terms.mean(0), spread / np.sqrt(num_samples)])
    value, error = (np.concatenate(part) for part in zip(*parts))
    return _normalised(value, error, np.full(len(value), float(num_samples)), known)


def log_likelihood(
    self: DBN | StackDensity, x: RowsLike, num_samples: int = 1000,
    log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
) -> LogLikelihood:  # fmt: skip
    """Importance-sampling estimates of log p(x) with draws from Q: at least the bound in expectation.

    Args:
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      num_samples: K, draws for each row.
      log_partition: see `log_likelihood_bound`.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Returns:
      `LogLikelihood`; the effective sample size is that of the draws. An estimate of log Z that is too low, as
      those from below are on average, makes these too high.

    Raises:
      ValueError: for data that do not fit, or where log Z is needed and not given.
    """
    num_samples = checks.positive_integer("num_samples", num_samples)
    source, known = _prepared(self, x, log_partition)
    run, stack, parts = program(deep.log_weights, self.uses_xla), self.stack, []
    size = _rows_at_once(source, batch_size, 1)
    for rows, each in batches(source, size, random.stream(seed, "log likelihood")):
        sums, values, left = WeightSums.of_nothing([size], tf.float32), _floats(rows, size), num_samples
        while left:
            count = min(left, max(1, _AT_ONCE // size))
            sums, _ = sums.add(run(stack, values, count, random.fold(each, left)))
            left -= count
        parts.append([part.numpy()[: len(rows.values)].astype(np.float64) for part in sums.estimate(num_samples)])
    value, error, size = (np.concatenate(part) for part in zip(*parts))
    return _normalised(value, np.where(len(stack.machines) == 1, 0.0, error), size, known)


def annealed_log_likelihood(
    self: DBN | StackDensity, x: RowsLike, num_steps: int = 100, num_runs: int = 16, schedule: Schedule = "sigmoid",
    log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
) -> LogLikelihood:  # fmt: skip
    """Estimates of log p(x) by annealed importance sampling from Q to the network's hidden units given x.

    Lower bounds in expectation, as importance samples are, and tighter with every step; each step draws the units
    of the lower hidden layers one by one (see `boltzmann.deep.path`).

    Args:
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      num_steps: T.
      num_runs: R, for each row.
      schedule: of β: "sigmoid", "linear", "adaptive" (T at most) or an increasing array from 0 to 1, whose length
        decides instead of T.
      log_partition: see `log_likelihood_bound`.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Returns:
      `LogLikelihood`; the effective sample size is that of the runs. An estimate of log Z that is too low, as
      those from below are on average, makes these too high.

    Raises:
      ValueError: for data or a schedule that do not fit, or where log Z is needed and not given.
    """
    num_steps, num_runs = checks.positive_integer("num_steps", num_steps), checks.positive_integer("num_runs", num_runs)
    betas = schedules.fixed(schedule, num_steps)
    if len(self.rbms) == 1:
        return log_likelihood(self, x, 1, log_partition, seed, batch_size)
    source, known = _prepared(self, x, log_partition)
    stack, parts = self.stack, []
    layers_of(widths_of(stack.machines))
    size = _rows_at_once(source, batch_size, num_runs)
    pilot_seed, run_seed = tf.unstack(random.split(random.stream(seed, "annealing of a network")))
    if betas is None:
        rows = _floats(source.evenly_spaced(size), size)
        betas = pilot.adaptive(_pilot(self, stack, rows), num_steps, pilot.FRACTION, pilot_seed)[0]
    last = len(betas) - 1
    betas = np.pad(betas, (0, power_of_two(last) - last), mode="edge")  # of a length that other schedules share
    run = program(_runs, self.uses_xla)
    for rows, each in batches(source, size, run_seed):
        log_w = run(stack, _floats(rows, size), betas, tf.constant(last), each, num_runs=num_runs)
        parts.append([part[: len(rows.values)] for part in log_normaliser(log_w)[:3]])
    return _normalised(*(np.concatenate(part) for part in zip(*parts)), known)


def mean_unnormalized_bound(stack: Stack, source: Source, batch_size: int, seed: Seed, jit_compile: bool) -> float:
    """The mean of the bound plus log Z over the rows of a source, at one draw from Q for each."""
    run, parts = program(deep.bound_terms, jit_compile), []
    size = min(checks.positive_integer("batch_size", batch_size), source.num_rows)
    for rows, each in batches(source, size, seed):
        parts.append(run(stack, _floats(rows, size), 1, each).numpy()[0, : len(rows.values)])
    return float(np.concatenate(parts).mean(dtype=np.float64))


def _runs(stack, v, betas, last, seed, num_runs):
    """log w of the runs of each row, (R, n)."""
    path = DeepPath(stack, tf.tile(v, [num_runs, 1]), v.shape[0])
    return tf.reshape(forward(path, betas, seed, last=last), [num_runs, -1])


def _pilot_run(stack, v, betas, fraction, seed):
    return pilot.pilot(DeepPath(stack, tf.tile(v, [pilot.NUM_RUNS, 1]), v.shape[0]), betas, fraction, seed)


def _pilot(dbn, stack, rows):
    def run(betas, fraction, seed):
        found = program(_pilot_run, dbn.uses_xla)(
            stack, rows, tf.constant(betas), tf.constant(fraction, tf.float32), seed
        )
        return [part.numpy() for part in found]

    return run


def _prepared(dbn, x, log_partition):
    """(the source of x, `LogPartition`), checked."""
    return dbn.source_to_estimate(x), known_partition(dbn.rbms[-1], log_partition)


def _rows_at_once(source, batch_size, num_samples):
    batch_size = checks.positive_integer("batch_size", batch_size)
    return min(batch_size, source.num_rows, max(1, _AT_ONCE // num_samples))


def _floats(rows, size):
    return rows.padded(size).values.astype(np.float32)


def _normalised(value, error, effective, known):
    return LogLikelihood(
        value - known.value,
        np.hypot(error, known.standard_error),
        effective,
        shared_standard_error=known.standard_error,
    )
