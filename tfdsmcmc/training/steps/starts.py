"""Where further chains start: at weights that the layers' own initializers draw, from other seeds.

R̂ compares chains that start apart, more widely than the posterior is spread. Fresh initial weights do start apart, in
whatever an initializer draws; what it sets to a constant, as biases by default, starts equal in all chains.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from tfdsmcmc import random
from tfdsmcmc._common.reasons import reason_of

if TYPE_CHECKING:
    import keras
    import numpy as np

    from tfdsmcmc._common.types import Seed

_NOT_MADE = "Several chains start at draws of the layers' initializers, which must be made from their configurations. "


def fresh_weights(network: keras.layers.Layer, seed: Seed) -> list[np.ndarray]:
    """Initial values of the trainable weights of a network, in the order of its `trainable_variables`.

    Args:
      network: `GenerativeNetwork` or `RecognitionNetwork`, built; it is not changed.
      seed: stateless seed. Initializers given without a seed follow it too.

    Returns:
      List of arrays.
    """
    # a Keras initializer repeats the draws of its seed, so a twin of each layer has other seeds throughout
    number = int(random.integers([], 2**31 - 1, seed))
    values = []
    for place, layer in enumerate(network.layers):
        try:
            twin = type(layer).from_config(_reseeded(layer.get_config(), f"{number}/{place}"))
            twin.build((None, layer.parent_units))
            drawn = [new.numpy() for new in twin.weights]
        except Exception as error:  # of a user's own layer
            raise ValueError(_NOT_MADE + f"Received: layer {layer.name!r} ({reason_of(error)})") from error
        if [part.shape for part in drawn] != [tuple(own.shape) for own in layer.weights]:
            raise ValueError(_NOT_MADE + f"Received: layer {layer.name!r}, of other weights than its twin")
        # a single variable may be frozen, of which a twin knows nothing
        values += [new for own, new in zip(layer.weights, drawn, strict=True) if own.trainable]
    return values


def _reseeded(config, path):
    """The configuration with every entry "seed" replaced by a number of its own."""
    if isinstance(config, dict):
        return {
            key: zlib.crc32(f"{path}/{key}".encode()) & 0x7FFFFFFF if key == "seed" else _reseeded(v, f"{path}/{key}")
            for key, v in config.items()
        }
    if isinstance(config, (list, tuple)):
        return type(config)(_reseeded(value, f"{path}/{i}") for i, value in enumerate(config))
    return config
