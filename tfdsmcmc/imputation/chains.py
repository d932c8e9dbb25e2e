"""Imputations as states of Markov chains.

Each row has several chains, which start apart. After the burn-in every sweep counts for the probabilities, by the mean
of x_missing given z where that is known (Rao-Blackwell), and states a fixed number of sweeps apart are the imputations,
in turn of each chain: imputations of different chains are independent once these have forgotten their start, those of
one chain only as far as the sweeps between them make them so.
"""

from __future__ import annotations

from typing import NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.imputation.effective import effective_sample_size
from tfdsmcmc.imputation.kernels import KERNELS, expected, start
from tfdsmcmc.imputation.plans import Part


def plan_chains(kernel, num_imputations, burn_in, thinning, num_sweeps, num_chains):
    """The plan with enough sweeps: at least `num_sweeps` in all, and `thinning` between two imputations of a chain."""
    states = -(-num_imputations // num_chains)
    return Chains(kernel, num_imputations, num_chains, burn_in, states, max(thinning, -(-num_sweeps // states)))


class Chains(NamedTuple):
    """A plan: chains of a kernel.

    Attributes:
      kernel: "gibbs" or "metropolis".
      num_imputations: the states handed on.
      num_chains: chains for each row.
      burn_in: sweeps before the first that counts.
      states: kept states of each chain.
      spacing: sweeps from one kept state to the next.
    """

    kernel: str
    num_imputations: int
    num_chains: int
    burn_in: int
    states: int
    spacing: int

    def __call__(self, generative, recognition, x, observed, seed):
        """(kept states (states · chains, n, D), sums of means, accepted proposals, the trace of log p(x, z))."""
        observed, x = (tf.tile(part, [self.num_chains, 1]) for part in (observed, x))
        start_seed, burn_seed, keep_seed = tf.unstack(random.split(seed, 3))
        networks = generative, recognition
        x, z = start(*networks, x, observed, start_seed)
        kernel = KERNELS[self.kernel]

        def burn(i, x, z):
            return i + 1, *kernel(*networks, x, z, observed, random.fold(burn_seed, i))[:2]

        _, x, z = _loop(burn, (0, x, z), self.burn_in)

        def sweep(i, first, x, z, mean, accepted, trace):
            x, z, share = kernel(*networks, x, z, observed, random.fold(keep_seed, first + i))
            # in float32 what a sweep adds to a long sum would be lost
            mean += tf.cast(expected(generative, x, z, observed), mean.dtype)
            accepted += 0.0 if share is None else tf.cast(share, accepted.dtype)
            return i + 1, first, x, z, mean, accepted, trace.write(i, generative.log_joint(x, z))

        def keep(i, x, z, mean, accepted, kept, traces):
            state = (0, i * self.spacing, x, z, mean, accepted, tf.TensorArray(x.dtype, self.spacing))
            _, _, x, z, mean, accepted, trace = _loop(sweep, state, self.spacing)
            return i + 1, x, z, mean, accepted, kept.write(i, x), traces.write(i, trace.stack())

        arrays = [tf.TensorArray(x.dtype, self.states) for _ in range(2)]
        sums = tf.zeros_like(x, tf.float64), tf.zeros_like(x[:, 0], tf.float64)
        _, _, _, mean, accepted, kept, traces = _loop(keep, (0, x, z, *sums, *arrays), self.states)
        units, chains = generative.units, self.num_chains
        return (
            tf.reshape(kept.stack(), [self.states * chains, -1, units]),
            tf.reduce_sum(tf.reshape(mean, [chains, -1, units]), 0),
            tf.reduce_sum(tf.reshape(accepted, [chains, -1]), 0),
            tf.reshape(traces.stack(), [self.states * self.spacing, chains, -1]),
        )

    def summary(self, results) -> Part:
        """The results of a batch as a `Part`."""
        kept, mean, accepted, trace = results
        sweeps = trace.shape[0] * trace.shape[1]
        rate = accepted / sweeps if self.kernel == "metropolis" else None
        x = kept[: self.num_imputations].swapaxes(0, 1)
        return Part(x, mean / sweeps, effective_sample_size(trace), rate, None)


def _loop(body, state, count):
    return tf.while_loop(lambda i, *_: i < count, body, state, maximum_iterations=count)
