"""What annealing runs look like on their way from the base to a machine.

Source: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, figure 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, loops
from tfdsmcmc.boltzmann.machines.sampling import program
from tfdsmcmc.boltzmann.partition import schedules
from tfdsmcmc.boltzmann.partition.bases import checked_base, path_from
from tfdsmcmc.boltzmann.partition.exact import machine_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis
    from tfdsmcmc.boltzmann.partition.schedules import BoltzmannSchedule
    from tfdsmcmc.rows.source import Source


def annealed_chains(
    rbm: RBM | Machine | MachineDensity,
    betas: Sequence[float] | np.ndarray = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 1.0),
    num_runs: int = 16,
    num_steps: int = 1000,
    schedule: BoltzmannSchedule = "published",
    base: ArrayLike | Source | MixtureOfBernoullis | None = None,
    seed: Seed = 0,
) -> np.ndarray:  # fmt: skip
    """The states of annealing runs at some β, each after the move that leaves the density of this β invariant.

    Args:
      rbm: `RBM`.
      betas: increasing, in [0, 1]; a run is seen at the first step of its schedule that is not below.
      num_runs: R.
      num_steps: T.
      schedule: of β, as in `log_partition`, "adaptive" apart.
      base: as in `log_partition`.
      seed: integer, or int32 tensor of shape (2,).

    Returns:
      float32 array (betas, R, D), of rows.

    Raises:
      ValueError: for weights or a base that are not finite, or arguments out of range.
    """
    num_runs, num_steps = checks.positive_integer("num_runs", num_runs), checks.positive_integer("num_steps", num_steps)
    visited, machine = schedules.fixed(schedule, num_steps), machine_of(rbm)
    if visited is None:
        raise ValueError(f"The schedule must be known beforehand. Received: schedule={schedule!r}")
    wanted = _checked(betas)
    _, base = checked_base(base, machine)
    start_seed, step_seed = tf.unstack(random.split(random.stream(seed, "annealed chains")))
    ends = np.searchsorted(visited, wanted.astype(np.float32))
    state, last, seen = path_from(base, machine, num_runs).start(start_seed), 0, []
    run = program(_moved, getattr(rbm, "uses_xla", True))
    for end in ends:
        state = run(machine, base, state, visited, tf.constant(last + 1), tf.constant(int(end)), step_seed)
        last = int(end)
        seen.append(state.numpy())
    return np.stack(seen)


def _checked(betas):
    """The β, (n,) float64."""
    try:
        wanted = np.asarray(betas, np.float64)
    except (TypeError, ValueError):
        wanted = np.zeros([0])
    if wanted.ndim != 1 or not wanted.size or not (np.all(np.diff(wanted) > 0) and 0 <= wanted[0] and wanted[-1] <= 1):
        raise ValueError(f"betas increase from 0 or above to 1 or below. Received: betas={betas!r}")
    return wanted


def _moved(machine, base, state, betas, first, last, seed):
    """The state after the moves first, …, last of a schedule."""
    path = path_from(base, machine, state.shape[0])

    def step(t, state):
        return t + 1, path.move(betas[t], state, random.fold(seed, t))[0]

    return loops.while_loop(lambda t, _: t <= last, step, (first, state))[1]
