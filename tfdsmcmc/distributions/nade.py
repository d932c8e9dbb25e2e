"""The neural autoregressive distribution estimator.

With the units taken in an order, here 1, …, D,

    a_i = c + Σ_{j<i} x_j W_j,      l_i = b_i + V_i · σ(a_i),      p(x) = Π_i Bernoulli(x_i; σ(l_i))

Its log-probability and gradient run over the units one by one, for a block of rows at a time, and hold of each row what
belongs to one a_i. That is r_i = exp(−a_i / 16), for no exponential is taken on the way:

    r_{i+1} = r_i (x_i exp(−W_i / 16) + 1 − x_i)  for x_i of 0 and 1,      σ(a_i) = 1 / (1 + r_i¹⁶)

Of 32-bit numbers r_i has a value for |a_i| up to 1360, where σ(a_i) has long been 0 or 1. A hidden unit that went
beyond may stay so: in the value for the units behind, in the gradient for those before. With a higher root rounding,
which is of r_i, would count. The backward pass needs nothing of the forward pass: it starts from a_{D+1} = c + x W, a
matrix product, takes the factors off again, and makes the logits anew. With u the upstream gradient,
d_i = u (x_i − σ(l_i)), h_i = σ(a_i) and γ_i = ∂/∂a_i of all terms from i on,

    ∂V_i = d_i h_i,    ∂b_i = d_i,    γ_i = γ_{i+1} + d_i V_i h_i (1 − h_i),    ∂W_i = x_i γ_{i+1},
    ∂c = γ_1,          ∂x_i = u l_i + W_i · γ_{i+1}

Source: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import compiling, loops
from tfdsmcmc.distributions.independent_bernoulli import sum_like
from tfdsmcmc.distributions.ordering import check_ordering, in_order, in_place
from tfdsmcmc.distributions.row_blocks import in_blocks
from tfdsmcmc.distributions.sequential import SequentialBernoulli

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

tfd = tfp.distributions

_FARTHEST = 85.0  # of |a|/16 of 32-bit numbers
# Entries of the hidden layer of the rows that are worked off at a time on a CPU. So many stay in the cache.
_BLOCK = 25_000
# In the forward pass, and in no other loop here, XLA makes the hidden layer within its product with V_i. Such a product
# of some 4,400 entries or more it splits between threads, which then wait for one another at each unit. Run
# operation after operation, 500 rows of 784 units and 200 hidden ones took four times as long in such blocks.
_FORWARD_BLOCK = 2_500


class NADE(SequentialBernoulli):
    """Binary units, each given those before it through one shared hidden layer.

    Values are 0 and 1: what `log_prob` makes of others is no density.

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
        logits: TensorLike,
        hidden_bias: TensorLike,
        encoder: TensorLike,
        decoder: TensorLike,
        ordering: Sequence[int] | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NADE",
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

    def conditional_logits(self, x: TensorLike) -> tf.Tensor:
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
    batch, entries = _batch_shape(x, b, c), _FORWARD_BLOCK if compiling.by_xla() else _BLOCK

    def of_block(x, b, c):
        return (_forward_rows(x, b, c, w, v, keep_logits),), ()

    ((found,), _) = _in_blocks(of_block, [_rows(part, batch) for part in (x, b, c)], w, 1, entries)
    return tf.reshape(found, tf.concat([batch, tf.shape(found)[1:]], 0))


def _forward_rows(x, b, c, w, v, keep_logits):
    """For x and b (rows, D) and c (rows, H)."""
    columns, factors = tf.transpose(x), _factors(-w)

    def add_unit(i, r, scores):
        scores = scores.write(i, tf.linalg.matvec(_hidden(r), v[i]))
        return _followed(r, columns[i], factors[i]), scores

    _, scores = _over_units(add_unit, _units(x), _factors(-c), tf.TensorArray(x.dtype, _units(x)))
    logits = tf.transpose(b) + scores.stack()
    return tf.transpose(logits) if keep_logits else tf.reduce_sum(_bernoulli(columns, logits), 0)


def _sample(n, b, c, w, v, seed):
    """n draws (n, …, D) and their log-probabilities (n, …)."""
    batch = tf.concat([[n], _batch_shape(b, c)], 0)
    uniform = random.open_uniform(tf.concat([[_units(b)], batch], 0), seed)
    uniform = tf.transpose(tf.reshape(uniform, [_units(b), tf.reduce_prod(batch)]))

    def of_block(b, c, uniform):
        return _sample_rows(b, c, uniform, w, v), ()

    parts = [_rows(b, batch), _rows(c, batch), uniform]
    (x, log_prob), _ = _in_blocks(of_block, parts, w, 2, _BLOCK)
    return tf.reshape(x, tf.concat([batch, [_units(b)]], 0)), tf.reshape(log_prob, batch)


def _sample_rows(b, c, uniform, w, v):
    """The draws and their log-probabilities, for b and the uniform numbers (rows, D) and c (rows, H)."""
    columns, biases, factors = tf.transpose(uniform), tf.transpose(b), _factors(-w)

    def add_unit(i, r, logits, draws):
        logit = biases[i] + tf.linalg.matvec(_hidden(r), v[i])
        x_i = tf.cast(columns[i] < tf.cast(tf.sigmoid(logit), tf.float32), b.dtype)
        return _followed(r, x_i, factors[i]), logits.write(i, logit), draws.write(i, x_i)

    kept = [tf.TensorArray(b.dtype, _units(b)) for _ in range(2)]
    _, logits, draws = _over_units(add_unit, _units(b), _factors(-c), *kept)
    draws = draws.stack()
    return tf.transpose(draws), tf.reduce_sum(_bernoulli(draws, logits.stack()), 0)


def _over_units(add_unit, units, *state):
    """`add_unit(i, *state) → state` for all units."""

    def add(i, *state):
        return i + 1, *add_unit(i, *state)

    return loops.while_loop(lambda i, *_: i < units, add, (0, *state), maximum_iterations=units)[1:]


def _backward(x, b, c, w, v, upstream):
    """Gradients of Σ upstream · log p(x) in x, b, c, W, V."""
    batch, end = _batch_shape(x, b, c), tf.tensordot(x, w, 1) + c
    parts = [_rows(part, batch) for part in (x, b, end, upstream[..., tf.newaxis])]
    sums = (tf.zeros_like(w), tf.zeros_like(v))
    of_rows, in_weights = _in_blocks(lambda *block: _backward_rows(*block, w, v), parts, w, 3, _BLOCK, sums)

    def like(gradient, part):
        return sum_like(tf.reshape(gradient, tf.concat([batch, tf.shape(part)[-1:]], 0)), part)

    return *(like(gradient, part) for gradient, part in zip(of_rows, (x, b, c), strict=True)), *in_weights


def _backward_rows(x, b, end, upstream, w, v):
    """The gradients in x, b and c, and those in W and V.

    For x and b (rows, D), end = a_{D+1} (rows, H) and upstream (rows, 1).
    """
    units, columns, biases, nothing = _units(x), tf.transpose(x), tf.transpose(b), tf.zeros_like(end)
    factors = _factors(w)

    def take_unit(i, r, later, logits, in_x, in_b, in_w, in_v):
        x_i, before = columns[i], tf.maximum(i - 1, 0)
        r = _followed(r, x_i, factors[i])
        hidden = _hidden(r)
        logit = biases[i] + tf.linalg.matvec(hidden, v[i])
        residual = upstream[:, 0] * (x_i - tf.sigmoid(logit))
        in_v = in_v.write(i, _sum_of_rows(residual, hidden))
        later += residual[:, tf.newaxis] * (v[i] * (hidden * (1.0 - hidden)))
        later = tf.ensure_shape(later, nothing.shape)  # a loop keeps its static shapes
        # ∂x and ∂W of the unit before need γ_i: in its own turn both γ_i and γ_{i-1} were held, which costs a copy
        in_x = in_x.write(i, tf.linalg.matvec(later, w[before]))
        in_w = in_w.write(i, _sum_of_rows(columns[before], later))
        return i - 1, r, later, logits.write(i, logit), in_x, in_b.write(i, residual), in_w, in_v

    start = (units - 1, _factors(-end), nothing, *(tf.TensorArray(x.dtype, units) for _ in range(5)))
    _, _, in_c, *parts = loops.while_loop(lambda i, *_: i >= 0, take_unit, start, maximum_iterations=units)
    logits, in_x, in_b, in_w, in_v = (part.stack() for part in parts)
    in_x, in_w = upstream[:, 0] * logits + _of_unit_before(in_x), _of_unit_before(in_w)
    return (tf.transpose(in_x), tf.transpose(in_b), in_c), (in_w, in_v)


def _sum_of_rows(factors, values):
    """Σ_rows factors · values, for factors (rows,) and values (rows, H)."""
    return tf.matmul(factors[tf.newaxis], values)[0]


def _of_unit_before(parts):
    """Parts (D, …) that each unit made for the one before it, in the places of those; none made one for the last."""
    return tf.concat([parts[1:], tf.zeros_like(parts[:1])], 0)


def _in_blocks(function, parts, w, count, entries, sums=()):
    return in_blocks(function, parts, max(1, entries // w.shape[1]), count, sums)


def _factors(a):
    """exp(a / 16), for no a infinite or 0, so that no product is undefined."""
    return tf.exp(tf.clip_by_value(a / 16.0, -_FARTHEST, _FARTHEST))


def _followed(r, x_i, factor):
    """r of the next a, where W_i is added for x_i = 1; there it is the product to the last bit."""
    x_i = x_i[:, tf.newaxis]
    return r * (x_i * factor + (1.0 - x_i))


def _hidden(r):
    """σ(a) of r = exp(−a / 16)."""
    fourth = tf.square(tf.square(r))
    return 1.0 / (1.0 + tf.square(tf.square(fourth)))


def _bernoulli(x, logit):
    """log Bernoulli(x; σ(logit))."""
    return x * logit - tf.nn.relu(logit) - tf.math.log1p(tf.exp(-tf.abs(logit)))


def _units(x):
    return int(x.shape[-1])


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
