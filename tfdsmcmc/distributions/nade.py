"""The neural autoregressive distribution estimator.

With the units taken in an order, here 1, …, D,

    a_i = c + Σ_{j<i} x_j W_j,      l_i = b_i + V_i · σ(a_i),      p(x) = Π_i Bernoulli(x_i; σ(l_i))

Its log-probability and gradient run over the units one by one, and hold one a_i at a time. The backward pass needs
nothing of the forward pass: it starts from a_{D+1} = c + x W, a matrix product, takes the terms off again, and makes
the logits anew. With u the upstream gradient, d_i = u (x_i − σ(l_i)), h_i = σ(a_i) and γ_i = ∂/∂a_i of all terms from i
on,

    ∂V_i = d_i h_i,    ∂b_i = d_i,    γ_i = γ_{i+1} + d_i V_i h_i (1 − h_i),    ∂W_i = x_i γ_{i+1},
    ∂c = γ_1,          ∂x_i = u l_i + W_i · γ_{i+1}

Source: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011.
"""

from __future__ import annotations

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.distributions.independent_bernoulli import sum_like
from tfdsmcmc.distributions.ordering import check_ordering, in_order, in_place
from tfdsmcmc.distributions.sequential import SequentialBernoulli

tfd = tfp.distributions


class NADE(SequentialBernoulli):
    """Binary units, each given those before it through one shared hidden layer.

    Args:
      logits: b, floating tensor (…, units).
      hidden_bias: c, (…, hidden units); the leading axes broadcast with those of b.
      encoder: W, (units, hidden units).
      decoder: V, (units, hidden units).
      ordering: permutation of the units, the one drawn first first; None for 0, 1, ….
      name: name of the distribution.

    Raises:
      ValueError: if `ordering` is no permutation, or the shapes do not fit.
    """

    def __init__(
        self,
        logits,
        hidden_bias,
        encoder,
        decoder,
        ordering=None,
        validate_args=False,
        allow_nan_stats=True,
        name="NADE",
    ):
        parameters = dict(locals())
        with tf.name_scope(name):
            self._logits = tf.convert_to_tensor(logits, name="logits")
            dtype = self._logits.dtype
            self._hidden_bias = tf.convert_to_tensor(hidden_bias, dtype, name="hidden_bias")
            self._encoder = tf.convert_to_tensor(encoder, dtype, name="encoder")
            self._decoder = tf.convert_to_tensor(decoder, dtype, name="decoder")
            shapes = [tuple(part.shape) for part in (self._logits, self._hidden_bias, self._encoder, self._decoder)]
            if shapes[2] != shapes[3] or shapes[2] != (shapes[0][-1], shapes[1][-1]):
                raise ValueError(
                    "encoder and decoder are of the shape (units of logits, units of hidden_bias). "
                    f"Received: shapes {shapes} of logits, hidden_bias, encoder, decoder"
                )
            self._ordering = check_ordering(ordering, shapes[2][0])
            super().__init__(
                dtype=dtype,
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
            "hidden_bias": tfp.util.ParameterProperties(event_ndims=1),
            "encoder": tfp.util.ParameterProperties(event_ndims=2),
            "decoder": tfp.util.ParameterProperties(event_ndims=2),
        }

    def conditional_logits(self, x):
        """Log-odds of each unit given those before it in x, (…, units)."""
        operands = self._in_order(tf.cast(x, self.dtype))
        return in_place(_forward(*operands, keep_logits=True), self._ordering)

    def _log_prob(self, x):
        return _log_prob(*self._in_order(tf.cast(x, self.dtype)))

    def _draw(self, n, seed):
        _, b, c, w, v = self._in_order(self._logits)
        x, log_prob = _sample(n, b, c, w, v, seed)
        return in_place(x, self._ordering), log_prob

    def _in_order(self, x):
        """(x, b, c, W, V), the units in order."""
        x, b = (in_order(part, self._ordering) for part in (x, self._logits))
        w, v = (in_order(part, self._ordering, axis=0) for part in (self._encoder, self._decoder))
        return x, b, self._hidden_bias, w, v


@tf.custom_gradient
def _log_prob(x, b, c, w, v):
    def gradient(upstream):
        return _backward(x, b, c, w, v, upstream)

    return _forward(x, b, c, w, v), gradient


def _forward(x, b, c, w, v, keep_logits=False):
    """log p(x), (…), or the logits, (…, D)."""
    units, rank = _units(x), _rank(x, b, c)
    columns, logits, c = _by_unit(x, rank), _by_unit(b, rank), _padded(c, rank)
    batch = _batch_shape(x, b, c)

    def add_unit(i, a, total, kept):
        logit = logits[i] + _decode(tf.sigmoid(a + c), v[i])
        x_i = columns[i]
        if keep_logits:
            kept = kept.write(i, logit + tf.zeros(batch, logit.dtype))
        return i + 1, a + x_i[..., tf.newaxis] * w[i], total + _bernoulli(x_i, logit), kept

    kept = tf.TensorArray(x.dtype, units if keep_logits else 0)
    start = (0, tf.zeros_like(columns[0])[..., tf.newaxis] * w[0], tf.zeros(batch, x.dtype), kept)
    _, _, total, kept = tf.while_loop(lambda i, *_: i < units, add_unit, start, maximum_iterations=units)
    return _last(kept.stack()) if keep_logits else total


def _sample(n, b, c, w, v, seed):
    """n draws (n, …, D) and their log-probabilities (n, …)."""
    units, rank = _units(b), _rank(b, c)
    logits, c = _by_unit(b, rank), _padded(c, rank)
    batch = tf.concat([[n], _batch_shape(b, c)], 0)
    uniform = random.open_uniform(tf.concat([[units], batch], 0), seed)

    def add_unit(i, a, total, draws):
        logit = logits[i] + _decode(tf.sigmoid(a), v[i])
        x_i = tf.cast(uniform[i] < tf.cast(tf.sigmoid(logit), tf.float32), b.dtype)
        return i + 1, a + x_i[..., tf.newaxis] * w[i], total + _bernoulli(x_i, logit), draws.write(i, x_i)

    hidden = tf.broadcast_to(c, tf.concat([batch, tf.shape(c)[-1:]], 0))
    start = (0, hidden, tf.zeros(batch, b.dtype), tf.TensorArray(b.dtype, units))
    _, _, total, draws = tf.while_loop(lambda i, *_: i < units, add_unit, start, maximum_iterations=units)
    return _last(draws.stack()), total


def _backward(x, b, c, w, v, upstream):
    """Gradients of Σ upstream · log p(x) in x, b, c, W, V."""
    units, rank = _units(x), _rank(x, b, c)
    columns, logits, hidden_bias = _by_unit(x, rank), _by_unit(b, rank), _padded(c, rank)
    batch = _batch_shape(x, b, c)
    rows, width = tf.reduce_prod(batch), w.shape[1]

    def flat(part):
        return tf.reshape(part + tf.zeros(batch, x.dtype), [1, rows])

    def take_unit(i, a, later, in_x, in_b, in_w, in_v):
        x_i = columns[i]
        a -= x_i[..., tf.newaxis] * w[i]
        hidden = tf.sigmoid(a + hidden_bias)
        logit = logits[i] + _decode(hidden, v[i])
        residual = upstream * (x_i - tf.sigmoid(logit))
        hidden = tf.reshape(hidden + tf.zeros(tf.concat([batch, [1]], 0), x.dtype), [rows, width])
        in_w = in_w.write(i, tf.matmul(flat(x_i), later)[0])
        # a sum that XLA fuses with what makes its terms: as a matrix product it takes the whole pass twice as long
        in_v = in_v.write(i, tf.reduce_sum(hidden * tf.reshape(residual, [rows, 1]), 0))
        in_x = in_x.write(i, upstream * logit + tf.reshape(tf.linalg.matvec(later, w[i]), batch))
        later += tf.reshape(residual, [rows, 1]) * (v[i] * (hidden * (1.0 - hidden)))
        later = tf.ensure_shape(later, nothing.shape)  # a loop keeps its static shapes
        return i - 1, a, later, in_x, in_b.write(i, residual), in_w, in_v

    nothing = tf.zeros(tf.stack([rows, width]), x.dtype)
    start = (
        units - 1,
        _padded(_product(x, w), rank),
        nothing,
        *(tf.TensorArray(x.dtype, units) for _ in range(4)),
    )
    _, _, in_c, *parts = tf.while_loop(lambda i, *_: i >= 0, take_unit, start, maximum_iterations=units)
    in_x, in_b, in_w, in_v = (part.stack() for part in parts)
    in_c = tf.reshape(in_c, tf.concat([batch, [width]], 0))
    return sum_like(_last(in_x), x), sum_like(_last(in_b), b), sum_like(in_c, c), in_w, in_v


def _decode(hidden, decoder):
    """V_i · h over the last axis, as one matrix-vector product."""
    shape = tf.shape(hidden)
    flat = tf.reshape(hidden, tf.stack([-1, hidden.shape[-1]]))
    return tf.reshape(tf.linalg.matvec(flat, decoder), shape[:-1])


def _product(x, w):
    """x W for x of any rank."""
    flat = tf.matmul(tf.reshape(x, [-1, w.shape[0]]), w)
    return tf.reshape(flat, tf.concat([tf.shape(x)[:-1], [w.shape[1]]], 0))


def _bernoulli(x, logit):
    """log Bernoulli(x; σ(logit))."""
    return x * logit - tf.nn.relu(logit) - tf.math.log1p(tf.exp(-tf.abs(logit)))


def _units(x):
    return int(x.shape[-1])


def _rank(*parts):
    return max(part.shape.rank for part in parts)


def _padded(part, rank):
    """The tensor with leading axes of length 1, so that it has a rank."""
    return tf.reshape(part, tf.concat([tf.ones([rank - part.shape.rank], tf.int32), tf.shape(part)], 0))


def _by_unit(part, rank):
    """(…, D) as (D, …): what belongs to a unit lies together."""
    part = _padded(part, rank)
    return tf.transpose(part, [rank - 1, *range(rank - 1)])


def _last(part):
    """(D, …) as (…, D)."""
    rank = part.shape.rank
    return tf.transpose(part, [*range(1, rank), 0])


def _batch_shape(*parts):
    shape = tf.constant([], tf.int32)
    for part in parts:
        shape = tf.broadcast_dynamic_shape(shape, tf.shape(part)[:-1])
    return shape
