"""log Z of a machine by annealed importance sampling, from below and from above.

Runs go from a base-rate model or a mixture (see `partition.bases`) to the machine, or back from draws of the machine.
Forward, the mean of the weights is Z and the logarithm of an average a lower bound of log Z in expectation. In reverse
the mean of w' is 1/Z, and minus the logarithm an upper bound; that holds for runs that begin at exact draws, which
enumeration of a layer of at most 25 units gives. For larger machines ends of long Markov chains stand in for them: what
they bound is only as sure as the chains are long, and the result says so in `starts`.

Source: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 3; Burda,
Grosse and Salakhutdinov, "Accurate and conservative estimates of MRF log-likelihood using reverse annealing", AISTATS
2015 (from above).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.annealing import forward, pilot, reverse
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.boltzmann.machines.sampling import program
from tfdsmcmc.boltzmann.partition import schedules
from tfdsmcmc.boltzmann.partition.bases import checked_base, path_from
from tfdsmcmc.boltzmann.partition.estimates import LogPartition, fingerprint_of, fingerprint_of_ratio
from tfdsmcmc.boltzmann.partition.exact import exact_draws, is_enumerable, machine_of
from tfdsmcmc.boltzmann.partition.paths import MachinePath, log_uncoupled
from tfdsmcmc.programs import power_of_two
from tfdsmcmc.rows import complete_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis
    from tfdsmcmc.boltzmann.partition.schedules import BoltzmannSchedule
    from tfdsmcmc.rows.source import Source

_DIRECTIONS = ("forward", "reverse")


def log_partition(
    rbm: RBM | Machine | MachineDensity,
    num_runs: int = 100,
    num_steps: int = schedules.PUBLISHED_STEPS,
    schedule: BoltzmannSchedule = "published",
    base: ArrayLike | Source | MixtureOfBernoullis | None = None,
    direction: Literal["forward", "reverse"] = "forward",
    draws: ArrayLike | None = None,
    chain_steps: int = 10_000,
    seed: Seed = 0,
) -> LogPartition:
    """Estimates log Z of a machine.

    Args:
      rbm: `RBM`.
      num_runs: R, by default 100.
      num_steps: T, by default 14,500 as published; the runs take time in proportion to R·T.
      schedule: of β: "published", "linear", "sigmoid", "adaptive" (T at most, found by a pilot run with draws of its
        own) or an increasing array from 0 to 1, whose length decides instead of T.
      base: what the path starts from: biases of independent units (D,), of binary ones the logits; rows of data (N, D)
        or a source of them, such as `GreyRows`, whose moments are taken, of binary units the `base_rates`; a
        `MixtureOfBernoullis`; by default biases of 0. The nearer to the machine, the smaller the error.
      direction: "forward" for a lower bound in expectation, "reverse" for an upper one.
      draws: (R, D), in reverse, exact draws of the visible units of the machine; by default they are drawn by
        enumeration where a layer has at most 25 binary units, or as many states, else by chains.
      chain_steps: of each of these chains; they begin at rows of `base` where it is data, else at draws of the base.
      seed: integer, or int32 tensor of shape (2,).

    Returns:
      `LogPartition`.

    Raises:
      ValueError: for weights or a base that are not finite, or arguments out of range.

    Example:

    >>> import tfdsmcmc as ds
    >>> rbm = ds.boltzmann.RBM(6, 3)
    >>> below = ds.boltzmann.log_partition(rbm, num_runs=10, num_steps=20)
    >>> abs(below.value - ds.boltzmann.exact_log_partition(rbm)) < 0.01
    True
    """
    machine = machine_of(rbm)
    how = checked_annealing(machine, num_runs, num_steps, schedule, base, direction, draws, chain_steps)
    num_runs, num_steps, betas, rows, base, draws, chain_steps = how
    pilot_seed, run_seed, draw_seed = tf.unstack(random.split(random.stream(seed, f"log partition, {direction}"), 3))
    jit, ends = getattr(rbm, "uses_xla", True), (machine, base)
    betas = _found(_base_pilot, ends, num_steps, pilot_seed, jit) if betas is None else betas
    if direction == "forward":
        log_weights = _run(_base_forward, ends, betas, num_runs, run_seed, jit)
        return LogPartition.of_weights(log_weights)._replace(fingerprint=fingerprint_of(machine))
    starts = "exact" if draws is not None or is_enumerable(machine) else "chains"
    if draws is None:
        draws = _draws(machine, num_runs, chain_steps, draw_seed, jit, base, rows)
    log_weights = _run(_base_reverse, (*ends, tf.constant(draws)), betas, num_runs, run_seed, jit)
    found = LogPartition.of_weights(log_weights, direction="reverse", starts=starts)
    return found._replace(fingerprint=fingerprint_of(machine))


def checked_annealing(
    machine, num_runs=100, num_steps=schedules.PUBLISHED_STEPS, schedule="published", base=None, direction="forward",
    draws=None, chain_steps=10_000,
):  # fmt: skip
    """(R, T, β or None for "adaptive", rows of data or None, the base, draws or None, steps of chains), checked.

    Arguments as of `log_partition`. Of a normalised model `machine` is None, and `base` and `draws` are not looked at.
    """
    num_runs, num_steps = checks.positive_integer("num_runs", num_runs), checks.positive_integer("num_steps", num_steps)
    chain_steps, betas = checks.positive_integer("chain_steps", chain_steps), schedules.fixed(schedule, num_steps)
    checks.one_of("direction", direction, _DIRECTIONS)
    if machine is None:
        return num_runs, num_steps, betas, None, None, None, chain_steps
    rows, base = checked_base(base, machine)
    return num_runs, num_steps, betas, rows, base, _checked_draws(draws, direction, num_runs, machine), chain_steps


def log_partition_ratio(
    a: RBM | Machine,
    b: RBM | Machine,
    num_runs: int = 100,
    num_steps: int = 10_000,
    seed: Seed = 0,
    schedule: BoltzmannSchedule = "linear",
    chain_steps: int = 10_000,
) -> LogPartition:
    """Estimates log Z_b − log Z_a of two machines over the same visible units, by runs from one to the other.

    Args:
      a: `RBM`, at which the runs begin: at exact draws where one of its layers has at most 25 units, else at ends of
        chains.
      b: `RBM`, with as many visible units of the same kind; its hidden units may be of another.
      num_runs: R.
      num_steps: T.
      seed: integer, or int32 tensor of shape (2,).
      schedule: of β, as in `log_partition`.
      chain_steps: of each chain, from draws without a field, of binary units random bits.

    Returns:
      `LogPartition`, whose value is the difference. It is no log Z: what takes one refuses it, unless log Z_a
      is added to the value and the fingerprint replaced by None.

    Raises:
      ValueError: for machines of different widths, weights that are not finite, or arguments out of range.
    """
    num_runs, num_steps = checks.positive_integer("num_runs", num_runs), checks.positive_integer("num_steps", num_steps)
    chain_steps = checks.positive_integer("chain_steps", chain_steps)
    betas, first, second = schedules.fixed(schedule, num_steps), machine_of(a), machine_of(b)
    kinds = [(machine.kernel.shape[0], machine.visible) for machine in (first, second)]
    if kinds[0] != kinds[1]:
        raise ValueError(
            "The machines must have the same visible units. "
            f"Received: {' and '.join(f'{count} of {kind!r}' for count, kind in kinds)}"
        )
    pilot_seed, run_seed, *draw_seeds = tf.unstack(random.split(random.stream(seed, "log partition ratio"), 4))
    jit, still = getattr(a, "uses_xla", True), checked_base(None, first)[1]

    def draws(count, seed):
        return tf.constant(_draws(first, count, chain_steps, seed, jit, still))

    if betas is None:
        ends = (first, second, draws(pilot.NUM_RUNS, draw_seeds[0]))
        betas = _found(_machine_pilot, ends, num_steps, pilot_seed, jit)
    ends = (first, second, draws(num_runs, draw_seeds[1]))
    log_weights = _run(_machine_forward, ends, betas, num_runs, run_seed, jit)
    constants = [float(log_uncoupled(machine.cast(tf.float64))) for machine in (first, second)]
    starts = "exact" if is_enumerable(first) else "chains"
    found = LogPartition.of_weights(log_weights, constants[1] - constants[0], starts=starts)
    return found._replace(fingerprint=fingerprint_of_ratio(first, second))


class PartitionSandwich(NamedTuple):
    """Both bounds of log Z.

    Attributes:
      lower: `LogPartition`, forward.
      upper: `LogPartition`, reverse; see its `starts` for how sure it is.
    """

    lower: LogPartition
    upper: LogPartition

    @property
    def interval(self) -> tuple[float, float]:
        """(the low end of the lower bound's interval, the high end of the upper one's): where log Z lies, to report.

        The bounds themselves may cross by their noise; these ends do so at errors of three standard errors alone.
        """
        return self.lower.interval[0], self.upper.interval[1]

    @property
    def gap(self) -> float:
        """upper − lower."""
        return self.upper.value - self.lower.value

    @property
    def gap_error(self) -> float:
        """The standard error of the gap: the two directions are independent."""
        return float(np.hypot(self.lower.standard_error, self.upper.standard_error))


def sandwich(
    rbm: RBM | Machine,
    num_runs: int = 100,
    num_steps: int = schedules.PUBLISHED_STEPS,
    **options: Any,
) -> PartitionSandwich:
    """log Z from below and from above.

    Args:
      rbm: `RBM`.
      num_runs: R, in each direction, by default 100.
      num_steps: T, by default 14,500 as published.
      **options: of `log_partition`, but for `direction`.

    Returns:
      `PartitionSandwich`.

    Raises:
      ValueError: as `log_partition`, and for a `direction`.
    """
    if "direction" in options:
        raise ValueError(f"A sandwich has both directions. Received: direction={options['direction']!r}")
    own = {key: value for key, value in options.items() if key != "seed"}
    checked_annealing(machine_of(rbm), num_runs, num_steps, direction="reverse", **own)  # before anything is run
    lower = {key: value for key, value in options.items() if key != "draws"}
    return PartitionSandwich(
        log_partition(rbm, num_runs, num_steps, direction="forward", **lower),
        log_partition(rbm, num_runs, num_steps, direction="reverse", **options),
    )


# the programs, each of tensors and the number of runs alone


def _base_forward(machine, base, betas, last, seed, num_runs):
    return forward(path_from(base, machine, num_runs), betas, seed, last=last)


def _base_reverse(machine, base, draws, betas, last, seed, num_runs):
    return reverse(path_from(base, machine, num_runs), draws, betas, seed, last=last)


def _base_pilot(machine, base, betas, fraction, seed):
    return pilot.pilot(path_from(base, machine, pilot.NUM_RUNS), betas, fraction, seed)


def _machine_forward(first, second, draws, betas, last, seed, num_runs):
    return forward(MachinePath(first, second, num_runs, lambda _: draws), betas, seed, last=last)


def _machine_pilot(first, second, draws, betas, fraction, seed):
    path = MachinePath(first, second, pilot.NUM_RUNS, lambda _: draws)
    return pilot.pilot(path, betas, fraction, seed)


def _run(function, ends, betas, num_runs, seed, jit):
    """The log-weights of the runs, (R,) float64."""
    last = len(betas) - 1
    betas = np.pad(betas, (0, power_of_two(last) - last), mode="edge")  # of a length that other schedules share
    return program(function, jit)(*ends, betas, tf.constant(last), seed, num_runs=num_runs).numpy()


def _found(function, ends, num_steps, seed, jit):
    """An adaptive schedule."""

    def run(betas, fraction, seed):
        found = program(function, jit)(*ends, tf.constant(betas), tf.constant(fraction, tf.float32), seed)
        return [part.numpy() for part in found]

    return pilot.adaptive(run, num_steps, pilot.FRACTION, seed)[0]


def _draws(machine, count, steps, seed, jit, base, rows=None):
    """Draws of the visible units, (count, D): exact ones, or ends of chains."""
    if is_enumerable(machine):
        return exact_draws(machine, count, seed)
    start_seed, chain_seed = tf.unstack(random.split(seed))
    if rows is None:
        start = path_from(base, machine, count).start(start_seed)
    else:
        start = rows[random.integers([count], len(rows), start_seed).numpy()].astype(np.float32)
    return program(Machine.gibbs, jit)(machine, start, tf.constant(steps), chain_seed).numpy()


def _checked_draws(draws, direction, num_runs, machine):
    if draws is None:
        return None
    if direction == "forward":
        raise ValueError("draws are where reverse runs begin. Received: draws with direction='forward'")
    draws = complete_rows("draws", draws, int(machine.kernel.shape[0]), machine.visible.support).astype(np.float32)
    if len(draws) != num_runs:
        raise ValueError(f"draws must be one for each of the {num_runs} runs. Received: {len(draws)} of them")
    return draws
