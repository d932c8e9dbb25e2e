"""Expectation maximisation of mixtures of products of Bernoulli laws, see `mixture_of_bernoullis` for its equations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc.boltzmann.mixture.draws import log_components
from tfdsmcmc.training.steps.starts import fresh_weights
from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, Seed, TensorLike
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.training.feeding.batch import Batch


class MixtureState(NamedTuple):
    """What a pass sums.

    Attributes:
      weights: [log π (C,), logits of μ (C, D)].
      counts: (C,), Σ_n r_nc so far.
      ones: (C, D), Σ_n r_nc v_ni so far.
    """

    weights: list[tf.Tensor]
    counts: tf.Tensor
    ones: tf.Tensor


class ExpectationMaximisation(Step):
    """The weights move at the end of each pass.

    Args:
      mixture: what has the `MixtureLayer` among its `layers`.
      smoothing: s.
      concentration: α.
    """

    variables: list[keras.Variable]
    smoothing: float
    concentration: float
    metric_names: tuple[str, ...] = ("log_likelihood",)
    needs_passes = True

    def __init__(self, mixture: Any, smoothing: float, concentration: float):
        self.mixture = mixture  # whose variables these are
        self.variables = [variable for layer in mixture.layers for variable in layer.trainable_variables]
        self.smoothing, self.concentration = smoothing, concentration

    def init(
        self, rows: RandomAccessSource | None, seed: Seed, weights: Sequence[TensorLike], num_rows: Number = 1.0,
        state: MixtureState | None = None,
    ) -> MixtureState:  # fmt: skip
        sums = [tf.zeros_like(part) for part in weights] if state is None else state[1:]
        return MixtureState(list(weights), *sums)

    def step(self, state: MixtureState, batch: Batch, seed: Seed) -> tuple[MixtureState, dict[str, tf.Tensor]]:
        x, counted = batch.rows.values, tf.cast(batch.counted, tf.float32)[:, tf.newaxis]
        log_joint = log_components(*state.weights, x)
        shares = counted * tf.nn.softmax(log_joint, -1)
        fresh = 1.0 - tf.cast(batch.begins_pass, tf.float32)
        counts = fresh * state.counts + tf.reduce_sum(shares, 0)
        ones = fresh * state.ones + tf.matmul(shares, x, transpose_a=True)
        moved = self._maximised(counts, ones)
        weights = [tf.where(batch.ends_pass, new, old) for new, old in zip(moved, state.weights)]
        rows = tf.reduce_sum(counted[:, 0] * tf.reduce_logsumexp(log_joint, -1))
        # so that the mean over the batches of a pass is that over its rows, however few the last batch has
        batches = tf.math.ceil(batch.num_rows / tf.cast(tf.shape(x)[0], tf.float32))
        return MixtureState(weights, counts, ones), {"log_likelihood": rows * batches / batch.num_rows}

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        return fresh_weights(self.mixture, seed)

    def _maximised(self, counts, ones):
        shares = counts + self.concentration
        ones, zeros = ones + self.smoothing, counts[:, tf.newaxis] - ones + self.smoothing
        # rounding must not make a sum of ones larger than that of all
        logits = tf.math.log(ones) - tf.math.log(tf.maximum(zeros, 0.5 * self.smoothing))
        return [tf.math.log(shares) - tf.math.log(tf.reduce_sum(shares)), logits]
