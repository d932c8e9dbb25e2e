"""Tenants of a run that have nothing to do with directed networks, to show what the contracts carry.

`ColumnSums` sees all rows in a pass and moves at its end. `Persistent` is the estimator of independent pixels, p(x) ∝
exp(b · x), by a positive phase minus particles that the whole run shares. `ColumnMeans` is a model around the first.
"""

from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports import Binary
from tfdsmcmc.training.fitting.learner import Learner
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator
from tfdsmcmc.training.steps.step import Step


class SumsState(NamedTuple):
    weights: list
    sums: Any
    reads: Any  # how often each row was read, an entry for each


class ColumnSums(Step):
    """The weights become the means of the columns at the end of each pass, and nothing before it."""

    metric_names = ("read",)
    per_row = ("reads",)
    needs_passes = True

    def __init__(self, variable):
        self.variables = [variable]

    def init(self, rows, seed, weights, num_rows=1.0, state=None):
        reads = state.reads if rows is None and state is not None else tf.zeros([0 if rows is None else rows.num_rows])
        return SumsState(list(weights), tf.zeros_like(weights[0]) if state is None else state.sums, reads)

    def step(self, state, batch, seed):
        counted = tf.cast(batch.counted, tf.float32)
        before = tf.where(batch.begins_pass, tf.zeros_like(state.sums), state.sums)
        sums = before + tf.linalg.matvec(batch.rows.values, counted, transpose_a=True)
        reads = tf.tensor_scatter_nd_add(state.reads, batch.index[:, tf.newaxis], counted)
        weights = tf.where(batch.ends_pass, sums / batch.num_rows, state.weights[0])
        return SumsState([weights], sums, reads), {"read": tf.reduce_sum(counted)}


    def fresh_weights(self, seed):
        return [random.uniform(self.variables[0].shape, seed).numpy()]


class Persistent(GradientEstimator):
    """E g = mean x − σ(b); the particles of the run are drawn anew, given b, in the way that a chain would move."""

    carries = "run"
    metric_names = ("ones",)

    def __init__(self, units, particles=50):
        self.shape = [particles, units]

    def gradient(self, weights, x, num_rows, auxiliary, carry, seed, prior_weight=1.0):
        (bias,) = weights
        particles = random.bernoulli(tf.broadcast_to(bias, self.shape), seed)
        return [tf.reduce_mean(x, 0) - tf.reduce_mean(particles, 0)], particles, particles

    def start(self, weights, x, seed):
        return random.bernoulli(tf.zeros(self.shape), seed)

    def metrics(self, draws):
        return {"ones": tf.reduce_mean(draws)}


@keras.saving.register_keras_serializable("tests")
class ColumnMeans(Learner):
    """Keras around `ColumnSums`."""

    units, support, seed = 3, Binary(), 5

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.mean = self.add_weight(shape=(3,), initializer="zeros", name="mean")
        self.built = True

    @property
    def theta_variables(self):
        return [self.mean]

    def compile(self, steps_per_execution=2, jit_compile=False, num_chains=1):
        settings = {
            "steps_per_execution": steps_per_execution, "jit_compile": jit_compile, "num_chains": num_chains
        }  # fmt: skip
        self._begin_run(ColumnSums(self.mean), None, settings)

    def evaluate(self, x=None, **_):
        p = np.clip(self.mean.numpy(), 1e-3, 1 - 1e-3)
        x = self.source("x", self.validation_source if x is None or self.validation_source else x).all().values
        return {"log_likelihood": float((x * np.log(p) + (1 - x) * np.log1p(-p)).sum(1).mean())}

    def get_config(self):
        return {"name": self.name}
