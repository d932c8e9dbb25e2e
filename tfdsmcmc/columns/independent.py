"""Columns of several kinds that are independent.

    log p(y) = Σ_c log p_c(y_c)

over the columns c, each by the law of its kind; a column takes one or more of the D entries of y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.columns.layout import Layout

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions


class IndependentColumns(tfd.Distribution):
    """The columns of a row, independent given their parameters.

    Args:
      layout: `Layout` of the columns.
      parameters: (…, P).
      shared: list of tensors (C, shared), those of each group of columns.
      name: name of the distribution.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layout = ds.columns.Layout([ds.columns.Categorical(3), ds.columns.Binary()])
    >>> law = ds.columns.IndependentColumns(layout, tf.zeros([4]), [tf.zeros([1, 0]), tf.zeros([1, 0])])
    >>> round(float(tf.exp(-law.log_prob([0.0, 1, 0, 1]))), 4)
    6.0
    """

    def __init__(
        self,
        layout: Layout,
        parameters: TensorLike,
        shared: Sequence[TensorLike],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "IndependentColumns",
    ):
        arguments = dict(locals())
        with tf.name_scope(name):
            self.layout = layout
            self._row = tf.convert_to_tensor(parameters, tf.float32, name="parameters")
            self._shared = [tf.convert_to_tensor(part, tf.float32) for part in shared]
            super().__init__(
                dtype=tf.float32,
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=arguments,
                name=name,
            )

    @property
    def row(self) -> tf.Tensor:
        """λ, (…, P)."""
        return self._row

    def column_log_probs(self, y: TensorLike) -> tf.Tensor:
        """log p_c(y_c) of each column, (…, number of columns).

        Args:
          y: (…, D), finite.
        """
        return self._column_terms(y, lambda kind: kind.log_prob)

    def column_log_factors(self, y: TensorLike) -> tf.Tensor:
        """log p_c(y_c) but for terms of y_c alone, (…, number of columns): for ratios at one y.

        Args:
          y: (…, D), finite.
        """
        return self._column_terms(y, lambda kind: kind.log_factor)

    def observed_log_prob(self, y: TensorLike, observed: TensorLike) -> tf.Tensor:
        """The log-density of the columns that are observed, the others summed or integrated out.

        Args:
          y: (…, D); what is not observed may have any finite value.
          observed: (…, D), not 0 or True where an entry is; a column of several counts where all of them are.
        """
        known = self.layout.observed_columns(observed)
        return tf.reduce_sum(tf.where(known, self.column_log_probs(y), 0.0), -1)

    def _log_prob(self, y):
        return tf.reduce_sum(self.column_log_probs(y), -1)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        parts = []
        for number, (group, parameters, shared) in enumerate(self._groups()):
            parameters = tf.broadcast_to(parameters, tf.concat([[n], tf.shape(parameters)], 0))
            drawn = group.kind.draw(parameters, shared, random.fold(seed, number))
            parts.append(tf.ensure_shape(drawn, [*parameters.shape[:-1], group.kind.entries]))
        return tf.stop_gradient(self.layout.rows(parts))

    def _mean(self):
        return self.layout.rows([group.kind.mean(*parts) for group, *parts in self._groups()])

    def _column_terms(self, y, of):
        y = tf.cast(y, tf.float32)
        terms = [of(group.kind)(self.layout.values_of(group, y), *parts) for group, *parts in self._groups()]
        return self.layout.by_column(terms)

    def _groups(self):
        for group, shared in zip(self.layout.groups, self._shared, strict=True):
            yield group, self.layout.parameters_of(group, self._row), shared

    def _event_shape(self):
        return tf.TensorShape([self.layout.units])

    def _event_shape_tensor(self):
        return tf.constant([self.layout.units])

    def _batch_shape(self):
        return self._row.shape[:-1]

    def _batch_shape_tensor(self, **parameters):
        return tf.shape(self._row)[:-1]

    def _default_event_space_bijector(self):
        return None
