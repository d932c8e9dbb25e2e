"""Programs over the rows of a machine: densities and Gibbs chains; and `sample` of `RBM`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, compiling, loops
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.boltzmann.partition.exact import machine_of
from tfdsmcmc.rows import complete_rows

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.deep.lift import Lift
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source

# one for all machines; shapes decide what is traced anew
program: Callable[..., Callable[..., Any]] = functools.lru_cache(None, typed=True)(compiling.program)


def unnormalized_log_prob(machine: Machine, source: Source, batch_size: int, jit_compile: bool) -> np.ndarray:
    """log p*(x), (n,) float64."""
    run = program(Machine.unnormalized_log_prob, jit_compile)
    size, parts = min(batch_size, source.num_rows), []
    for rows in source.batches(size):
        values = rows.padded(size).values.astype(np.float32)
        parts.append(run(machine, values).numpy()[: len(rows.values)].astype(np.float64))
    return np.concatenate(parts)


def mean_unnormalized(machine: Machine, lift: Lift | None, batches: Iterable[Rows], seed: Seed) -> float:
    """The mean of log p*(v) over batches of `Rows`; of rows below a `Lift`, at one draw of v for each."""
    parts = []
    for number, rows in enumerate(batches):
        values = tf.cast(rows.values, tf.float32)
        values = values if lift is None else lift(values, random.fold(seed, number))
        parts.append(machine.unnormalized_log_prob(values).numpy())
    return float(np.concatenate(parts).mean(dtype=np.float64))


def sample(
    self: RBM, num_samples: int, seed: Seed | None = None, steps: int = 1000, probabilities: bool = False,
    start: ArrayLike | None = None,
) -> np.ndarray:  # fmt: skip
    """Ends of Gibbs chains, each of its own.

    Args:
      num_samples: n.
      seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
        saves.
      steps: full Gibbs steps of each chain. Published samples took 100,000; how many are needed no chain can tell.
      probabilities: True for E[v given h] of the last step, of bits p(v given h), in place of the draws.
      start: (n, D), where the chains begin; by default at draws without a field, of binary units random bits.

    Returns:
      float32 array (n, D).

    Raises:
      ValueError: for arguments out of range, or weights that are not finite.
    """
    check_chains(self, num_samples, steps, probabilities, start)  # what is refused counts no seed
    seed = self.next_seed() if seed is None else seed
    return ends_of_chains(self, num_samples, seed, steps, probabilities, start)


def ends_of_chains(
    rbm: RBM | MachineDensity | Topmost, num_samples: int, seed: Seed, steps: int, probabilities: bool = False,
    start: ArrayLike | None = None,
) -> np.ndarray:  # fmt: skip
    """`sample` of what has a `machine`, `units`, `support` where chains are to begin at rows, and `uses_xla`."""
    machine, num_samples, steps, probabilities, start = check_chains(rbm, num_samples, steps, probabilities, start)
    start_seed, chain_seed = tf.unstack(random.split(random.stream(seed, "sample")))
    if start is None:
        start = fieldless(machine, num_samples, start_seed)
    run = program(_last_step, rbm.uses_xla)
    v, means = run(machine, tf.cast(start, tf.float32), tf.constant(steps - 1), chain_seed)
    return (means if probabilities else v).numpy()


def check_chains(
    rbm: RBM | MachineDensity | Topmost, num_samples: int, steps: int, probabilities: bool = False,
    start: ArrayLike | None = None,
) -> tuple[Machine, int, int, bool, np.ndarray | None]:  # fmt: skip
    """The machine and the arguments of `ends_of_chains` in a plain form, or its ValueError."""
    num_samples, steps = checks.positive_integer("num_samples", num_samples), checks.positive_integer("steps", steps)
    probabilities = checks.boolean("probabilities", probabilities)
    machine = machine_of(rbm)
    start = None if start is None else complete_rows("start", start, rbm.units, rbm.support)
    if start is not None and len(start) != num_samples:
        raise ValueError(f"start must have a row for each sample, {num_samples}. Received: {len(start)} rows")
    return machine, num_samples, steps, probabilities, start


def sample_of_stack(
    stack: Stack,
    num_samples: int,
    seed: Seed,
    steps: int,
    probabilities: bool,
    jit_compile: bool,
) -> np.ndarray:
    """Gibbs chains of the topmost machine of a `deep.Stack`, and one pass down from their ends: (n, D) float32."""
    top_seed, down_seed = tf.unstack(random.split(random.stream(seed, "sample of a network")))
    top = Topmost(stack.machines[-1], jit_compile)
    if len(stack.machines) == 1:
        return ends_of_chains(top, num_samples, top_seed, steps, probabilities)
    h = ends_of_chains(top, num_samples, top_seed, steps)
    v, means = program(deep.descended, jit_compile)(stack.machines, h, down_seed)
    return (means if probabilities else v).numpy()


class Topmost(NamedTuple):
    """What `ends_of_chains` asks of an `RBM`."""

    machine: Machine
    uses_xla: bool

    @property
    def units(self) -> int:
        return int(self.machine.bias.shape[0])


def _last_step(machine, v, before, seed):
    """(v, E[v given h]) of the step after so many others."""
    chain_seed, hidden_seed, visible_seed = tf.unstack(random.split(seed, 3))
    v = machine.gibbs(v, before, chain_seed)
    count = tf.shape(v)[0]
    law = machine.visible_law(machine.hidden.drawn(hidden_seed, count, *machine.hidden_law(v)))
    return machine.visible.drawn(visible_seed, count, *law), machine.visible.mean(*law)


def fieldless(machine: Machine, num_rows: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """Draws of the visible units without bias or input, (n, D): of binary ones random bits."""
    bias, *rest = machine.visible_natural
    return machine.visible.drawn(seed, num_rows, tf.zeros_like(bias), *rest)


def clamped(machine: Machine, x: tf.Tensor, observed: tf.Tensor, steps: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """Chains in which observed entries stay."""
    start_seed, step_seed = tf.unstack(random.split(seed))

    def kept(v):
        return tf.where(observed, x, v)

    def step(i, v):
        return i + 1, kept(machine.gibbs(v, 1, random.fold(step_seed, i)))

    start = kept(fieldless(machine, tf.shape(x)[0], start_seed))
    return loops.while_loop(lambda i, _: i < steps, step, (tf.constant(0), start))[1]
