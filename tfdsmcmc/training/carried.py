"""The Markov chains over the latent variables, one for each row of the data, that go on from epoch to epoch.

They exist where the latents say that they are `persistent`. A row's units are kept as uint8.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random

_ROWS = 1000  # started at a time


class CarriedLatents(tf.Module):
    """Where the chain over z of each row stands.

    Args:
      method: `Method`; without persistent latents there is nothing to keep.

    Attributes:
      chains: list of uint8 variables (N, H_l), nearest to the data first; empty before `begin`, and where nothing is
        kept.
    """

    def __init__(self, method):
        super().__init__(name="carried")
        self.kept = bool(getattr(method.latents, "persistent", False))
        self.chains = []
        self._method = method

    @property
    def state(self):
        """Named variables for saving."""
        return {f"carried_{i}": variable for i, variable in enumerate(self.chains)}

    @property
    def values(self):
        """The variables as tensors."""
        return [tf.convert_to_tensor(variable) for variable in self.chains]

    def begin(self, rows, seed):
        """Starts a chain for each row, unless there are chains for as many rows already."""
        if not self.kept or (self.chains and self.chains[0].shape[0] == len(rows)):
            return
        method, parts = self._method, []
        for start in range(0, len(rows), _ROWS):
            x = rows[start : start + _ROWS]
            parts.append(method.latents.start(method.generative, method.recognition, x, random.fold(seed, start)))
        self.restore([tf.concat(part, 0) for part in zip(*parts)])

    def restore(self, values):
        """Takes arrays (N, H_l) for the present state."""
        values = [tf.cast(value, tf.uint8) for value in values]
        if [v.shape for v in values] == [v.shape for v in self.chains]:
            for variable, value in zip(self.chains, values):
                variable.assign(value)
        else:
            self.chains = [tf.Variable(value, trainable=False) for value in values]

    def of_rows(self, values, index):
        """The carry of some rows, list of float32 (B, H_l), or None."""
        return [tf.cast(tf.gather(value, index), tf.float32) for value in values] or None

    def with_rows(self, values, index, carry):
        """The values with those of some rows replaced."""
        if not values:
            return values
        index = index[:, tf.newaxis]
        return [tf.tensor_scatter_nd_update(v, index, tf.cast(c, v.dtype)) for v, c in zip(values, carry)]
