"""Answers of a SavedModel to what people send.

`arrays` says what is wrong with a request before the graph sees it; what only the graph knows it says itself, and its
words are passed on. Functions have no state: calls may run side by side, and a refused one leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import TYPE_CHECKING, Any

import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tfdsmcmc import files
from tfdsmcmc._common import forks
from tfdsmcmc.serving.arrays import BadRequest, Signature, arrays_of, signatures_of, size_of

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import FilePath

_NUMBER = re.compile("[0-9]{1,19}")


class Predictions:
    """The signatures of a SavedModel, as it was when it was loaded, as functions of arrays or nested lists.

    Args:
      path: a model's folder, of whose versions the newest is taken, or the folder of one version.

    Attributes:
      name: the model's name, that of its folder.
      version: the version's number.
      signatures: `arrays.Signature`s by name.
      definitions: the same as TensorFlow's `SignatureDef`s.
      manifest: what was written about the model beside its graph; None where there is none such.

    Raises:
      ValueError: where there is no SavedModel, or one that cannot be loaded.
    """

    def __init__(self, path: FilePath):
        path = pathlib.Path(os.path.realpath(path))
        for folder in (path, path.parent):  # an export that was killed may have left its version beside its name
            files.remove_leftovers(folder)
        alone, below = (path / "saved_model.pb").is_file(), path.iterdir() if path.is_dir() else ()
        versions = [path] if alone else [p for p in below if (p / "saved_model.pb").is_file()]
        found = {int(p.name): p for p in versions if _NUMBER.fullmatch(p.name)} or ({1: path} if alone else {})
        if not found:
            raise ValueError(f"There must be a SavedModel in the folder, or in versions below it. Received: {path}")
        self.name: str = path.parent.name if alone and _NUMBER.fullmatch(path.name) else path.name
        self.version: int = max(found)
        try:
            self._load(found[self.version])
        except Exception as error:  # of a damaged file TensorFlow raises whatever it stumbles over
            reason = f"{type(error).__name__}: {error}".splitlines()[0]
            words = f"The SavedModel cannot be loaded, {reason}. Received: {found[self.version]}"
            raise ValueError(words) from error

    def predict(self, signature: str, inputs: Any, most: int | None = None) -> dict[str, np.ndarray]:
        """Calls one signature; returns an array for each output.

        Args:
          signature: its name.
          inputs: for each of its inputs an array or nested list; for a single input that alone will do.
          most: numbers of an answer; None for any.

        Raises:
          BadRequest: for a signature, an input or a value that there is not, or that does not fit, for a signature
            whose outputs are no numbers, and for more of them than `most`: before they are computed, where the
            manifest says that the signature is one of this package.
        """
        forks.check()
        if not isinstance(signature, str) or signature not in self.signatures:
            raise BadRequest(f"signature_name must be one of {sorted(self.signatures)}. Received: {signature!r}")
        types = {key: spec.dtype for key, spec in self.signatures[signature].outputs.items()}
        odd = {key: t.name for key, t in types.items() if not (t.is_floating or t.is_integer or t.is_bool)}
        if odd:
            raise BadRequest(f"{signature} must give numbers, or true and false, to be answered. Received: {odd}")
        arrays = arrays_of(signature, inputs, self.signatures[signature].inputs)
        if signature in self._own:
            _check_size(signature, size_of(arrays, self.signatures[signature].outputs), most)
        try:
            outputs = self._model.signatures[signature](**{name: tf.constant(array) for name, array in arrays.items()})
        except (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError) as error:
            raise BadRequest(_words(error.message, arrays)) from None
        _check_size(signature, sum(int(tf.size(value)) for value in outputs.values()), most)
        return {name: value.numpy() for name, value in outputs.items()}

    def _load(self, folder):
        """All that is read from the folder: an export may replace it, and where one does meanwhile it is read anew."""
        while True:
            before = _identity(folder)
            try:
                self._read(folder)
            except Exception:  # of a folder half of which is new TensorFlow raises whatever it stumbles over
                if before == _identity(folder):
                    raise
            if before == _identity(folder):
                return

    def _read(self, folder):
        self._model = tf.saved_model.load(str(folder))
        saved = saved_model_pb2.SavedModel.FromString((folder / "saved_model.pb").read_bytes())
        graphs = [graph for graph in saved.meta_graphs if "serve" in graph.meta_info_def.tags] or saved.meta_graphs
        self.definitions: dict[str, Any] = dict(graphs[0].signature_def)
        self.signatures: dict[str, Signature] = signatures_of(self.definitions)
        try:
            found = json.loads((folder / "assets" / "manifest.json").read_text(encoding="utf-8"))
        except (OSError, ValueError, RecursionError):
            found = None
        self.manifest: dict[str, Any] | None = found if isinstance(found, dict) else None
        listed = (self.manifest or {}).get("signatures")
        self._own = {"serving_default", *listed} if isinstance(listed, dict) else set()


def _check_size(signature, size, most):
    """Refuses an answer of more numbers than are to be given; a size that is not known is not."""
    if most is not None and size is not None and size > most:
        words = f"An answer must be at most {most:,} numbers: ask for less at a time"
        raise BadRequest(f"{words}. Received: {signature} with {size:,}")


def _words(message, arrays):
    """What a graph says of its inputs, without the names of its operations."""
    text = re.split(r"\s*\[\[\{\{node ", message)[0].strip()
    said = re.search(r"assertion failed: \[(.*)\]", text)
    text = said[1] if said else text.splitlines()[-1] if text else "The model cannot answer"
    shapes = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
    return text if "Received:" in text else f"{text.rstrip('.')}. Received: {shapes}"


def _identity(folder):
    """What tells a folder from another one of its name; None where there is none at the moment."""
    try:
        return os.stat(folder).st_ino
    except FileNotFoundError:
        return None
