"""Exact answers by enumeration of the layer that has fewer states; of two Gaussian layers see `gaussian_pair`.

With h the units of that layer (its machine transposed where the visible layer is that one), and Γ of the other layer,

    log Z = log Σ_h exp(a'h + Γ(b + W h)),      of binary units log Σ_h exp(a'h) Π_i (1 + exp(b_i + (W h)_i))

The units are split into two halves, h = (k, l): b + W h = u(k) + w(l), each half tabulated once. Of binary units, for
all l at once, the factors are 1 + exp(u_i(k)) exp(w_i(l)), products of numbers that stand in tables, so that only one
logarithm is taken for a group of factors; its size is such that no product overflows. Everything is float64.
"""

from __future__ import annotations

import functools
import math
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, compiling, loops
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.boltzmann.machines.machine import Machine
from tfdsmcmc.boltzmann.partition import gaussian_pair
from tfdsmcmc.boltzmann.units import Binary

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.densities.machine import MachineDensity
    from tfdsmcmc.boltzmann.machines.rbm import RBM

MOST_UNITS = 25
_LARGEST_EXPONENT = 600.0  # exp of it is far below the largest float64
_COMPILED_FROM = 10_000_000  # terms; fewer take less time than a compiler
_ROUNDING = 1e-9
_MOST = MOST_UNITS * math.log(2.0) + _ROUNDING
_BINARY = Binary()


def exact_log_partition(rbm: RBM | Machine | MachineDensity) -> float:
    """log Z of a machine one of whose layers has at most 25 binary units, or as many states of others.

    It is exact of two Gaussian layers too, of any width.

    Args:
      rbm: `RBM`, or a `Machine`.

    Returns:
      log Z, a float.

    Raises:
      ValueError: if both layers have more states, weights are not finite, or two Gaussian layers have no log Z.

    Example:

    >>> import tfdsmcmc as ds
    >>> round(ds.boltzmann.exact_log_partition(ds.boltzmann.RBM(3, 2)), 1)  # small weights: near 5 log 2
    3.5
    """
    machine = machine_of(rbm)
    if gaussian_pair.is_pair(machine):
        return gaussian_pair.log_partition(machine)
    return float(np.logaddexp.reduce(_log_sums(_enumerable(machine)[0])))


def exact_draws(rbm: RBM | Machine | MachineDensity, num_draws: int, seed: Seed) -> np.ndarray:
    """Independent draws of the visible units, (num_draws, D) float32.

    Args:
      rbm: `RBM`, or a `Machine`, that `is_enumerable`.
      num_draws: how many.
      seed: integer, or int32 tensor of shape (2,).

    Raises:
      ValueError: as `exact_log_partition`, or for a number that is no positive integer.
    """
    machine, num_draws = machine_of(rbm), checks.positive_integer("num_draws", num_draws)
    if gaussian_pair.is_pair(machine):
        return gaussian_pair.draws(machine, num_draws, random.as_seed(seed))
    small, is_visible = _enumerable(machine)
    seeds = tf.unstack(random.split(random.as_seed(seed), 3))
    uniforms = [random.uniform([num_draws], each, tf.float64).numpy() for each in seeds[:2]]
    first, second = _halves(small)
    outer = _chosen(_log_sums(small), uniforms[0])
    inner = _chosen_within(small, outer, uniforms[1])
    h = np.concatenate([first[outer], second[inner]], 1).astype(np.float32)
    return h if is_visible else machine.visible.drawn(seeds[2], num_draws, *machine.visible_law(tf.constant(h))).numpy()


def is_enumerable(rbm: RBM | Machine | MachineDensity) -> bool:
    """Whether there are exact answers: one of the layers has at most 2^25 states, or both are Gaussian."""
    machine = machine_of(rbm)
    return gaussian_pair.is_pair(machine) or min(_log_states(machine)) <= _MOST


def machine_of(rbm: RBM | Machine | MachineDensity) -> Machine:
    """The weights of an `RBM`, or a `Machine` itself, checked."""
    machine = rbm if isinstance(rbm, Machine) else getattr(rbm, "machine", None)
    if not isinstance(machine, Machine):
        raise ValueError(f"rbm must be an RBM. Received: {type(rbm).__name__}")
    check_finite("the machine's weights", machine)
    gaussian_pair.check(machine)
    return machine.cast(tf.float32)


def _log_states(machine):
    """log of the number of states of the visible and of the hidden layer."""
    return [kind.log_states(int(n)) for kind, n in zip((machine.visible, machine.hidden), machine.kernel.shape)]


def _enumerable(machine):
    """(the machine in float64 with the layer of fewer states as the hidden one, whether that is the visible layer)."""
    if not is_enumerable(machine):
        units, hidden_units = machine.kernel.shape
        raise ValueError(
            f"Enumeration takes a layer of at most {MOST_UNITS} binary units, or as many states of others; "
            f"log_partition estimates. Received: {units} {machine.visible!r}, {hidden_units} {machine.hidden!r}"
        )
    visible, hidden = _log_states(machine)
    small = machine.transposed() if visible < hidden else machine
    return small.cast(tf.float64), visible < hidden


def _halves(machine):
    """All states of the two halves of the hidden units; of M binary ones (2^⌊M/2⌋, ⌊M/2⌋) and (2^⌈M/2⌉, ⌈M/2⌉)."""
    values = machine.hidden.values(int(machine.kernel.shape[1]))
    logs = np.cumsum([0.0, *(np.log(len(each)) for each in values)])
    cut = int(np.searchsorted(logs, logs[-1] / 2 * (1 + _ROUNDING), side="right")) - 1
    return _states(values[:cut]), _states(values[cut:])


def _states(values):
    """All states of units that have these values, (S, entries), the first unit changing fastest."""
    states = np.zeros([1, 0])
    for each in values:
        states = np.concatenate([np.tile(states, (len(each), 1)), np.repeat(each, len(states), 0)], 1)
    return states


def _tables(machine):
    """(a'k, u(k), a'l, w(l)): of each half its share of a'h and of b + W h."""
    kernel, bias, hidden_bias = (part.numpy() for part in machine[:3])
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
        rows = _rows(machine, tables, range(len(linear)))
        return np.array([constant + np.logaddexp.reduce(row) for constant, row in zip(linear, rows)])
    group, rest = _group_size(fields, inner[1]), machine.visible_natural[1:]
    return _sums_of_rows(*map(tf.constant, tables), group=group, units=machine.visible, rest=rest).numpy()


def _group_size(fields, others):
    """How many factors 1 + exp(x) may be multiplied: a divisor of their number; 0 where not even one is safe."""
    largest = float((np.abs(fields).max(0) + np.abs(others).max(0)).max()) + math.log(2.0)
    units = fields.shape[1]
    return max((size for size in range(1, 17) if units % size == 0 and size * largest < _LARGEST_EXPONENT), default=0)


@functools.partial(compiling.program, jit_compile=True)
def _sums_of_rows(linear, fields, inner_linear, inner_fields, group, units=_BINARY, rest=()):
    sums = tf.TensorArray(tf.float64, linear.shape[0], element_shape=[])

    def row(k, sums):
        found = _cumulants(fields[k], inner_fields, group, units, rest)
        return k + 1, sums.write(k, tf.reduce_logsumexp(linear[k] + inner_linear + found))

    return loops.while_loop(lambda k, _: k < linear.shape[0], row, (0, sums))[1].stack()


def _cumulants(field, others, group, units, rest):
    """Γ(u + w) for one u, (D,), and many w, (n, D); of binary units Σ_i log(1 + exp(u_i + w_i))."""
    if units != _BINARY:
        return units.cumulant(field + others, *rest)
    if not group:
        return tf.reduce_sum(tf.nn.softplus(field + others), -1)
    factors = 1.0 + tf.exp(field) * tf.exp(others)
    return tf.reduce_sum(tf.math.log(tf.reduce_prod(tf.reshape(factors, [others.shape[0], group, -1]), 1)), -1)


@functools.partial(compiling.program, jit_compile=True)
def _row_of(field, inner_linear, inner_fields, group, units, rest):
    return inner_linear + _cumulants(field, inner_fields, group, units, rest)


def _rows(machine, tables, places):
    """Yields log p*(k, l) for all l, up to a constant, of each place k."""
    _, fields, *inner = tables
    units, rest = machine.visible, machine.visible_natural[1:]
    if not _is_large(tables) and units == _BINARY:
        yield from (inner[0] + np.logaddexp(0.0, fields[k] + inner[1]).sum(1) for k in places)
        return
    run = _row_of if _is_large(tables) else _row_of.python_function
    group, inner = _group_size(fields, inner[1]), [tf.constant(part) for part in inner]
    for k in places:
        yield run(tf.constant(fields[k]), *inner, group=group, units=units, rest=rest).numpy()


def _is_large(tables):
    _, fields, inner_linear, _ = tables
    return fields.size * len(inner_linear) >= _COMPILED_FROM


def _chosen_within(machine, outer, uniforms):
    """For each place k of some the place l given k, by a u for each; all of one k at once."""
    order = np.argsort(outer, kind="stable")
    found, firsts = np.unique(outer[order], return_index=True)
    inner = np.empty(len(outer), np.int64)
    rows = _rows(machine, _tables(machine), found)
    for row, those in zip(rows, np.split(order, firsts[1:])):
        inner[those] = _chosen(row, uniforms[those])
    return inner


def _chosen(log_weights, uniforms):
    """The place into whose cumulated share each u falls."""
    shares = np.exp(log_weights - log_weights.max())
    cumulated = np.cumsum(shares)
    return np.minimum(np.searchsorted(cumulated, uniforms * cumulated[-1], side="right"), len(shares) - 1)
