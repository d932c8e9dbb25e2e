"""The neural autoregressive distribution estimator.

With the units taken in an order, here 1, …, D,

    a_i = c + Σ_{j<i} x_j W_j,      l_i = b_i + V_i · σ(a_i),      p(x) = Π_i Bernoulli(x_i; σ(l_i))

Its log-probability and gradient run over the units one by one, and hold one a_i at a time. The backward pass needs
nothing of the forward pass: for a block of rows at a time it starts from a_{D+1} = c + x W, a matrix product, takes the
terms off again, and makes the logits anew. With u the upstream gradient, d_i = u (x_i − σ(l_i)), h_i = σ(a_i) and
γ_i = ∂/∂a_i of all terms from i on,

    ∂V_i = d_i h_i,    ∂b_i = d_i,    γ_i = γ_{i+1} + d_i V_i h_i (1 − h_i),    ∂W_i = x_i γ_{i+1},
    ∂c = γ_1,          ∂x_i = u l_i + W_i · γ_{i+1}

Source: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011.
"""

from __future__ import annotations

import functools

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc.distributions.independent_bernoulli import sum_like
from tfdsmcmc.distributions.ordering import check_ordering, in_order, in_place
from tfdsmcmc.distributions.sequential import SequentialBernoulli

tfd = tfp.distributions

# entries of the hidden layer that the backward pass holds at a time on a CPU, rows × hidden units: they stay in the
# cache, and XLA leaves loops over them to one thread, where two would spend as long waiting for one another
_BLOCK = 25_000


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
    batch = _batch_shape(x, b, c)
    of_rows = [_rows(part, batch) for part in (x, b, c, upstream[..., tf.newaxis])]
    in_x, in_b, in_c, in_w, in_v = _in_blocks(*of_rows, w, v)

    def like(gradient, part):
        return sum_like(tf.reshape(gradient, tf.concat([batch, tf.shape(part)[-1:]], 0)), part)

    return like(in_x, x), like(in_b, b), like(in_c, c), in_w, in_v


def _in_blocks(x, b, c, upstream, w, v):
    """`_backward_rows` for blocks of rows one after the other; of x, b and c a gradient for each row."""
    rows, limit = x.shape[0], max(1, _BLOCK // w.shape[1])
    if rows is not None and rows <= limit or tf.config.get_visible_devices("GPU"):
        return _backward_rows(x, b, c, upstream, w, v)
    rows = tf.shape(x)[0] if rows is None else rows
    blocks = -(-rows // limit) if isinstance(rows, int) else tf.maximum(-(-rows // limit), 1)
    size = -(-rows // blocks)
    # rows of zeros fill the last block: without upstream they add nothing
    parts = [tf.pad(part, [[0, blocks * size - rows], [0, 0]]) for part in (x, b, c, upstream)]
    parts = [tf.reshape(part, [blocks, size, part.shape[1]]) for part in parts]

    def add_block(block, in_w, in_v, *of_rows):
        *more, more_w, more_v = _backward_rows(*(part[block] for part in parts), w, v)
        return block + 1, in_w + more_w, in_v + more_v, *(kept.write(block, m) for kept, m in zip(of_rows, more))

    start = (0, tf.zeros_like(w), tf.zeros_like(v), *(tf.TensorArray(x.dtype, blocks) for _ in range(3)))
    _, in_w, in_v, *of_rows = tf.while_loop(lambda i, *_: i < blocks, add_block, start, maximum_iterations=blocks)
    of_rows = [tf.reshape(kept.stack(), [-1, part.shape[1]])[:rows] for kept, part in zip(of_rows, (x, b, c))]
    return *of_rows, in_w, in_v


def _backward_rows(x, b, c, upstream, w, v):
    """The gradients for x and b (rows, D), c (rows, H) and upstream (rows, 1)."""
    units, columns, logits, nothing = _units(x), tf.transpose(x), tf.transpose(b), tf.zeros_like(c)

    def take_unit(i, a, later, in_x, in_b, in_w, in_v):
        x_i = columns[i]
        a -= x_i[:, tf.newaxis] * w[i]
        hidden = tf.sigmoid(a)
        logit = logits[i] + tf.linalg.matvec(hidden, v[i])
        residual = upstream[:, 0] * (x_i - tf.sigmoid(logit))
        in_w = in_w.write(i, tf.matmul(x_i[tf.newaxis], later)[0])
        # a sum that XLA fuses with what makes its terms: as a matrix product it takes the whole pass twice as long
        in_v = in_v.write(i, tf.reduce_sum(hidden * residual[:, tf.newaxis], 0))
        in_x = in_x.write(i, upstream[:, 0] * logit + tf.linalg.matvec(later, w[i]))
        later += residual[:, tf.newaxis] * (v[i] * (hidden * (1.0 - hidden)))
        later = tf.ensure_shape(later, nothing.shape)  # a loop keeps its static shapes
        return i - 1, a, later, in_x, in_b.write(i, residual), in_w, in_v

    start = (units - 1, tf.matmul(x, w) + c, nothing, *(tf.TensorArray(x.dtype, units) for _ in range(4)))
    _, _, in_c, *parts = tf.while_loop(lambda i, *_: i >= 0, take_unit, start, maximum_iterations=units)
    in_x, in_b, in_w, in_v = (part.stack() for part in parts)
    return tf.transpose(in_x), tf.transpose(in_b), in_c, in_w, in_v


def _decode(hidden, decoder):
    """V_i · h over the last axis, as one matrix-vector product."""
    shape = tf.shape(hidden)
    flat = tf.reshape(hidden, tf.stack([-1, hidden.shape[-1]]))
    return tf.reshape(tf.linalg.matvec(flat, decoder), shape[:-1])


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


def _rows(part, batch):
    """The tensor with the leading axes `batch`, as (rows, its last axis)."""
    whole = tf.broadcast_to(part, tf.concat([batch, tf.shape(part)[-1:]], 0))
    static = tf.get_static_value(batch)
    rows = tf.reduce_prod(batch) if static is None else int(np.prod(static))
    return tf.reshape(whole, [rows, part.shape[-1]])


def _batch_shape(*parts):
    """The leading axes, int32: a constant where they are known."""
    static = [part.shape[:-1] for part in parts]
    if all(shape.is_fully_defined() for shape in static):
        return tf.constant(functools.reduce(tf.broadcast_static_shape, static).as_list(), tf.int32)
    return functools.reduce(tf.broadcast_dynamic_shape, [tf.shape(part)[:-1] for part in parts])
