"""Columns of several kinds, each dependent on those before it.

    p(y) = Π_c p_c(y_c; λ_c + Σ_{b<c} s(y_b) U_bc)

The parameters of a column are linear in the columns before it, as networks see them: s is the identity but for counts,
of which it takes logarithms.

Source: Gregor, Danihelka, Mnih, Blundell and Wierstra, "Deep autoregressive networks", ICML 2014, for binary units.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.columns.independent import IndependentColumns
from tfdsmcmc.columns.layout import Layout

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike

tfd = tfp.distributions


def earlier_to_later(layout: Layout) -> np.ndarray:
    """(D, P), 1 where an entry is of a column before that of the parameter, else 0."""
    return (layout.owners[:, np.newaxis] < layout.parameter_owners).astype(np.float32)


class DependentColumns(IndependentColumns):
    """The columns of a row in their order.

    It has no mean in closed form; `given(y).mean()` has that of each column given those before it in y.

    Args:
      layout: `Layout` of the columns.
      parameters: λ, (…, P).
      shared: list of tensors (C, shared), those of each group of columns.
      lateral: U, (D, P); entries that do not lead from a column to a later one have no effect.
      name: name of the distribution.
    """

    def __init__(
        self,
        layout: Layout,
        parameters: TensorLike,
        shared: Sequence[TensorLike],
        lateral: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DependentColumns",
    ):
        self._lateral = earlier_to_later(layout) * tf.convert_to_tensor(lateral, tf.float32)
        super().__init__(layout, parameters, shared, validate_args, allow_nan_stats, name)

    def given(self, y: TensorLike) -> IndependentColumns:
        """The law of each column given those before it in y, (…, D), as if they were independent."""
        seen = self.layout.support.seen(tf.cast(y, tf.float32))
        return IndependentColumns(self.layout, self._row + _product(seen, self._lateral), self._shared)

    def column_log_probs(self, y: TensorLike) -> tf.Tensor:
        """log p(y_c given y_<c) of each column, (…, number of columns)."""
        return self.given(y).column_log_probs(y)

    def observed_log_prob(self, y: TensorLike, observed: TensorLike) -> tf.Tensor:
        raise ValueError("What is missing drops out of independent columns alone. Received: DependentColumns")

    def complete(self, y: tf.Tensor, observed: tf.Tensor, seed: Seed) -> tf.Tensor:
        """Draws the columns that are not observed, each given those before it.

        Args:
          y: (…, D), the leading axes those of the batch; what is not observed may have any value.
          observed: (…, number of columns), booleans.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (…, D).
        """
        row, columns = self._row, []
        for number, kind in enumerate(self.layout.kinds):
            group, place = self.layout.place_of(number)
            first = self.layout.groups[group].first + place * kind.parameters
            entries = slice(self.layout.first_entries[number], self.layout.first_entries[number] + kind.entries)
            parameters = row[..., tf.newaxis, first : first + kind.parameters]
            shared = self._shared[group][place : place + 1]
            drawn = kind.draw(parameters, shared, random.fold(seed, number))[..., 0, :]
            column = tf.where(observed[..., number : number + 1], y[..., entries], drawn)
            column = tf.stop_gradient(tf.ensure_shape(column, [*[None] * (column.shape.rank - 1), kind.entries]))
            columns.append(column)
            seen = kind.support_of([kind]).seen(column)
            row += _product(seen, self._lateral[entries])
        return tf.concat(columns, -1)

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        batch = tf.concat([[n], tf.shape(self._row)[:-1]], 0)
        nothing = tf.zeros(tf.concat([batch, [self.layout.units]], 0))
        row = tf.broadcast_to(self._row, tf.concat([batch, [self.layout.parameters]], 0))
        law = DependentColumns(self.layout, row, self._shared, self._lateral)
        return law.complete(nothing, tf.zeros(tf.concat([batch, [len(self.layout.kinds)]], 0), tf.bool), seed)

    def _mean(self):
        raise NotImplementedError("The mean of columns that depend on each other is not known in closed form.")


def _product(x, matrix):
    """x @ matrix for x of any rank."""
    flat = tf.matmul(tf.reshape(x, [-1, matrix.shape[0]]), matrix)
    return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], [matrix.shape[1]]], 0))
