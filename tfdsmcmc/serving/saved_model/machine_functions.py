"""What a SavedModel of undirected models computes, at one set of weights or over M components of a posterior's average.

    log_likelihood    log (1/M) Σ_m p_m(x) with log p_m(x) = log p*_m(x) − log Z_m, whatever num_samples for one machine
                      or a mixture; for a deep belief network by num_samples draws from Q
    sample            m uniform, then x ~ p_m
    impute            m uniform, then x_missing ~ p_m(x_missing given x_observed)

Each log Z_m and its error ρ_m are stored. With s_m the other error of log p_m and r_m the share of p_m in the sum, the
standard error is √(Σ (r_m s_m)² + (Σ r_m ρ_m)²): errors of log Z may be one and the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.serving.saved_model.functions import in_blocks
from tfdsmcmc.serving.saved_model.weights import Components

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.densities.mixture import MixtureDensity
    from tfdsmcmc.boltzmann.densities.stack import StackDensity
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition
    from tfdsmcmc.boltzmann.served import ServedMachine, ServedMixture, ServedStack

NAMES = ("log_likelihood", "sample", "impute")
_OUTPUTS = ("value", "standard_error", "effective_sample_size")


class MachineWeights(Components):
    """The parts of M densities, stacked, and log Z of each.

    Args:
      densities: sequence of densities of one model, each made when it is asked for.
    """

    partition: LogPartition
    served: ServedMachine | ServedStack | ServedMixture

    def __init__(self, densities: Sequence[MachineDensity | StackDensity | MixtureDensity]):
        super().__init__(len(densities))
        stacks, figures = None, []
        for density in densities:
            self._structure, self.served = density.parts, density.served
            found = density.known_partition()
            figures.append((found.value, found.standard_error, found.effective_sample_size))
            values = [np.asarray(part)[np.newaxis] for part in tf.nest.flatten(density.parts)]
            stacks = values if stacks is None else [np.concatenate(pair) for pair in zip(stacks, values)]
            self.partition = found
        self._stacks = [tf.Variable(stack, trainable=False) for stack in stacks]
        # rows are counted from log p*: float32 would lose digits of a large log Z less those
        self._partitions = tf.Variable(tf.constant(figures, tf.float64), trainable=False)
        self._structure = _Hidden(self._structure)

    def at(self, m: Number) -> tuple[Any, list[tf.Tensor]]:
        """(the parts, (log Z, its error, its effective sample size)) of component m."""
        values = [tf.gather(stack, m) for stack in self._stacks]
        parts = tf.nest.pack_sequence_as(self._structure.value, values)
        return parts, tf.unstack(tf.gather(self._partitions, m))


class _Hidden:
    """What a `tf.Module` is not to look into."""

    def __init__(self, value):
        self.value = value


class MachineFunctions(tf.Module):
    """The functions, all in tensors. x is (n, D) float32 and seeds are int32 of shape (2,).

    Args:
      weights: `MachineWeights`.
      units: D.
      steps: of each Gibbs chain.
    """

    def __init__(self, weights: MachineWeights, units: int, steps: int):
        super().__init__()
        self._weights, self._units, self._steps = weights, units, steps

    def costs(self, name: str) -> tuple[int, int]:
        """(for each row, for each unit of its count) the draws that a function takes."""
        each = self._weights.served.cost(name, self._steps)
        return 0, each * (self._weights.count if name == "log_likelihood" else 1)

    def log_likelihood(self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor) -> dict[str, tf.Tensor]:
        """value, standard_error and effective_sample_size, each (n,)."""
        served = self._weights.served

        def block(x, seed):
            def at_one(at, seed):
                parts, (log_z, shared, runs) = at
                value, error, size = served.log_terms(parts, x, num_samples, seed)
                value = tf.cast(tf.cast(value, tf.float64) - log_z, tf.float32)
                size = tf.minimum(size, tf.cast(runs, tf.float32))
                return value, error, size, tf.fill(tf.shape(value), tf.cast(shared, tf.float32))

            return dict(zip(_OUTPUTS, _mixed(*self._weights.over(at_one, seed, (tf.float32,) * 4))))

        return in_blocks(block, x, seed, {name: [] for name in _OUTPUTS})

    def sample(self, num_samples: tf.Tensor, seed: tf.Tensor) -> dict[str, tf.Tensor]:
        """x, (num_samples, D)."""
        choice_seed, draw_seed = tf.unstack(random.split(seed))
        chosen = random.integers([num_samples], self._weights.count, choice_seed)

        def draw(at, places, seed):
            return self._weights.served.draws(at[0], tf.size(places), self._steps, seed)

        return {"x": tf.ensure_shape(self._weights.draw(draw, chosen, draw_seed, self._units), [None, self._units])}

    def impute(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        num_imputations: tf.Tensor,
        seed: tf.Tensor,
    ) -> dict[str, tf.Tensor]:
        """x, (num_imputations, n, D)."""
        shape = tf.shape(x)
        choice_seed, draw_seed = tf.unstack(random.split(seed))
        v, observed = (tf.tile(part, [num_imputations, 1]) for part in (tf.where(mask, x, 0.0), mask))
        chosen = random.integers([num_imputations * shape[0]], self._weights.count, choice_seed)

        def draw(at, places, seed):
            own = tf.gather(v, places), tf.gather(observed, places)
            return self._weights.served.completions(at[0], *own, self._steps, seed)

        drawn = self._weights.draw(draw, chosen, draw_seed, self._units)
        drawn = tf.reshape(drawn, tf.concat([[num_imputations], shape], 0))
        return {"x": tf.ensure_shape(drawn, [None, None, x.shape[1]])}


def _mixed(value, error, size, shared):
    """(log-mean-exp, its error, its effective sample size) of M components, (M, n) each."""
    share = tf.nn.softmax(value, 0)
    count = tf.cast(tf.shape(value)[0], value.dtype)
    own = tf.reduce_sum(tf.square(share * error), 0)
    common = tf.reduce_sum(share * shared, 0)
    effective = 1.0 / tf.reduce_sum(tf.square(share) / size, 0)
    return tf.reduce_logsumexp(value, 0) - tf.math.log(count), tf.sqrt(own + tf.square(common)), effective
