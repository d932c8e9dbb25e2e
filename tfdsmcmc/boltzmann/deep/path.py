"""The path of densities of a deep belief network's hidden units, from Q to its own, for each row of data.

    log f_β(h) = (1 − β) log Q(h given v) + β l̂(v, h),      h = (h^1, …, h^{L−1}),      g = f_0 = Q

with l̂ of `boltzmann.deep.stack`, so that f_1 has the normaliser Z_top p(v). What leaves f_β invariant: draw h^L given
h^{L−1}, as the topmost machine does at any β, and sweep the other units given all else, of the joint density
Q^(1 − β) p*^β of all L layers, Q(h^L given h^{L−1}) being the machine's own. That h^L sums out of it to f_β follows
from exp(−E(h^{L−1}, h^L)) = p*_top(h^{L−1}) Q(h^L given h^{L−1}).

Derived here; the estimator is that of Neal, "Annealed importance sampling", Statistics and Computing 11 (2001).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.annealing import Path
from tfdsmcmc.boltzmann.deep.stack import ascended, heights, recognised
from tfdsmcmc.boltzmann.deep.sweeps import sweep_hidden

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Nest, Number, Seed
    from tfdsmcmc.boltzmann.deep.stack import Stack


class DeepPath(Path):
    """From Q to a deep belief network. A state is [h^1, …, h^{L−1}], (n, H_l) each.

    Args:
      stack: `Stack` of two machines or more.
      v: (n, D) float32, the rows of all runs.
      num_rows: of which v has copies, one block after the other.
    """

    stack: Stack
    v: tf.Tensor

    def __init__(self, stack: Stack, v: tf.Tensor, num_rows: int = 1):
        super().__init__(v.shape[0], num_rows)
        self.stack, self.v = stack, v

    def start(self, seed: Seed) -> Nest:
        return ascended(self.stack, self.v, seed)[1:]

    def log_density(self, beta: Number, state: Nest) -> tf.Tensor:
        height, log_q = self._parts(state)
        return (1.0 - beta) * log_q + beta * height

    def increment(self, before: Number, after: Number, state: Nest) -> tf.Tensor:
        height, log_q = self._parts(state)
        return (after - before) * (height - log_q)

    def move(
        self,
        beta: Number,
        state: Nest,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[Nest, tf.Tensor | None]:
        return sweep_hidden(self.stack, [self.v, *state], beta, seed)[1:], None

    def _parts(self, state):
        states = [self.v, *state]
        return heights(self.stack, states), recognised(self.stack, states)[0]
