"""What a SavedModel of a Boltzmann machine, a deep belief network or a mixture holds and computes (`boltzmann.served`).

log p̂_m = log p*_m − log Z_m, with each log Z_m and its error stored; impute chooses m uniformly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc.serving.saved_model.functions import ESTIMATE, SHARED, Components, Functions

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.densities.mixture import MixtureDensity
    from tfdsmcmc.boltzmann.densities.stack import StackDensity
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition
    from tfdsmcmc.boltzmann.served import ServedMachine, ServedMixture, ServedStack
    from tfdsmcmc.contract import Model


class MachineWeights(Components):
    """The parts of M densities; a component is the pair (parts, (log Z, its error, its effective sample size)).

    `served` is what a server computes of the parts, `partition` of the last density.
    """

    served: ServedMachine | ServedStack | ServedMixture
    partition: LogPartition

    def __init__(self, densities: Iterable[MachineDensity | StackDensity | MixtureDensity]):
        super().__init__()
        values, figures = [], []
        for density in densities:
            found, structure, self.served = density.known_partition(), density.parts, density.served
            values.append([np.asarray(part) for part in tf.nest.flatten(structure)])
            figures.append((found.value, found.standard_error, found.effective_sample_size))
            self.partition = found
        self.count: int = len(values)
        self._stacks = [tf.Variable(np.stack(parts), trainable=False) for parts in zip(*values)]
        # rows are counted from log p*: float32 would lose digits of a large log Z less those
        self._partitions = tf.Variable(tf.constant(figures, tf.float64), trainable=False)
        self._packed = lambda flat: tf.nest.pack_sequence_as(structure, flat)  # a closure: the density is not saved

    def called(self, function: Callable[..., Nest], m: Number, *arguments: Any) -> Nest:
        parts = self._packed([tf.gather(stack, m) for stack in self._stacks])
        return function((parts, tf.unstack(tf.gather(self._partitions, m))), *arguments)


class MachineFunctions(Functions):
    """Samples and imputations are by chains of `sweeps` full Gibbs steps."""

    estimate = (*ESTIMATE, SHARED)

    def __init__(self, model: Model, weights: MachineWeights, sweeps: int):
        widest = max(max(variable.shape, default=1) for variable in contract.sampled_theta(model))
        super().__init__(weights, model.units, model.support, widest)
        self._served, self._sweeps, self.settings = weights.served, sweeps, {"sweeps": sweeps}
        if weights.count == 1:  # of several components each has a log Z of its own
            known, error = weights.partition, weights.partition.standard_error
            self.figures = {"log_partition": known.value, "log_partition_direction": known.direction}
            self.figures["log_partition_standard_error"] = error if math.isfinite(error) else None

    def costs(self, name: str, by_row: bool = False) -> tuple[int, int, int]:
        each, count = self._served.cost(name, self._sweeps), self.weights.count
        if name != "log_likelihood":
            return 0, each, 1
        return (0, each * count, self._served.chunk) if each else (count, 0, 1)  # where nothing is drawn

    def _terms(self, x, num_samples, seed):
        def at_one(component, seed):
            parts, (log_z, shared, runs) = component
            value, error, size = self._served.log_terms(parts, x, num_samples, seed)
            value = tf.cast(tf.cast(value, tf.float64) - log_z, tf.float32)
            size = tf.where(tf.math.is_inf(size), tf.cast(runs, tf.float32), size)  # of draws, if there are any
            return value, error, size, tf.fill(tf.shape(value), tf.cast(shared, tf.float32))

        return self.weights.over(at_one, seed, (tf.float32,) * 4)

    def _draws(self, component, count, seed, context):
        return self._served.draws(component[0], count, self._sweeps, seed)

    def _chosen(self, rows, num_imputations, seed):
        return random.integers([num_imputations * tf.shape(rows.values)[0]], self.weights.count, seed)

    def _completions(self, component, rows, seed):
        return self._served.completions(component[0], rows.values, rows.observed, self._sweeps, seed)
