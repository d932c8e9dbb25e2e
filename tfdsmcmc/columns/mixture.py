"""Columns whose laws are averages over M sets of parameters, each column by itself.

    log p̄(y) = Σ_c log (1/M) Σ_m p_c(y_c; λ_m)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.columns.independent import IndependentColumns
from tfdsmcmc.columns.layout import Layout

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike


class IndependentColumnsMixture(IndependentColumns):
    """The columns of a row, independent, each with a mixture of M laws of its kind.

    Args:
      layout: `Layout` of the columns.
      parameters: (M, …, P).
      shared: list of tensors (M, C, shared), those of each group of columns.
      name: name of the distribution.
    """

    def __init__(
        self,
        layout: Layout,
        parameters: TensorLike,
        shared: Sequence[TensorLike],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "IndependentColumnsMixture",
    ):
        super().__init__(layout, parameters, shared, validate_args, allow_nan_stats, name)

    def column_log_probs(self, y: TensorLike) -> tf.Tensor:
        y = tf.cast(y, tf.float32)
        terms = self._each(lambda law: law.column_log_probs(y))
        return tf.reduce_logsumexp(terms, 0) - math.log(self._row.shape[0])

    def column_log_factors(self, y: TensorLike) -> tf.Tensor:
        """log p_c(y_c) itself: what is of y_c alone in one law is not in a mixture."""
        return self.column_log_probs(y)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        choice_seed, draw_seed = tf.unstack(random.split(seed))
        columns, count = len(self.layout.kinds), self._row.shape[0]
        batch = tf.concat([[n], tf.shape(self._row)[1:-1]], 0)
        chosen = random.integers(tf.concat([batch, [columns]], 0), count, choice_seed)
        row_chosen = tf.gather(chosen, self.layout.parameter_owners, axis=-1)
        of_groups = [tf.gather(chosen, group.columns, axis=-1)[..., tf.newaxis] for group in self.layout.groups]

        def take(m, row, shared):
            row = tf.where(row_chosen == m, self._row[m], row)
            here = zip(of_groups, self._shared, shared)
            return m + 1, row, [tf.where(places == m, part[m], kept) for places, part, kept in here]

        first = tf.zeros(tf.shape(row_chosen)) + self._row[0]
        shared = [tf.zeros(tf.shape(places)) + part[0] for places, part in zip(of_groups, self._shared)]
        _, row, shared = loops.while_loop(lambda m, *_: m < count, take, (1, first, shared))
        return IndependentColumns(self.layout, row, shared).sample(seed=draw_seed)

    def _mean(self):
        return tf.reduce_mean(self._each(lambda law: law.mean()), 0)

    def _each(self, function):
        """Results of a function of each of the M laws, (M, …)."""

        def at(m):
            return function(IndependentColumns(self.layout, self._row[m], [part[m] for part in self._shared]))

        return loops.map_fn(at, tf.range(self._row.shape[0]), fn_output_signature=tf.float32)

    def _batch_shape(self):
        return self._row.shape[1:-1]

    def _batch_shape_tensor(self, **parameters):
        return tf.shape(self._row)[1:-1]
