"""Contrastive wake-sleep: all layers of a deep belief network learn together, after they were learnt one by one.

The recognition weights R^l become weights of their own. For a row v, with h^0 = v,

    wake          h^l ~ Q(h^l given h^{l−1})                                l = 1, …, L − 1
    contrast      y^{L−1} by T full Gibbs steps of the topmost machine, from h^{L−1}
    sleep         y^{l−1} ~ p(y^{l−1} given y^l)                            l = L − 1, …, 1

    W^l, b^l      ∇ log p(h^{l−1} given h^l)
    topmost       s(h^{L−1}, E[h^L given h^{L−1}]) − s(y^{L−1}, E[h^L given y^{L−1}]),      s(v, h) = (v h', v, h)
    R^l, a^l      ∇ log Q(y^l given y^{l−1})

each in the mean over the rows. As T grows, the first two become the gradient of the mean bound of `deep.stack` in the
generative weights, and the third that of E log Q(h given v) over draws of the network: what wake-sleep climbs.
Dreams of few steps stay close to the data, and need no chain that mixes. No density has this gradient, for finite T or
any other: an optimizer follows it, and no kernel that samples a posterior may.

Sources: Hinton, Osindero and Teh, "A fast learning algorithm for deep belief nets", Neural Computation 18 (2006),
section 5 and appendix B; Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015, section 2.3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.deep.stack import Stack, ascended, dreamt
from tfdsmcmc.boltzmann.machines.contrastive_divergence import Phases, difference
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Nest, Number, Seed, TensorLike
    from tfdsmcmc.rows.rows import Rows


class Passes(NamedTuple):
    """What a gradient was made of, lists of (B, units) from the data up.

    Attributes:
      awake: [v, h^1, …, h^{L−1}].
      asleep: [y^0, …, y^{L−1}].
    """

    awake: list[tf.Tensor]
    asleep: list[tf.Tensor]


@keras.saving.register_keras_serializable("tfdsmcmc")
class ContrastiveWakeSleep(GradientEstimator):
    """The gradient by which a deep belief network of two machines or more is fine-tuned.

    The metric `dream_difference` is the fraction of the visible units that differ between a row and its dream.

    Args:
      steps: T, full Gibbs steps of the topmost machine.

    Raises:
      ValueError: for no positive integer.
    """

    metric_names: tuple[str, ...] = ("dream_difference",)

    def __init__(self, steps: int = 5):
        self.steps: int = checks.positive_integer("steps", steps)

    def gradient(
        self,
        weights: Sequence[tf.Tensor],
        x: TensorLike | Rows,
        num_rows: Number,
        auxiliary: Sequence[tf.Tensor],
        carry: Nest,
        seed: Seed,
        prior_weight: Number = 1.0,
    ) -> tuple[list[tf.Tensor], Nest, Nest]:
        """As every estimator's; the weights in the order of `stack_of`, the prior flat."""
        stack = stack_of(weights)
        passes = self._draw(stack, x, seed)
        theta, phi = [], []
        for level, machine in enumerate(stack.machines[:-1]):
            awake, asleep = (states[level : level + 2] for states in passes)
            below = awake[0] - tf.sigmoid(machine.visible_logits(awake[1]))
            above = asleep[1] - tf.sigmoid(stack.upward_logits(level, asleep[0]))
            theta += [_mean_product(below, awake[1]), _mean(below)]
            phi += [_mean_product(asleep[0], above), _mean(above)]
        top = difference(stack.machines[-1], Phases(passes.awake[-1], passes.asleep[-1]))
        return [*theta, *top, *phi], passes, None

    def draw(self, weights: Sequence[tf.Tensor], x: TensorLike | Rows, carry: Nest, seed: Seed) -> tuple[Nest, Nest]:
        return self._draw(stack_of(weights), x, seed), None

    def metrics(self, draws: Nest) -> dict[str, tf.Tensor]:
        return {"dream_difference": tf.reduce_mean(tf.abs(draws.awake[0] - draws.asleep[0]))}

    def get_config(self) -> Config:
        return {"steps": self.steps}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)

    def _draw(self, stack, x, seed):
        up_seed, chain_seed, down_seed = tf.unstack(random.split(seed, 3))
        awake = ascended(stack, x, up_seed)
        chains = stack.machines[-1].gibbs(awake[-1], self.steps, chain_seed)
        return Passes(awake, dreamt(stack.machines, chains, down_seed))


def stack_of(weights: Sequence[TensorLike]) -> Stack:
    """The `Stack` of a list of weights: W^1, b^1, …, then W, b and a of the topmost machine, then R^1, a^1, …."""
    count = (len(weights) - 3) // 4  # machines below the topmost
    generative, topmost, own = weights[: 2 * count], weights[2 * count : 2 * count + 3], weights[2 * count + 3 :]
    lower = [Machine(*generative[2 * level : 2 * level + 2], own[2 * level + 1]) for level in range(count)]
    return Stack([*lower, Machine(*topmost)], own[::2])


def _mean_product(below, above):
    """The mean over rows of below' above."""
    return tf.matmul(below, above, transpose_a=True) / tf.cast(tf.shape(below)[0], below.dtype)


def _mean(values):
    """The mean over rows, as a product: XLA on a CPU sums slowly over a leading axis."""
    rows = tf.shape(values)[0]
    return tf.matmul(tf.fill([1, rows], 1.0 / tf.cast(rows, values.dtype)), values)[0]
