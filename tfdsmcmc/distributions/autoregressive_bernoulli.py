"""A vector of Bernoulli variables, each with logits linear in those before it.

With the units taken in an order, here 1, …, D,

    p(y) = Π_j Bernoulli(y_j; σ(l_j)),      l_j = b_j + Σ_{i<j} y_i U_ij

The log-probability is one matrix product; a draw runs over the units.

Source: Frey, Hinton and Dayan, "Does the wake-sleep algorithm produce good density estimators?", NIPS 1995 (the fully
visible sigmoid belief network); Gregor, Danihelka, Mnih, Blundell and Wierstra, "Deep autoregressive networks", ICML
2014.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.distributions.affine import affine
from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob
from tfdsmcmc.distributions.ordering import check_ordering, in_order, in_place
from tfdsmcmc.distributions.sequential import SequentialBernoulli

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions


class AutoregressiveBernoulli(SequentialBernoulli):
    """Binary units, each with logits linear in those before it.

    Args:
      logits: b, floating tensor (…, units).
      lateral: U, (units, units), from the row's unit to the column's; only the entries from an earlier to a later unit
        count.
      ordering: permutation of the units, the one drawn first first; None for 0, 1, ….
      name: name of the distribution.

    Raises:
      ValueError: if `ordering` is no permutation, or the shapes do not fit.
    """

    def __init__(
        self,
        logits: TensorLike,
        lateral: TensorLike,
        ordering: Sequence[int] | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "AutoregressiveBernoulli",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            self._logits = tf.convert_to_tensor(logits, name="logits")
            self._lateral = tf.convert_to_tensor(lateral, self._logits.dtype, name="lateral")
            units = self._logits.shape[-1]
            if self._lateral.shape != (units, units):
                raise ValueError(
                    f"lateral is of the shape ({units}, {units}), as logits have {units} units. "
                    f"Received: lateral.shape={tuple(self._lateral.shape)}"
                )
            self._ordering = check_ordering(ordering, units)
            super().__init__(
                dtype=self._logits.dtype,
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    @classmethod
    def _parameter_properties(cls, dtype, num_classes=None):
        return {
            "logits": tfp.util.ParameterProperties(event_ndims=1),
            "lateral": tfp.util.ParameterProperties(event_ndims=2),
        }

    def conditional_logits(self, y: TensorLike) -> tf.Tensor:
        """Log-odds of each unit given those before it in y, (…, units)."""
        y, lateral = tf.cast(y, self.dtype), earlier_to_later(self._lateral, self._ordering)
        return self._logits + affine(y, lateral, tf.zeros_like(lateral[0]))

    def _log_prob(self, y):
        return bernoulli_log_prob(y, self.conditional_logits(y))

    def _draw(self, n, seed):
        lateral = in_order(in_order(self._lateral, self._ordering, axis=0), self._ordering)
        y, logits = _sample(n, in_order(self._logits, self._ordering), earlier_to_later(lateral), seed)
        return in_place(y, self._ordering), bernoulli_log_prob(y, logits)


def earlier_to_later(lateral: tf.Tensor | tf.Variable, ordering: Sequence[int] | None = None) -> tf.Tensor:
    """U with zeros where a unit is not before the other."""
    units = int(lateral.shape[0])
    place = np.arange(units) if ordering is None else np.argsort(ordering)
    return lateral * tf.constant(place[:, np.newaxis] < place, lateral.dtype)


def _sample(n, logits, lateral, seed):
    """n draws in the natural order and their conditional logits, each (n, …, D)."""
    units = int(lateral.shape[0])
    shape = tf.concat([[n], tf.shape(logits)], 0)
    uniform = tf.reshape(random.open_uniform(shape, seed), [-1, units])
    logits = tf.reshape(tf.broadcast_to(logits, shape), [-1, units])

    def draw_unit(j, logits, draws):
        probability = tf.cast(tf.sigmoid(logits[:, j]), tf.float32)
        y = tf.cast(uniform[:, j] < probability, logits.dtype)
        return j + 1, logits + y[:, tf.newaxis] * lateral[j], draws.write(j, y)

    start = (0, logits, tf.TensorArray(logits.dtype, units))
    _, logits, draws = loops.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)
    return tf.reshape(tf.transpose(draws.stack()), shape), tf.reshape(logits, shape)
