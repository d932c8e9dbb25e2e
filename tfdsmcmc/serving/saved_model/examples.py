"""Requests to try a SavedModel with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc.serving.saved_model.inputs import Data

ROWS, COUNT = 2, 3


def example(specs: Mapping[str, tf.TensorSpec], data: Data) -> dict[str, np.ndarray]:
    """Inputs that fit a signature, a dictionary of arrays; packed data are the same data, packed.

    Args:
      specs: dictionary of `tf.TensorSpec`, the signature's inputs.
      data: `Data`.
    """
    places, support = np.arange(ROWS * data.units).reshape(ROWS, data.units), data.support
    made = {"x": support.mode(np.float32(places % 3 == 0)), "mask": support.whole(places % 2 == 0)}
    if data.context is not None:
        pattern = np.arange(COUNT * data.context.units).reshape(COUNT, data.context.units) % 3 == 0
        count = ROWS if "x" in specs or specs["seed"].shape.rank == 2 else COUNT
        made["context"] = data.context.support.mode(np.float32(pattern))[:count]
    for name, spec in specs.items():
        shape = [ROWS if size is None else size for size in spec.shape]
        if name == "seed":
            made[name] = np.arange(np.prod(shape)).reshape(shape) + 1
        elif name not in made:  # a count
            made[name] = np.full(shape, COUNT)
    packed = {name for name, spec in specs.items() if spec.dtype.name == "uint8"}
    made = {name: np.packbits(made[name].astype(bool), axis=1) if name in packed else made[name] for name in specs}
    return {name: value.astype(specs[name].dtype.as_numpy_dtype) for name, value in made.items()}
