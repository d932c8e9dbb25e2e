"""The Markov chains over the latent variables, one for each row of the data, that go on from epoch to epoch.

They exist where the latents say that they are `persistent`. A row's units are kept as uint8. Chains belong to data: for
other rows, or the same in another order, they start anew. Of C > 1 chains over θ each has its own chains over z.
"""

from __future__ import annotations

import zlib

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.training.chains import of_chain

_ROWS = 1000  # started at a time


class CarriedLatents(tf.Module):
    """Where the chain over z of each row stands.

    Args:
      method: `Method`; without persistent latents there is nothing to keep.
      jit_compile: whether chains are started by a program that XLA compiles.
      num_chains: C, of the chains over θ.

    Attributes:
      kept: whether there are such chains.
      chains: list of uint8 variables (N, H_l), or (C, N, H_l), nearest to the data first; N is 0 before `begin`.
      rows: int64 variable, a checksum of the data that the chains belong to.
    """

    def __init__(self, method, jit_compile, num_chains=1):
        super().__init__(name="carried")
        self.kept = bool(getattr(method.latents, "persistent", False))
        widths = method.generative.latent_units if self.kept else []
        leading = [] if num_chains == 1 else [num_chains]
        # of any number of rows: the compiled loop keeps these very variables, whatever data come
        self.chains = [
            tf.Variable(np.zeros((*leading, 0, width), np.uint8), shape=[*leading, None, width], trainable=False)
            for width in widths
        ]
        self.rows = tf.Variable(np.int64(0), trainable=False)
        self._method = method
        self._num_chains = num_chains
        self._start = tf.function(self._started, jit_compile=jit_compile, autograph=False)

    @property
    def state(self):
        """Named variables for saving."""
        chains = {f"carried_{i}": variable for i, variable in enumerate(self.chains)}
        return {**chains, "carried_rows": self.rows} if self.kept else {}

    @property
    def values(self):
        """The chains as tensors."""
        return [tf.convert_to_tensor(variable) for variable in self.chains]

    def begin(self, x, theta, seed, with_gaps=False):
        """Starts a chain for each row of x, unless the chains are those of x already.

        Args:
          x: (N, D).
          theta: list of tensors, the weights; of several chains over θ each has a leading axis C.
          seed: stateless seed.
          with_gaps: whether NaN in x is missing.
        """
        if not self.kept:
            return
        checksum = zlib.crc32(np.ascontiguousarray(x)) + (len(x) << 32)
        if int(self.rows) == checksum:
            return
        if self._num_chains == 1:
            started = self._started_rows(x, theta, seed, with_gaps)
        else:
            chains = range(self._num_chains)
            each = [self._started_rows(x, of_chain(theta, c), random.fold(seed, c), with_gaps) for c in chains]
            started = [np.stack(parts) for parts in zip(*each)]
        for variable, part in zip(self.chains, started):
            variable.assign(part)
        self.rows.assign(checksum)

    def of_rows(self, values, index):
        """The carry of some rows, list of float32 (B, H_l) for an index (B,), (C, B, H_l) for (C, B); or None."""
        if not self.kept:
            return None
        chains = len(index.shape) - 1
        return [tf.cast(tf.gather(value, index, axis=chains, batch_dims=chains), tf.float32) for value in values]

    def with_rows(self, values, index, carry):
        """The values with those of some rows replaced."""
        if not self.kept:
            return values
        if len(index.shape) == 2:
            chain = tf.broadcast_to(tf.range(self._num_chains)[:, tf.newaxis], tf.shape(index))
            index = tf.stack([chain, index], -1)
        else:
            index = index[:, tf.newaxis]
        return [tf.tensor_scatter_nd_update(v, index, tf.cast(c, v.dtype)) for v, c in zip(values, carry)]

    def _started_rows(self, x, theta, seed, with_gaps):
        """New chains at the weights of one chain over θ, list of arrays (N, H_l)."""
        count = min(_ROWS, len(x))
        started = [np.zeros((len(x), variable.shape[-1]), np.uint8) for variable in self.chains]
        for begin in [*range(0, len(x) - count, count), len(x) - count]:  # the last ones may be started twice
            values = self._start(x[begin : begin + count], theta, random.fold(seed, begin), with_gaps)
            for part, value in zip(started, values):
                part[begin : begin + count] = value
        return started

    def _started(self, x, theta, seed, with_gaps):
        method = self._method.for_rows(with_gaps)
        with evaluated_at(method.generative.trainable_variables, theta):
            return method.latents.start(method.generative, method.recognition, x, seed)
