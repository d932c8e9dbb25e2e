"""Answers of a SavedModel to what people send.

`arrays` says what is wrong with a request before the graph sees it; what only the graph knows, that the data are binary
or how large a number may be, it says itself, and its words are passed on. Every call gives its own inputs to a function
without state, so that calls may run side by side and a refused one leaves nothing behind.
"""

from __future__ import annotations

import os
import pathlib
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import files
from tfdsmcmc._common import forks
from tfdsmcmc.serving.arrays import BadRequest, Signature, arrays_of
from tfdsmcmc.serving.server.version import Version

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import FilePath

_NUMBER = re.compile("[0-9]{1,18}")


class Predictions:
    """A SavedModel's signatures as functions of arrays or nested lists.

    Args:
      path: a model's folder with its versions beside each other, or the folder of one version.

    Attributes:
      name: the model's name, that of its folder.
      versions: the versions' numbers, the newest last. The newest answers by default.
      signatures: for each signature of the newest version its inputs' `tf.TensorSpec`, by name.

    Raises:
      ValueError: where there is no SavedModel.

    Example:

    >>> import tempfile, tfdsmcmc as ds
    >>> folder = tempfile.mkdtemp() + "/tiny"
    >>> model = ds.models.from_name("SBN 3", units=4)
    >>> _ = ds.serving.export(model, folder, only=["sample"], verbose=False)
    >>> served = Predictions(folder)
    >>> served.name, served.versions
    ('tiny', (1,))
    >>> served.predict("sample", {"num_samples": 2, "seed": [0, 1]})["x"].shape
    (2, 4)
    """

    signatures: dict[str, dict[str, tf.TensorSpec]]

    def __init__(self, path: FilePath):
        path = pathlib.Path(os.path.realpath(path))
        for folder in (path, path.parent):  # an export that was killed may have left its version beside its name
            files.remove_leftovers(folder)
        self._versions = {number: Version(folder) for number, folder in sorted(_folders(path).items())}
        if not self._versions:
            raise ValueError(f"There must be a SavedModel in the folder, or in versions below it. Received: {path}")
        alone = (path / "saved_model.pb").is_file() and _NUMBER.fullmatch(path.name)
        self.name: str = path.parent.name if alone else path.name
        self.versions: tuple[int, ...] = tuple(self._versions)
        self.signatures = {name: found.inputs for name, found in self.version().load().signatures.items()}

    def predict(self, signature: str, inputs: Any, version: int | None = None) -> dict[str, np.ndarray]:
        """Calls one signature.

        Args:
          signature: its name.
          inputs: for each of its inputs an array or nested list; for a single input that alone will do.
          version: one of `versions`; by default the newest.

        Returns:
          For each output a NumPy array.

        Raises:
          BadRequest: for a version, a signature, an input or a value that there is not, or that does not fit, and for a
            signature whose outputs are no numbers.
          ValueError: for a version that cannot be loaded.
        """
        arrays = arrays_of(signature, inputs, self.signature(signature, version).inputs)
        return self.call(signature, arrays, version)

    def version(self, version: int | None = None) -> Version:
        """A version by its number, by default the newest.

        Raises:
          BadRequest: for a version that there is not.
        """
        version = self.versions[-1] if version is None else version
        if version not in self.versions:
            raise BadRequest(f"version must be one of {list(self.versions)}. Received: {version!r}")
        return self._versions[version]

    def signature(self, name: Any, version: int | None = None) -> Signature:
        """Inputs and outputs of a signature by its name; errors are those of `predict`."""
        signatures = self.version(version).load().signatures
        if not isinstance(name, str) or name not in signatures:
            raise BadRequest(f"signature_name must be one of {sorted(signatures)}. Received: {name!r}")
        types = {key: spec.dtype for key, spec in signatures[name].outputs.items()}
        odd = {key: t.name for key, t in types.items() if not (t.is_floating or t.is_integer or t.is_bool)}
        if odd:
            raise BadRequest(f"{name} must give numbers, or true and false, to be answered. Received: {odd}")
        return signatures[name]

    def call(
        self,
        signature: str,
        arrays: Mapping[str, np.ndarray],
        version: int | None = None,
    ) -> dict[str, np.ndarray]:
        """Calls one signature with arrays that fit it; returns and errors are those of `predict`."""
        forks.check()
        version = self.version(version)
        try:
            outputs = version.functions[signature](**{name: tf.constant(array) for name, array in arrays.items()})
        except (tf.errors.InvalidArgumentError, tf.errors.ResourceExhaustedError) as error:
            raise BadRequest(_words(error.message, arrays)) from None
        except Exception as error:
            version.fault = f"{signature} failed, {type(error).__name__}: {error}".splitlines()[0]
            raise
        version.fault = None
        return {name: value.numpy() for name, value in outputs.items()}


def _folders(path):
    """Version numbers and their folders."""
    if (path / "saved_model.pb").is_file():
        return {int(path.name) if _NUMBER.fullmatch(path.name) else 1: path}
    below = path.iterdir() if path.is_dir() else ()
    return {int(p.name): p for p in below if _NUMBER.fullmatch(p.name) and (p / "saved_model.pb").is_file()}


def _words(message, arrays):
    """What a graph says of its inputs, without the names of its operations."""
    text = re.split(r"\s*\[\[\{\{node ", message)[0].strip()
    if "assertion failed:" in text:
        parts = text.split("assertion failed:", 1)[1].strip().removeprefix("[").removesuffix("]")
        text = " ".join(parts.replace("] [", " ").split())
    else:
        text = text.splitlines()[-1] if text else "The model cannot answer"
    if "Received:" not in text:
        shapes = ", ".join(f"{name} of shape {array.shape}" for name, array in arrays.items())
        text = f"{text.rstrip('.')}. Received: {shapes}"
    return text
