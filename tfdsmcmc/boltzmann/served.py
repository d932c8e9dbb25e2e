"""What a server computes of an undirected model or a mixture, in tensors alone, of the parts of a density.

    log_terms     (log p*(x), its standard error, its effective sample size), (n,) each, before log Z
    draws         x, (n, D): ends of Gibbs chains of the topmost machine, from random bits, and one pass down
    completions   x with its missing entries drawn by Gibbs sweeps, observed ones held fixed
    cost          draws that each unit of a request's count takes
    chunk         units that log_terms takes at a time

x is (n, D) float32, seeds are int32 of shape (2,).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.boltzmann.deep import sweeps as deep_sweeps
from tfdsmcmc.boltzmann.imputation import MixtureKernel
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.mixture.draws import drawn, log_components
from tfdsmcmc.rows import Rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed

_CHUNK = 32  # draws of a row held at a time


class ServedMachine:
    """Of a `Machine`."""

    chunk: int = 1

    def cost(self, name: str, steps: int) -> int:
        """What a draw costs; 0 where none is made."""
        return 0 if name == "log_likelihood" else steps

    def log_terms(
        self,
        parts: Sequence[Any],
        x: tf.Tensor,
        num_samples: tf.Tensor,
        seed: Seed,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        value = parts[0].unnormalized_log_prob(x)
        return value, tf.zeros_like(value), tf.fill(tf.shape(value), float("inf"))

    def draws(self, parts: Sequence[Any], num_samples: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return _descended(parts, num_samples, steps, seed)

    def completions(self, parts: Sequence[Any], x: tf.Tensor, observed: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return sampling.clamped(parts[0], x, observed, tf.constant(steps), seed)


class ServedStack:
    """Of a `deep.Stack` of two machines or more."""

    chunk: int = _CHUNK

    def cost(self, name: str, steps: int) -> int:
        return 1 if name == "log_likelihood" else steps

    def log_terms(
        self,
        parts: Sequence[Any],
        x: tf.Tensor,
        num_samples: tf.Tensor,
        seed: Seed,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        """Importance samples from Q, some at a time."""

        def chunk(number, sums):
            log_w = deep.log_weights(parts[0], x, _CHUNK, random.fold(seed, number))
            counts = number * _CHUNK + tf.range(_CHUNK) < num_samples
            return number + 1, sums.add(tf.where(counts[:, tf.newaxis], log_w, -float("inf")))[0]

        sums = WeightSums.of_nothing(tf.shape(x)[:1])
        shapes = (tf.TensorShape([]), WeightSums(*[tf.TensorShape([None])] * 3))
        chunks = (num_samples + _CHUNK - 1) // _CHUNK
        _, sums = loops.while_loop(lambda number, _: number < chunks, chunk, (0, sums), shapes)
        return sums.estimate(num_samples)

    def draws(self, parts: Sequence[Any], num_samples: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return _descended(parts[0].machines, num_samples, steps, seed)

    def completions(self, parts: Sequence[Any], x: tf.Tensor, observed: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return deep_sweeps.swept(parts[0], x, observed, tf.constant(steps), seed)


class ServedMixture:
    """Of log π and the logits of μ: all is exact, and nothing takes steps."""

    chunk: int = 1

    def cost(self, name: str, steps: int) -> int:
        return 0 if name == "log_likelihood" else 1

    def log_terms(
        self,
        parts: Sequence[Any],
        x: tf.Tensor,
        num_samples: tf.Tensor,
        seed: Seed,
    ) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        value = tf.reduce_logsumexp(log_components(*parts, x), -1)
        return value, tf.zeros_like(value), tf.fill(tf.shape(value), float("inf"))

    def draws(self, parts: Sequence[Any], num_samples: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return drawn(*parts, num_samples, seed)[0]

    def completions(self, parts: Sequence[Any], x: tf.Tensor, observed: tf.Tensor, steps: int, seed: Seed) -> tf.Tensor:
        return MixtureKernel().start(*parts, Rows(x, observed), seed)[0].values


def _descended(machines, num_samples, steps, seed):
    start_seed, chain_seed, down_seed = tf.unstack(random.split(seed, 3))
    h = sampling.fieldless(machines[-1], num_samples, start_seed)
    h = machines[-1].gibbs(h, tf.constant(steps), chain_seed)
    return deep.descended(machines, h, down_seed)[0]
