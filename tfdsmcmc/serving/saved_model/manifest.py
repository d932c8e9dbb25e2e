"""`assets/manifest.json`: what a SavedModel holds, for people and for programs that show it."""

from __future__ import annotations

import json
import math
import pathlib
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc._common import checks

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.contract import Model
    from tfdsmcmc.programs import DirectedModel

FORMAT = 1


def manifest(
    model: Model,
    parts: dict[str, Any],
    name: str,
    weights: dict[str, Any],
    data_shape: list[int],
    signatures: Mapping[str, Any],
    settings: dict[str, Any],
    figures: dict[str, Any],
) -> dict[str, Any]:
    """The manifest as a dictionary.

    Args:
      model: what is exported; it has `units` and a `support`.
      parts: dictionary of what it is made of.
      name: of the served model.
      weights: dictionary that says where the weights come from.
      data_shape: of a row, a list of integers.
      signatures: concrete functions by name.
      settings: dictionary.
      figures: dictionary, such as test log-likelihoods.
    """
    context = getattr(model, "context", None)
    return {
        "format": FORMAT,
        "name": name,
        "model": parts,
        "data_shape": data_shape,
        "units": model.units,
        "binary": model.support.bits,
        "context": 0 if context is None else context.units,
        "posterior": weights,
        "settings": settings,
        "figures": figures,
        "signatures": {
            key: {"inputs": _described(f.structured_input_signature[1]), "outputs": _described(f.structured_outputs)}
            for key, f in signatures.items()
        },
        "versions": {
            "keras": keras.__version__,
            "tensorflow": tf.__version__,
            "tensorflow_probability": tfp.__version__,
            "tfdsmcmc": sys.modules["tfdsmcmc"].__version__,
        },
    }


def parts_of_networks(model: DirectedModel) -> dict[str, Any]:
    """What a `DeepGenerativeModel` is made of."""
    return {
        "generative": _layers(model.generative),
        "recognition": _layers(model.recognition),
        "latent_units": list(model.generative.latent_units),
    }


def write(path: FilePath, contents: dict[str, Any]) -> None:
    """Writes the manifest into the folder of a SavedModel that is not in place yet."""
    folder = pathlib.Path(path) / "assets"
    folder.mkdir(exist_ok=True)
    (folder / "manifest.json").write_text(json.dumps(contents, indent=2) + "\n")


def read(path: FilePath) -> dict[str, Any]:
    """The manifest of a version's folder, a dictionary.

    Raises:
      ValueError: where there is none.
    """
    file = pathlib.Path(path) / "assets" / "manifest.json"
    if not file.is_file():
        raise ValueError(f"No manifest in this folder. Received: {path}")
    return json.loads(file.read_text())


def checked_shape(data_shape: Sequence[int] | None, units: int) -> list[int]:
    """The shape of a row as a list; [units] for None.

    Raises:
      ValueError: unless it has that many entries.
    """
    if data_shape is None:
        return [units]
    try:
        shape = [checks.positive_integer("data_shape", size) for size in data_shape]
    except (TypeError, ValueError):
        raise ValueError(f"data_shape is a sequence of positive integers. Received: {data_shape!r}") from None
    if math.prod(shape) != units:
        raise ValueError(f"data_shape must have {units} entries in all. Received: {data_shape!r}")
    return shape


def checked_figures(figures: Mapping[str, Any] | None) -> dict[str, Any]:
    """The figures as plain numbers and words.

    Raises:
      ValueError: for what JSON cannot hold.
    """
    try:
        return json.loads(json.dumps(dict(figures or {}), default=_plain, allow_nan=False))
    except (TypeError, ValueError):
        raise ValueError(f"figures is a dictionary of numbers and words. Received: {figures!r}") from None


def _plain(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    raise TypeError(type(value).__name__)


def _layers(network):
    return [{"class": type(layer).__name__, "name": layer.name, "units": layer.units} for layer in network.layers]


def _described(tensors):
    return {name: {"type": t.dtype.name, "shape": t.shape.as_list()} for name, t in tensors.items()}
