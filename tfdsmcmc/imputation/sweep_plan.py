"""Imputations as states of Markov chains.

Each row has several chains, which start apart. After the burn-in every sweep counts for the probabilities, where it is
known by a mean of x_missing (Rao-Blackwell): that given the latent variables, or by Gibbs sampling of bits that depend
on each other that of each bit given all else as it was when the bit was drawn. Elsewhere what was drawn counts. States
a fixed number of sweeps apart are the imputations, in turn of each chain: imputations of different chains are
independent once these have forgotten their start, those of one chain only as far as the sweeps between them make them
so.

A kernel is a value with

    start(*parts, rows, seed)         a first state (rows, z): `Rows` that have their fillings as values in the gaps
    sweep(*parts, rows, z, seed)      a `Move`
    expected(*parts, rows, z)         the values, with the mean given z in the gaps; asked where a move tells no mean
    log_density(*parts, rows, z)      log p of the state up to a constant, (n,)

and `proposes`, whether moves may be rejected; one whose draws are independent says so by `independent`, and its chains
are begun anew at each θ. There `parts` is what the model is made of: two networks, or the weights of a machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.imputation.effective import effective_sample_size
from tfdsmcmc.imputation.plans import Part

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Nest, Seed
    from tfdsmcmc.imputation.settings import Settings
    from tfdsmcmc.rows.rows import Rows


class Move(NamedTuple):
    """What a sweep leads to.

    Attributes:
      rows, z: the next state.
      accepted: (n,), the share of accepted proposals; None where nothing is proposed.
      mean: (n, D), the values, with means of what the sweep drew in the gaps; None where it knows no better ones than
        `expected`.
    """

    rows: Rows
    z: Nest
    accepted: tf.Tensor | None = None
    mean: tf.Tensor | None = None


def plan_sweeps(kernel: Any, settings: Settings) -> SweepPlan:
    """The plan with enough sweeps: at least `num_samples` in all, and `thinning` between two imputations of a chain.

    Args:
      kernel: see above.
      settings: `Settings`.
    """
    states = -(-settings.num_imputations // settings.num_chains)
    spacing = max(settings.thinning, -(-settings.num_samples // states))
    return SweepPlan(kernel, settings.num_imputations, settings.num_chains, settings.burn_in, states, spacing)


class SweepPlan(NamedTuple):
    """A plan: sweeps of a kernel along several chains for each row.

    Attributes:
      kernel: see above.
      num_imputations: the states handed on.
      num_chains: chains for each row.
      burn_in: sweeps before the first that counts.
      states: kept states of each chain.
      spacing: sweeps from one kept state to the next.
    """

    kernel: Any
    num_imputations: int
    num_chains: int
    burn_in: int
    states: int
    spacing: int

    @property
    def continues(self) -> bool:
        """Whether chains may go on at other weights: not where z is no state, as of independent draws."""
        return not getattr(self.kernel, "independent", False)

    def __call__(self, *arguments: Any) -> tuple[tf.Tensor, ...]:
        """(kept states (states · chains, n, D), sums of means, accepted proposals, the trace of log p).

        Args:
          *arguments: parts, rows and seed.
        """
        *parts, rows, seed = arguments
        return self.along(parts, rows, seed, *self.begun(parts, rows, seed))[:4]

    def begun(self, parts: Sequence[Any], rows: Rows, seed: Seed) -> tuple[tf.Tensor, Nest]:
        """First states of all chains, (x, z); arguments as of `along`."""
        given, z = self.kernel.start(*parts, self._of_chains(rows), tf.unstack(random.split(seed, 3))[0])
        return given.values, z

    def along(
        self,
        parts: Sequence[Any],
        rows: Rows,
        seed: Seed,
        x: tf.Tensor,
        z: Nest,
        burn_in: int | tf.Tensor | None = None,
    ) -> tuple[Any, ...]:
        """What a call gives, from states where the chains are, and behind it the states (x, z) where they end.

        Args:
          parts: what the model is made of.
          rows: `Rows` (n, D), with gaps.
          seed: int32 of shape (2,).
          x: (num_chains · n, D), the values with their fillings.
          z: the rest of the states.
          burn_in: scalar, sweeps before the first that counts; by default `self.burn_in`.
        """
        burn_in = self.burn_in if burn_in is None else burn_in
        rows, units, chains = self._of_chains(rows), x.shape[-1], self.num_chains
        _, burn_seed, keep_seed = tf.unstack(random.split(seed, 3))
        kernel, counted = self.kernel, self.states * self.spacing

        def results(move, mean, accepted):
            # in float32 what a sweep adds to a long sum would be lost
            values = kernel.expected(*parts, move.rows, move.z) if move.mean is None else move.mean
            mean += tf.cast(values, mean.dtype)
            accepted += 0.0 if move.accepted is None else tf.cast(move.accepted, accepted.dtype)
            return mean, accepted, kernel.log_density(*parts, move.rows, move.z)

        # one loop, whose programs are compiled in half of the time that those of two take
        def sweep(i, x, z, mean, accepted, kept, trace):
            number = i - burn_in
            own = tf.where(number < 0, burn_seed, keep_seed), tf.where(number < 0, i, number)
            move = kernel.sweep(*parts, rows._replace(values=x), z, random.fold(*own))
            mean, accepted, log_density = tf.cond(
                number >= 0, lambda: results(move, mean, accepted), lambda: (mean, accepted, no_density)
            )
            # later states take the place of those before them: of the burn-in, and of each `spacing` sweeps the last
            kept = kept.write(tf.maximum(number, 0) // self.spacing, move.rows.values)
            trace = trace.write(tf.maximum(number, 0), log_density)
            return i + 1, move.rows.values, move.z, mean, accepted, kept, trace

        no_density = tf.zeros_like(rows.values[:, 0], tf.float32)
        sums = tf.zeros_like(rows.values, tf.float64), tf.zeros_like(rows.values[:, 0], tf.float64)
        arrays = tf.TensorArray(tf.float32, self.states), tf.TensorArray(tf.float32, counted)
        loop = _loop(sweep, (0, x, z, *sums, *arrays), burn_in + counted)
        _, x, z, mean, accepted, kept, trace = loop
        return (
            tf.reshape(kept.stack(), [self.states * chains, -1, units]),
            tf.reduce_sum(tf.reshape(mean, [chains, -1, units]), 0),
            tf.reduce_sum(tf.reshape(accepted, [chains, -1]), 0),
            tf.reshape(trace.stack(), [counted, chains, -1]),
            x,
            z,
        )

    def _of_chains(self, rows):
        return rows.map(lambda part: tf.tile(part, [self.num_chains, 1]))

    def summary(self, results: Sequence[np.ndarray]) -> Part:
        """The results of a batch as a `Part`."""
        kept, mean, accepted, trace = results
        sweeps = trace.shape[0] * trace.shape[1]
        rate = accepted / sweeps if self.kernel.proposes else None
        x = kept[: self.num_imputations].swapaxes(0, 1)
        return Part(x, mean / sweeps, effective_sample_size(trace), rate, None)


def swept(kernel: Any, parts: Sequence[Any], rows: Rows, z: Nest, seed: Seed, sweeps: int) -> tuple[tf.Tensor, Nest]:
    """The state (x, z) after so many sweeps of a kernel from (rows, z)."""

    def sweep(i, x, z):
        move = kernel.sweep(*parts, rows._replace(values=x), z, random.fold(seed, i))
        return i + 1, move.rows.values, move.z

    return _loop(sweep, (0, rows.values, z), sweeps)[1:]


def _loop(body, state, count):
    return loops.while_loop(lambda i, *_: i < count, body, state, maximum_iterations=count)
