"""Initial weights that follow a layer's seed."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import keras

Initializer: TypeAlias = "Callable[..., Any] | str | dict[str, Any]"  # what Keras takes for an initializer


def initializer_of(identifier: Initializer, seed: int | None) -> Callable[..., Any]:
    """The Keras initializer of a layer's argument: one that is given by name takes the layer's seed.

    Args:
      identifier: as `keras.initializers.get` takes it.
      seed: integer seed of the layer, or None.
    """
    initializer = keras.initializers.get(identifier)
    if seed is not None and isinstance(identifier, str) and hasattr(initializer, "seed"):
        return _with_seed(initializer, seed)
    return initializer


def add_weight(
    layer: keras.layers.Layer,
    name: str,
    shape: Sequence[int],
    initializer: Initializer,
) -> keras.Variable:
    """Adds one of several weights that share an initializer, with draws of its own.

    A Keras initializer repeats its draws at each call: two weights of one shape would start equal, and one of a row
    as the first row of another.
    """
    initializer = keras.initializers.get(initializer)
    if hasattr(initializer, "seed") and isinstance(initializer.seed, int):
        initializer = _with_seed(initializer, zlib.crc32(f"{initializer.seed}/{name}".encode()))
    return layer.add_weight(name=name, shape=shape, initializer=initializer)


def _with_seed(initializer, seed):
    return type(initializer)(**{**initializer.get_config(), "seed": seed})
