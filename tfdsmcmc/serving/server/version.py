"""One version of a SavedModel, read once.

An export may replace a folder while its version is served. Functions, signatures and manifest are therefore those that
there were when the version was loaded, and nothing is read from the folder after that.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tfdsmcmc.serving.arrays import signatures_of

if TYPE_CHECKING:
    import pathlib

    from tfdsmcmc.serving.arrays import Signature


class Unavailable(ValueError):
    """A version that cannot be loaded; its message is meant for whoever asked for it."""


class Version:
    """A version that is loaded when it is first asked for, however many ask at once.

    Args:
      folder: its path.

    Attributes:
      fault: why it could not be loaded, or answer, when that was last tried; or None.
      functions, definitions, signatures: once it is loaded, its signatures by name, as functions, as TensorFlow's
        `SignatureDef` and as `arrays.Signature`.
      manifest: once it is loaded, what was written about the model beside its graph, a dict, or None.
    """

    fault: str | None
    functions: dict[str, Callable[..., dict[str, tf.Tensor]]]
    definitions: dict[str, Any]
    signatures: dict[str, Signature]
    manifest: dict[str, Any] | None

    def __init__(self, folder: pathlib.Path):
        self._folder, self._lock, self._model, self.fault = folder, threading.Lock(), None, None

    def load(self) -> Version:
        """Returns itself, loaded.

        Raises:
          Unavailable: if it cannot be loaded, which the next call tries again.
        """
        with self._lock:
            if self._model is None:
                try:
                    self._load(tf.saved_model.load(str(self._folder)))
                except Exception as error:  # of a damaged file TensorFlow raises whatever it stumbles over
                    reason = f"{type(error).__name__}: {error}".splitlines()[0]
                    self.fault = f"The SavedModel cannot be loaded, {reason}. Received: {self._folder}"
                    raise Unavailable(self.fault) from error
        return self

    def _load(self, model):
        saved = saved_model_pb2.SavedModel.FromString((self._folder / "saved_model.pb").read_bytes())
        graphs = [graph for graph in saved.meta_graphs if "serve" in graph.meta_info_def.tags] or saved.meta_graphs
        self.functions, self.definitions = dict(model.signatures), dict(graphs[0].signature_def)
        self.signatures = signatures_of(self.definitions)
        self.manifest = _manifest(self._folder / "assets" / "manifest.json")
        self._model, self.fault = model, None  # the variables live as long as the model does


def _manifest(path):
    """None for other models, also those that keep something else under this name."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
