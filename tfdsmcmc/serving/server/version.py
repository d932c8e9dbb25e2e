"""One version of a SavedModel, read once.

An export may replace a folder while its version is served. Functions, signatures and manifest are therefore those that
there were when the version was loaded, and nothing is read from the folder after that.
"""

from __future__ import annotations

import json
import threading
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import saved_model_pb2


class Loaded(NamedTuple):
    """What a version consists of.

    Attributes:
      model: TensorFlow's object, kept as its variables live as long as it does.
      functions: its signatures as functions, by name.
      signatures: its signatures as TensorFlow Serving describes them in JSON, by name.
      manifest: what was written about the model beside its graph, a dict, or None.
    """

    model: Any
    functions: dict
    signatures: dict
    manifest: dict | None


class Unavailable(ValueError):
    """A version that cannot be loaded; its message is meant for whoever asked for it."""


class Version:
    """A version that is loaded when it is first asked for, however many ask at once.

    Args:
      folder: its path.

    Attributes:
      folder: its path.
      fault: why it could not be loaded, or answer, when that was last tried; or None.
    """

    def __init__(self, folder):
        self.folder, self.fault = folder, None
        self._lock, self._loaded = threading.Lock(), None

    def load(self) -> Loaded:
        """Returns what it consists of.

        Raises:
          Unavailable: if it cannot be loaded, which the next call tries again.
        """
        with self._lock:
            if self._loaded is None:
                try:
                    self._loaded, self.fault = _load(self.folder), None
                except Exception as error:  # of a damaged file TensorFlow raises whatever it stumbles over
                    reason = f"{type(error).__name__}: {error}".splitlines()[0]
                    self.fault = f"The SavedModel cannot be loaded, {reason}. Received: {self.folder}"
                    raise Unavailable(self.fault) from error
            return self._loaded


def _load(folder):
    saved = saved_model_pb2.SavedModel()
    model = tf.saved_model.load(str(folder))
    saved.ParseFromString((folder / "saved_model.pb").read_bytes())
    graphs = [graph for graph in saved.meta_graphs if "serve" in graph.meta_info_def.tags] or saved.meta_graphs
    signatures = {name: _described(signature) for name, signature in graphs[0].signature_def.items()}
    return Loaded(model, model.signatures, signatures, _manifest(folder / "assets" / "manifest.json"))


def _manifest(path):
    """None for other models, also those that keep something else under this name."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _described(signature):
    return {
        "inputs": {name: _tensor(info) for name, info in signature.inputs.items()},
        "outputs": {name: _tensor(info) for name, info in signature.outputs.items()},
        "method_name": signature.method_name,
    }


def _tensor(info):
    shape = info.tensor_shape
    return {
        "dtype": types_pb2.DataType.Name(info.dtype),
        "tensor_shape": {
            "dim": [{"size": str(dim.size), "name": dim.name} for dim in shape.dim],
            "unknown_rank": shape.unknown_rank,
        },
        "name": info.name,
    }
