"""What distributions share that draw their units one by one."""

from __future__ import annotations

import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions


class SequentialBernoulli(tfd.Distribution):
    """Base class: a subclass has `_logits`, (…, units), and draws with `_draw(n, seed)`.

    `_draw` returns n values and their log-probabilities, made in one pass.
    """

    def _event_shape(self):
        return self._logits.shape[-1:]

    def _event_shape_tensor(self):
        return tf.shape(self._logits)[-1:]

    def _sample_n(self, n, seed=None):
        return self._draw(n, tfp.random.sanitize_seed(None) if seed is None else seed)[0]

    def _sample_and_log_prob(self, sample_shape, seed, **kwargs):
        shape = tf.cast(sample_shape, tf.int32)
        drawn = self._draw(tf.reduce_prod(shape), tfp.random.sanitize_seed(None) if seed is None else seed)
        return tuple(tf.reshape(part, tf.concat([shape, tf.shape(part)[1:]], 0)) for part in drawn)

    def _default_event_space_bijector(self):
        return None
