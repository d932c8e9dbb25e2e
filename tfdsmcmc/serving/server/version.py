"""One version of a SavedModel, read once.

An export may replace a folder while its version is served. Functions, signatures and manifest are therefore those that
there were when the version was loaded, and nothing is read from the folder after that.
"""

from __future__ import annotations

import json
import threading
from typing import Any, NamedTuple

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tfdsmcmc.serving.arrays import signatures_of


class Loaded(NamedTuple):
    """What a version consists of.

    Attributes:
      model: TensorFlow's object, which has the signatures as functions.
      definitions: dict from the signatures' names to their `SignatureDef`.
      signatures: dict from names to `arrays.Signature`, of those with numbers alone.
      manifest: what was written about the model beside its graph, a dict, or None.
    """

    model: Any
    definitions: dict
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
    model = tf.saved_model.load(str(folder))
    saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    graphs = [graph for graph in saved.meta_graphs if "serve" in graph.meta_info_def.tags] or saved.meta_graphs
    definitions = dict(graphs[0].signature_def)
    return Loaded(model, definitions, signatures_of(definitions), _manifest(folder / "assets" / "manifest.json"))


def _manifest(path):
    """None for other models, also those that keep something else under this name."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
