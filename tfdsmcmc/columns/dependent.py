"""Columns of several kinds, each dependent on those before it.

    p(y) = Π_c p_c(y_c; λ_c + Σ_{b<c} s(y_b) U_bc)

Columns come in an order of their own, in which b < c says that b comes before c. The parameters of a column are linear
in the columns before it, as networks see them: s is the identity but for counts and amounts, of which it takes
logarithms.

What is missing is drawn given all that is observed by Metropolis moves, a column at a time, and in a monotone pattern,
or around a single missing column that comes last, exactly.

Sources: Gregor, Danihelka, Mnih, Blundell and Wierstra, "Deep autoregressive networks", ICML 2014, for binary units;
Ibrahim, Lipsitz and Chen, "Missing covariates in generalized linear models when the missing data mechanism is
non-ignorable", Journal of the Royal Statistical Society B 61 (1999), for sequences of regressions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.columns.independent import IndependentColumns
from tfdsmcmc.columns.layout import Layout

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike

tfd = tfp.distributions


def earlier_to_later(layout: Layout, ordering: Sequence[int] | None = None) -> np.ndarray:
    """(D, P), 1 where an entry is of a column before that of the parameter, else 0."""
    ranks = np.argsort(np.arange(len(layout.kinds)) if ordering is None else ordering)
    return (ranks[layout.owners][:, np.newaxis] < ranks[layout.parameter_owners]).astype(np.float32)


class DependentColumns(IndependentColumns):
    """The columns of a row in their order.

    It has no mean in closed form; `given(y).mean()` has that of each column given those before it in y.

    Args:
      layout: `Layout` of the columns.
      parameters: λ, (…, P).
      shared: list of tensors (C, shared), those of each group of columns.
      lateral: U, (D, P); entries that do not lead from a column to a later one have no effect.
      ordering: permutation of the columns, the first one first; None for 0, 1, ….
      name: name of the distribution.
    """

    def __init__(
        self,
        layout: Layout,
        parameters: TensorLike,
        shared: Sequence[TensorLike],
        lateral: TensorLike,
        ordering: Sequence[int] | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DependentColumns",
    ):
        order = range(len(layout.kinds)) if ordering is None else ordering
        self.ordering, self._order = ordering, tf.constant(list(order), tf.int32)
        self._lateral = earlier_to_later(layout, ordering) * tf.convert_to_tensor(lateral, tf.float32)
        self._first_entries = tf.constant(layout.first_entries, tf.int32)
        self._owners = tf.constant(layout.owners, tf.int32)
        numbers, places = zip(*(layout.place_of(column) for column in range(len(layout.kinds))))
        self._groups_of, self._places = tf.constant(numbers, tf.int32), tf.constant(places, tf.int32)
        self._widest = max(kind.entries for kind in layout.kinds)
        super().__init__(layout, parameters, shared, validate_args, allow_nan_stats, name)

    def given(self, y: TensorLike) -> IndependentColumns:
        """The law of each column given those before it in y, (…, D), as if they were independent."""
        seen = self._seen(tf.cast(y, tf.float32))
        return IndependentColumns(self.layout, self._row + _product(seen, self._lateral), self._shared)

    def column_log_probs(self, y: TensorLike) -> tf.Tensor:
        """log p(y_c given y_<c) of each column, (…, number of columns)."""
        return self.given(y).column_log_probs(y)

    def column_log_factors(self, y: TensorLike) -> tf.Tensor:
        """log p(y_c given y_<c) but for terms of y_c alone, (…, number of columns)."""
        return self.given(y).column_log_factors(y)

    def observed_log_prob(self, y: TensorLike, observed: TensorLike) -> tf.Tensor:
        raise ValueError("What is missing drops out of independent columns alone. Received: DependentColumns")

    def complete(self, y: tf.Tensor, observed: tf.Tensor, seed: Seed) -> tf.Tensor:
        """Draws the columns that are not observed, each given those before it.

        Args:
          y: (…, D), the leading axes those of the batch; what is not observed may have any finite value.
          observed: (…, number of columns), booleans.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (…, D).
        """

        def next_column(c, y, row):
            drawn = self._of_column(c, row, random.fold(seed, c), None)
            after = tf.where(observed[..., c, tf.newaxis], y, self._put(c, drawn, y))
            row += self._effect(c, self._seen(after))
            return tf.ensure_shape(after, y.shape), tf.ensure_shape(row, self._row.shape)

        return self._over_columns(next_column, y, self._row)[0]

    def redrawn(self, y: tf.Tensor, observed: tf.Tensor, seed: Seed) -> tf.Tensor:
        """Moves of a Markov chain over the columns that are not observed, one of each, with the law given the others.

        A column's move is reversible under its law given those before it (`columns.Kind.moved`), and is accepted with
        probability min(1, Π_{b>c} p(y_b given y'_<b) / p(y_b given y_<b)). Columns without a gap cost nothing.

        Args:
          y: (…, D), in the support.
          observed: (…, number of columns), booleans.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (…, D).
        """
        row = self._row + _product(self._seen(y), self._lateral)
        columns = tf.range(len(self.layout.kinds))

        def next_column(c, y, row, before):
            move_seed, accept_seed = tf.unstack(random.split(random.fold(seed, c)))
            proposed = self._put(c, self._of_column(c, row, move_seed, y), y)
            moved = row + self._effect(c, self._seen(proposed) - self._seen(y))
            after = IndependentColumns(self.layout, moved, self._shared).column_log_factors(proposed)
            log_ratio = tf.reduce_sum(tf.where(columns != c, after - before, 0.0), -1)
            uniform = random.open_uniform(tf.shape(log_ratio), accept_seed)
            taken = ((tf.math.log(uniform) < log_ratio) & ~observed[..., c])[..., tf.newaxis]
            state = zip((proposed, moved, after), (y, row, before))
            return [tf.ensure_shape(tf.where(taken, *pair), pair[1].shape) for pair in state]

        before = IndependentColumns(self.layout, row, self._shared).column_log_factors(y)
        gaps = tf.reduce_any(tf.reshape(~observed, [-1, len(self.layout.kinds)]), 0)

        def next_one(c, *state):
            return tf.cond(gaps[c], lambda: next_column(c, *state), lambda: list(state))

        return self._over_columns(next_one, y, row, before)[0]

    def _seen(self, y):
        return self.layout.support.seen(y)

    def _over_columns(self, body, *state):
        """The state after the body was called with each column's number, in order."""
        count = len(self.layout.kinds)

        def next_one(i, *state):
            return i + 1, *body(self._order[i], *state)

        return loops.while_loop(lambda i, *_: i < count, next_one, (0, *state), maximum_iterations=count)[1:]

    def _of_column(self, c, row, seed, y):
        """A draw of column c given the parameters of a row, or where y is given a move from there; (…, widest)."""

        def of_group(group, shared):
            kind, place = group.kind, self._places[c]
            first = group.first + place * kind.parameters
            parameters = tf.gather(row, first + tf.range(kind.parameters), axis=-1)[..., tf.newaxis, :]
            own = tf.gather(shared, place, axis=0)[tf.newaxis]
            if y is None:
                drawn = kind.draw(parameters, own, seed)
            else:
                value = tf.gather(y, self._first_entries[c] + tf.range(kind.entries), axis=-1)[..., tf.newaxis, :]
                drawn = kind.moved(value, parameters, own, seed)
            drawn = tf.ensure_shape(drawn[..., 0, :], [*[None] * (row.shape.rank - 1), kind.entries])
            return tf.pad(drawn, [*[[0, 0]] * (row.shape.rank - 1), [0, self._widest - kind.entries]])

        branches = [lambda pair=pair: of_group(*pair) for pair in zip(self.layout.groups, self._shared)]
        return tf.stop_gradient(tf.switch_case(self._groups_of[c], branches) if len(branches) > 1 else branches[0]())

    def _put(self, c, values, y):
        """y with column c, of which the values are (…, widest)."""
        places = tf.clip_by_value(tf.range(self.layout.units) - self._first_entries[c], 0, self._widest - 1)
        return tf.where(tf.equal(self._owners, c), tf.gather(values, places, axis=-1), y)

    def _effect(self, c, seen):
        """What column c of what is seen adds to the parameters of the columns after it, (…, P)."""
        seen = tf.where(tf.equal(self._owners, c), seen, 0.0)
        # the places of another column, where this one is narrower, count for nothing
        places = tf.minimum(self._first_entries[c] + tf.range(self._widest), self.layout.units - 1)
        here = tf.cast(tf.equal(self._first_entries[c] + tf.range(self._widest), places), tf.float32)
        part = tf.ensure_shape(tf.gather(seen, places, axis=-1) * here, [*seen.shape[:-1], self._widest])
        return _product(part, tf.gather(self._lateral, places, axis=0))

    def _sample_n(self, n, seed=None):
        seed = tfp.random.sanitize_seed(None) if seed is None else seed
        batch = tf.concat([[n], tf.shape(self._row)[:-1]], 0)
        nothing = tf.zeros(tf.concat([batch, [self.layout.units]], 0))
        row = tf.broadcast_to(self._row, tf.concat([batch, [self.layout.parameters]], 0))
        law = DependentColumns(self.layout, row, self._shared, self._lateral, self.ordering)
        return law.complete(nothing, tf.zeros(tf.concat([batch, [len(self.layout.kinds)]], 0), tf.bool), seed)

    def _mean(self):
        raise NotImplementedError("The mean of columns that depend on each other is not known in closed form.")


def _product(x, matrix):
    """x @ matrix for x of any rank."""
    flat = tf.matmul(tf.reshape(x, [-1, matrix.shape[0]]), matrix)
    return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], [matrix.shape[1]]], 0))
