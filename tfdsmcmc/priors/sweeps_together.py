"""Sweeps of the scales of many weights, with one call for all random numbers of a law.

A call is a loop of the program. One for each weight makes most of what the step of a small network is compiled from.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.priors.base import WeightPrior

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike

_SUMS = (1, 2, 3)  # concentrations of gamma numbers that are drawn as sums of exponential ones


def takes_numbers(prior: WeightPrior) -> bool:
    """Whether its sweep is that of `swept`; a subclass may define `update_auxiliary` anew, or neither."""
    kinds = type(prior).__mro__[: type(prior).__mro__.index(WeightPrior)]
    owner = next((kind for kind in kinds if {"swept", "update_auxiliary"} & set(vars(kind))), None)
    return owner is not None and "swept" in vars(owner)


def updated(triples: Sequence[tuple[WeightPrior, TensorLike, list[TensorLike]]], seed: Seed) -> list[list[tf.Tensor]]:
    """The auxiliary tensors of weights after a sweep of each.

    Args:
      triples: (prior, weight, auxiliary tensors) of each weight; the priors are of those that take numbers.
      seed: integer, or int32 tensor of shape (2,).

    Returns:
      The new auxiliary tensors of each weight.

    Raises:
      ValueError: for a weight whose shape is not known.
    """
    normal_seed, sum_seed, gamma_seed = tf.unstack(random.split(seed, 3))
    values = [floating(value) for _, value, _ in triples]
    for value in values:
        if not value.shape.is_fully_defined():
            raise ValueError(f"A weight with a shrinkage prior has a known shape. Received: shape {value.shape}")
    draws = [prior.sweep_draws(value.shape) for (prior, *_), value in zip(triples, values)]
    dtype = tf.float64 if tf.float64 in {value.dtype for value in values} else tf.float32
    normals = _normals([part.normal for part in draws], normal_seed, dtype)
    gammas = iter(_gammas([pair for part in draws for pair in part.gamma], sum_seed, gamma_seed, dtype))
    swept = []
    for (prior, _, auxiliary), value, normal, part in zip(triples, values, normals, draws):
        own = [tf.cast(next(gammas), value.dtype) for _ in part.gamma]
        swept.append(prior.swept(value, auxiliary, tf.cast(normal, value.dtype), own))
    return swept


def floating(value: TensorLike) -> tf.Tensor:
    """The weight as a float64 tensor where it is one, else float32."""
    value = tf.convert_to_tensor(value)
    return value if value.dtype == tf.float64 else tf.cast(value, tf.float32)


def _normals(shapes, seed, dtype):
    """Standard normal numbers of each shape."""
    return _parted(random.normal([sum(map(math.prod, shapes))], seed, dtype), shapes) if shapes else []


def _gammas(pairs, sum_seed, gamma_seed, dtype):
    """Gamma numbers of each (shape, concentration)."""
    sums = [i for i, (_, concentration) in enumerate(pairs) if concentration in _SUMS]
    others = [i for i in range(len(pairs)) if i not in sums]
    parts = [None] * len(pairs)
    for places, drawn, seed in ((sums, _sums_of_exponentials, sum_seed), (others, _by_rejection, gamma_seed)):
        for i, part in zip(places, drawn([pairs[i] for i in places], seed, dtype) if places else ()):
            parts[i] = part
    return parts


def _sums_of_exponentials(pairs, seed, dtype):
    """Of few whole concentrations k, without rejection: −log u₁…u_k."""
    shapes = [(int(concentration), *shape) for shape, concentration in pairs]
    uniforms = random.open_uniform([sum(map(math.prod, shapes))], seed, dtype)
    return [-tf.math.log(tf.reduce_prod(part, 0)) for part in _parted(uniforms, shapes)]


def _by_rejection(pairs, seed, dtype):
    shapes = [shape for shape, _ in pairs]
    concentration = tf.concat([tf.fill([math.prod(shape)], number) for shape, number in pairs], 0)
    return _parted(random.gamma([sum(map(math.prod, shapes))], concentration, seed, dtype), shapes)


def _parted(numbers, shapes):
    """A flat tensor as tensors of these shapes."""
    parts = tf.split(numbers, [math.prod(shape) for shape in shapes])
    return [tf.reshape(part, shape) for part, shape in zip(parts, shapes)]
