"""Exact answers by enumeration of the smaller layer.

With h the units of that layer (its machine transposed where the visible layer is the smaller one),

    log Z = log Σ_h exp(a'h) Π_i (1 + exp(b_i + (W h)_i))

The units are split into two halves, h = (k, l): b + W h = u(k) + w(l), each half tabulated once. For all l at once the
factors are 1 + exp(u_i(k)) exp(w_i(l)), products of numbers that stand in tables, so that only one logarithm is taken
for a group of factors; its size is such that no product overflows. Everything is float64.
"""

from __future__ import annotations

import functools
import math

import numpy as np
import tensorflow as tf

from tfdsmcmc import compiling, random
from tfdsmcmc.boltzmann.machine import Machine
from tfdsmcmc.finite import check_finite

MOST_UNITS = 25
_LARGEST_EXPONENT = 600.0  # exp of it is far below the largest float64
_COMPILED_FROM = 10_000_000  # terms; fewer take less time than a compiler


def exact_log_partition(rbm) -> float:
    """log Z of a machine one of whose layers has at most 25 units.

    Args:
      rbm: `RBM`, or a `Machine`.

    Returns:
      log Z, a float.

    Raises:
      ValueError: if both layers are larger, or weights are not finite.

    Example:

    >>> import tfdsmcmc as ds
    >>> round(ds.boltzmann.exact_log_partition(ds.boltzmann.RBM(3, 2)), 1)  # small weights: near 5 log 2
    3.5
    """
    return float(np.logaddexp.reduce(_log_sums(_enumerable(machine_of(rbm))[0])))


def exact_draws(rbm, num_draws, seed):
    """Independent draws of the visible units, by enumeration: (num_draws, D) float32.

    Args:
      rbm: `RBM`, or a `Machine`, one of whose layers has at most 25 units.
      num_draws: how many.
      seed: integer, or int32 tensor of shape (2,).

    Raises:
      ValueError: as `exact_log_partition`.
    """
    machine = machine_of(rbm)
    small, is_visible = _enumerable(machine)
    seeds = tf.unstack(random.split(random.as_seed(seed), 3))
    uniforms = [random.uniform([num_draws], each, tf.float64).numpy() for each in seeds[:2]]
    first, second = _halves(small)
    outer = _chosen(_log_sums(small), uniforms[0])
    inner = np.array([_chosen(row, u) for row, u in zip(_rows(_tables(small), outer), uniforms[1])])
    h = np.concatenate([first[outer], second[inner]], 1).astype(np.float32)
    return h if is_visible else random.bernoulli(machine.visible_logits(tf.constant(h)), seeds[2]).numpy()


def is_enumerable(rbm) -> bool:
    """Whether one of the layers has at most 25 units."""
    return min(machine_of(rbm).kernel.shape) <= MOST_UNITS


def machine_of(rbm) -> Machine:
    """The weights of an `RBM`, or a `Machine` itself, checked."""
    machine = rbm if isinstance(rbm, Machine) else getattr(rbm, "machine", None)
    if not isinstance(machine, Machine):
        raise ValueError(f"rbm must be an RBM. Received: {type(rbm).__name__}")
    check_finite("the machine's weights", machine)
    return Machine(*(tf.cast(part, tf.float32) for part in machine))


def _enumerable(machine):
    """(the machine in float64 with its smaller layer as the hidden one, whether that is the visible layer)."""
    if not is_enumerable(machine):
        raise ValueError(
            f"Enumeration takes a layer of at most {MOST_UNITS} units; log_partition estimates. "
            f"Received: layers of {machine.kernel.shape[0]} and {machine.kernel.shape[1]} units"
        )
    visible_is_smaller = machine.kernel.shape[0] < machine.kernel.shape[1]
    small = machine.transposed() if visible_is_smaller else machine
    return Machine(*(tf.cast(part, tf.float64) for part in small)), visible_is_smaller


def _halves(machine):
    """All states of the two halves of the hidden units, (2^⌊M/2⌋, ⌊M/2⌋) and (2^⌈M/2⌉, ⌈M/2⌉)."""
    units = int(machine.kernel.shape[1])
    return [np.arange(2**n)[:, np.newaxis] >> np.arange(n) & 1 for n in (units // 2, units - units // 2)]


def _tables(machine):
    """(a'k, u(k), a'l, w(l)): of each half its share of a'h and of b + W h."""
    kernel, bias, hidden_bias = (part.numpy() for part in machine)
    first, second = _halves(machine)
    cut = first.shape[1]
    return (
        first @ hidden_bias[:cut],
        first @ kernel[:, :cut].T + bias,
        second @ hidden_bias[cut:],
        second @ kernel[:, cut:].T,
    )


def _log_sums(machine):
    """log Σ_l exp log p*(k, l) for each k."""
    linear, fields, *inner = tables = _tables(machine)
    if not _is_large(tables):
        return np.array([linear[k] + np.logaddexp.reduce(_row(*tables, k)) for k in range(len(linear))])
    return _sums_of_rows(*map(tf.constant, tables), group=_group_size(fields, inner[1])).numpy()


def _group_size(fields, others):
    """How many factors 1 + exp(x) may be multiplied: a divisor of their number; 0 where not even one is safe."""
    largest = float((np.abs(fields).max(0) + np.abs(others).max(0)).max()) + math.log(2.0)
    units = fields.shape[1]
    return max((size for size in range(1, 17) if units % size == 0 and size * largest < _LARGEST_EXPONENT), default=0)


@functools.partial(compiling.program, jit_compile=True)
def _sums_of_rows(linear, fields, inner_linear, inner_fields, group):
    sums = tf.TensorArray(tf.float64, linear.shape[0], element_shape=[])

    def row(k, sums):
        softplus = _sum_softplus(fields[k], inner_fields, group)
        return k + 1, sums.write(k, tf.reduce_logsumexp(linear[k] + inner_linear + softplus))

    return tf.while_loop(lambda k, _: k < linear.shape[0], row, (0, sums))[1].stack()


def _sum_softplus(field, others, group):
    """Σ_i log(1 + exp(u_i + w_i)) for one u, (D,), and many w, (n, D)."""
    if not group:
        return tf.reduce_sum(tf.nn.softplus(field + others), -1)
    factors = 1.0 + tf.exp(field) * tf.exp(others)
    return tf.reduce_sum(tf.math.log(tf.reduce_prod(tf.reshape(factors, [others.shape[0], group, -1]), 1)), -1)


@functools.partial(compiling.program, jit_compile=True)
def _row_of(field, inner_linear, inner_fields, group):
    return inner_linear + _sum_softplus(field, inner_fields, group)


def _rows(tables, places):
    """Yields log p*(k, l) for all l, up to a constant, of each place k."""
    if not _is_large(tables):
        yield from (_row(*tables, k) for k in places)
        return
    _, fields, *inner = tables
    group, inner = _group_size(fields, inner[1]), [tf.constant(part) for part in inner]
    for k in places:
        yield _row_of(tf.constant(fields[k]), *inner, group=group).numpy()


def _is_large(tables):
    _, fields, inner_linear, _ = tables
    return fields.size * len(inner_linear) >= _COMPILED_FROM


def _row(linear, fields, inner_linear, inner_fields, k):
    """log p*(k, l) for all l, up to a constant for each k."""
    return inner_linear + np.logaddexp(0.0, fields[k] + inner_fields).sum(1)


def _chosen(log_weights, uniforms):
    """The place into whose cumulated share each u falls."""
    shares = np.exp(log_weights - log_weights.max())
    cumulated = np.cumsum(shares)
    return np.minimum(np.searchsorted(cumulated, uniforms * cumulated[-1], side="right"), len(shares) - 1)
