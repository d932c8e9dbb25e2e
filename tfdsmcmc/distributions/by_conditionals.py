"""A vector of Bernoulli variables given by the log-odds of each, given those before it in some order.

    p(y) = Π_j Bernoulli(y_j; σ(l_j(y)))

where l_j depends on the units before the j-th alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob
from tfdsmcmc.distributions.sequential import SequentialBernoulli, tfd

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike


class BernoulliByConditionals(SequentialBernoulli):
    """Binary units whose conditional log-odds are a function.

    Args:
      like: floating tensor (…, units), whose shape and type are those of a draw.
      conditional_logits: function of y (…, units), whose leading axes broadcast with those of `like`; returns l(y).
      draw: function of (n, seed); returns n draws, (n, …, units).
      name: name of the distribution.
    """

    def __init__(
        self,
        like: tf.Tensor,
        conditional_logits: Callable[[tf.Tensor], tf.Tensor],
        draw: Callable[[Any, Any], tf.Tensor],
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BernoulliByConditionals",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            self._logits = tf.convert_to_tensor(like, name="like")
            self._conditional_logits, self._drawn = conditional_logits, draw
            super().__init__(
                dtype=self._logits.dtype,
                reparameterization_type=tfd.NOT_REPARAMETERIZED,
                validate_args=validate_args,
                allow_nan_stats=allow_nan_stats,
                parameters=parameters,
                name=name,
            )

    def _batch_shape(self):
        return self._logits.shape[:-1]

    def _batch_shape_tensor(self, **parameters):
        return tf.shape(self._logits)[:-1]

    def conditional_logits(self, y: TensorLike) -> tf.Tensor:
        """Log-odds of each unit given those before it in y, (…, units)."""
        return self._conditional_logits(tf.cast(y, self.dtype))

    def _log_prob(self, y):
        return bernoulli_log_prob(y, self.conditional_logits(y))

    def _draw(self, n, seed):
        y = self._drawn(n, seed)
        return y, self._log_prob(y)
