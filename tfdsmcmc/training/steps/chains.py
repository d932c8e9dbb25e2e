"""Several Markov chains over θ in one program.

Values of C > 1 chains have a leading axis C, those of a single chain have none. The chains take their turns in a loop
of the program: it compiles in the time of one chain and steps in the time of C, and what a kernel, latents or a
proposal do within a step, loops and variables of their own included, they do as for one chain. As one batch, chains
of sigmoid belief networks took thirteen times as long on a CPU, for XLA has no fast product of batches of matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Seed


def over_chains(function: Callable[..., Nest], num_chains: int, arguments: tuple[Nest, ...], like: Nest) -> Nest:
    """The values of a function at the arguments of each chain, as a loop of the program.

    Args:
      function: of the arguments of one chain; what it assigns is assigned chain after chain.
      num_chains: C; of one chain the value is that of the plain call.
      arguments: tuple of nests of tensors (C, …); None stays None.
      like: nest of `tf.TensorSpec`, the value of one chain; None where that is None.

    Returns:
      Nest of tensors (C, …), of the structure of `like`.
    """
    if num_chains == 1:
        return function(*arguments)
    specs = [spec for spec in tf.nest.flatten(like) if spec is not None]

    def advance(c, kept):
        value = function(*of_chain(arguments, c))
        parts = [part for part in tf.nest.flatten(value) if part is not None]
        return c + 1, [array.write(c, part) for array, part in zip(kept, parts, strict=True)]

    kept = [tf.TensorArray(spec.dtype, num_chains, element_shape=spec.shape) for spec in specs]
    # one after the other: what a chain assigns is there for the next
    _, kept = loops.while_loop(lambda c, _: c < num_chains, advance, (0, kept), maximum_iterations=num_chains)
    stacked = (tf.ensure_shape(array.stack(), [num_chains, *spec.shape]) for array, spec in zip(kept, specs))
    return tf.nest.map_structure(lambda spec: None if spec is None else next(stacked), like)


def each_chain(function: Callable[..., Nest], num_chains: int, seed: Seed, *arguments: Nest) -> Nest:
    """The values of a function for each chain, stacked; called once a chain, before a program runs.

    Args:
      function: called as function(*the arguments of a chain, seed=seed).
      num_chains: C; of one chain the value is that of the plain call.
      seed: stateless seed; chain c of several has fold(seed, c).
      *arguments: nests of tensors (C, …).
    """
    if num_chains == 1:
        return function(*arguments, seed=seed)
    values = [function(*of_chain(arguments, c), seed=random.fold(seed, c)) for c in range(num_chains)]
    return tf.nest.map_structure(lambda *parts: tf.stack(parts), *values)


def seeds_of(seed: tf.Tensor, num_chains: int) -> tf.Tensor:
    """A seed for each chain, (C, 2); one chain has `seed` itself."""
    if num_chains == 1:
        return seed
    return tf.stack([random.fold(seed, c) for c in range(num_chains)])


def mean_over_chains(values: Nest, num_chains: int) -> Nest:
    """The mean of each tensor of a nest over the chains."""
    if num_chains == 1:
        return values
    return tf.nest.map_structure(lambda part: tf.reduce_mean(part, 0), values)


def of_chain(values: Nest, c: int | tf.Tensor) -> Nest:
    """Chain c of a nest of tensors (C, …)."""
    return tf.nest.map_structure(lambda part: None if part is None else part[c], values)


def specs_of(values: Nest, num_chains: int) -> Nest:
    """The `tf.TensorSpec` of one chain's part of each tensor of a nest."""
    first = 0 if num_chains == 1 else 1

    def spec(part):
        return None if part is None else tf.TensorSpec(part.shape[first:], part.dtype)

    return tf.nest.map_structure(spec, values)
