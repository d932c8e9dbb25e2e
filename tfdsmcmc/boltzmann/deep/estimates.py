"""Estimates of log p(v) of a deep belief network: the variational bound, importance sampling, annealing over h.

Arguments are those of the methods of `DBN`, which are the public form, and are checked here.
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


def bound(
    dbn: DBN | StackDensity,
    x: RowsLike,
    num_samples: int,
    log_partition: LogPartition | float | None,
    seed: Seed,
    batch_size: int,
) -> LogLikelihood:
    """The variational bound of each row, a `LogLikelihood`."""
    num_samples = checks.positive_integer("num_samples", num_samples)
    source, known = _prepared(dbn, x, log_partition)
    run, stack, parts = program(deep.bound_terms, dbn.uses_xla), dbn.stack, []
    size = _rows_at_once(source, batch_size, num_samples)
    for rows, each in batches(source, size, random.stream(seed, "bound")):
        terms = run(stack, _floats(rows, size), num_samples, each).numpy()[:, : len(rows.values)].astype(np.float64)
        spread = terms.std(0, ddof=1) if num_samples > 1 else np.full(terms.shape[1], np.nan)
        if len(stack.machines) == 1:
            spread = np.zeros(terms.shape[1])
        parts.append([terms.mean(0), spread / np.sqrt(num_samples)])
    value, error = (np.concatenate(part) for part in zip(*parts))
    return _normalised(value, error, np.full(len(value), float(num_samples)), known)


def importance(
    dbn: DBN | StackDensity,
    x: RowsLike,
    num_samples: int,
    log_partition: LogPartition | float | None,
    seed: Seed,
    batch_size: int,
) -> LogLikelihood:
    """Importance-sampling estimates with draws from Q, a `LogLikelihood`."""
    num_samples = checks.positive_integer("num_samples", num_samples)
    source, known = _prepared(dbn, x, log_partition)
    run, stack, parts = program(deep.log_weights, dbn.uses_xla), dbn.stack, []
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


def annealed(
    dbn: DBN | StackDensity,
    x: RowsLike,
    num_steps: int,
    num_runs: int,
    schedule: Schedule,
    log_partition: LogPartition | float | None,
    seed: Seed,
    batch_size: int,
) -> LogLikelihood:
    """Estimates by annealing from Q, a `LogLikelihood`."""
    num_steps, num_runs = checks.positive_integer("num_steps", num_steps), checks.positive_integer("num_runs", num_runs)
    betas = schedules.fixed(schedule, num_steps)
    if len(dbn.rbms) == 1:
        return importance(dbn, x, 1, log_partition, seed, batch_size)
    source, known = _prepared(dbn, x, log_partition)
    stack, parts = dbn.stack, []
    layers_of(widths_of(stack.machines))
    size = _rows_at_once(source, batch_size, num_runs)
    pilot_seed, run_seed = tf.unstack(random.split(random.stream(seed, "annealing of a network")))
    if betas is None:
        rows = _floats(source.evenly_spaced(size), size)
        betas = pilot.adaptive(_pilot(dbn, stack, rows), num_steps, pilot.FRACTION, pilot_seed)[0]
    last = len(betas) - 1
    betas = np.pad(betas, (0, power_of_two(last) - last), mode="edge")  # of a length that other schedules share
    run = program(_runs, dbn.uses_xla)
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
