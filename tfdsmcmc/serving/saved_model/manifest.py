"""`assets/manifest.json`: what a SavedModel holds, for people and for programs that show it."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc._common import checks

if TYPE_CHECKING:
    from tfdsmcmc.serving.saved_model.content import Content

FORMAT = 1


def manifest(
    content: Content, name: str, signatures: Mapping[str, Any], settings: dict, figures: dict, shape: list
) -> str:
    """The text; `signatures` are concrete functions, `settings` and `figures` come on top of the content's own."""
    data, said = content.data, content.described

    def described(tensors):
        return {key: {"type": t.dtype.name, "shape": t.shape.as_list()} for key, t in tensors.items()}

    found = {
        "format": FORMAT,
        "name": name,
        "model": said["model"],
        "data_shape": shape,
        "units": data.units,
        "binary": data.support.bits,
        "context": 0 if data.context is None else data.context.units,
        "posterior": said["posterior"],
        "settings": said["settings"] | settings,
        "figures": said["figures"] | figures,
        "signatures": {
            key: {"inputs": described(f.structured_input_signature[1]), "outputs": described(f.structured_outputs)}
            for key, f in signatures.items()
        },
        "versions": {
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
            "tensorflow_probability": tfp.__version__,
            "tfdsmcmc": sys.modules["tfdsmcmc"].__version__,
        },
    }
    return json.dumps(found, indent=2) + "\n"


def checked_shape(data_shape: Sequence[int] | None, units: int) -> list[int]:
    """The shape of a row as a list of integers whose product is `units`; [units] for None. Else a ValueError."""
    try:
        shape = [units] if data_shape is None else [checks.positive_integer("data_shape", n) for n in data_shape]
    except (TypeError, ValueError):
        raise ValueError(f"data_shape is a sequence of positive integers. Received: {data_shape!r}") from None
    if math.prod(shape) != units:
        raise ValueError(f"data_shape must have {units} entries in all. Received: {data_shape!r}")
    return shape


def checked_figures(figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """The figures as plain numbers and words; a ValueError for what JSON cannot hold."""

    def plain(value):
        if isinstance(value, (np.ndarray, np.generic)):
            return value.tolist()
        raise TypeError(type(value).__name__)

    try:
        return json.loads(json.dumps(dict(figures or {}), default=plain, allow_nan=False))
    except (TypeError, ValueError):
        raise ValueError(f"figures is a dictionary of numbers and words. Received: {figures!r}") from None
