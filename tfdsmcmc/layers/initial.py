"""Initial weights that follow a layer's seed."""

from __future__ import annotations

import zlib

import keras


def seeded(initializer, seed, weight):
    """A copy of a Keras initializer whose draws belong to one weight of a layer.

    A Keras initializer repeats its draws at each call: two weights of one shape would start equal.

    Args:
      initializer: Keras initializer; one without a seed is returned as it is.
      seed: integer seed of the layer, or None for the initializer's own.
      weight: name of the weight.
    """
    config = initializer.get_config()
    if "seed" not in config:
        return initializer
    base = config["seed"] if seed is None else seed
    return type(initializer)(**{**config, "seed": zlib.crc32(f"{base}/{weight}".encode())})


def weight(layer, name, shape, initializer):
    """Adds a weight to a layer, drawn by the layer's seed."""
    initializer = seeded(keras.initializers.get(initializer), layer.seed, name)
    return layer.add_weight(name=name, shape=shape, initializer=initializer)
