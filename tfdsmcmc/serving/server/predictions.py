"""Answers of a SavedModel to what people send.

`arrays` says what is wrong with a request before the graph sees it; what only the graph knows, that the data are binary
or how large a number may be, it says itself, and its words are passed on. Every call gives its own inputs to a function
without state, so that calls may run side by side and a refused one leaves nothing behind.
"""

from __future__ import annotations

import os
import pathlib
import re

import tensorflow as tf

from tfdsmcmc import files, forks
from tfdsmcmc.serving.arrays import BadRequest, are, arrays_of, has_rows, kind, odd_tensors
from tfdsmcmc.serving.server import memory
from tfdsmcmc.serving.server.version import Version

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

    def __init__(self, path):
        path = pathlib.Path(os.path.realpath(path))
        for folder in (path, path.parent):  # an export that was killed may have left its version beside its name
            files.remove_leftovers(folder)
        self._versions = {number: Version(folder) for number, folder in sorted(_folders(path).items())}
        if not self._versions:
            raise ValueError(f"There must be a SavedModel in the folder, or in versions below it. Received: {path}")
        alone = (path / "saved_model.pb").is_file() and _NUMBER.fullmatch(path.name)
        self.name = path.parent.name if alone else path.name
        self.versions = tuple(self._versions)
        self.signatures = {name: found.inputs for name, found in self.version().load().signatures.items()}

    def predict(self, signature, inputs, version=None, bounded=False):
        """Calls one signature.

        Args:
          signature: its name.
          inputs: for each of its inputs an array or nested list; for a single input that alone will do.
          version: one of `versions`; by default the newest.
          bounded: whether the outputs are to be written in JSON, which bounds their size (see `memory`).

        Returns:
          For each output a NumPy array.

        Raises:
          BadRequest: for a version, a signature, an input or a value that there is not, or that does not fit, for a
            signature whose tensors are no numbers, and for outputs that are too large.
          ValueError: for a version that cannot be loaded.
        """
        forks.check()
        found = self._signature(signature, version)
        arrays = arrays_of(signature, inputs, found.inputs)
        if bounded:
            memory.check_inputs(signature, found, arrays)
        outputs = _called(self.version(version), signature, arrays)
        if bounded:
            memory.check_outputs(signature, outputs)
        return outputs

    def predict_rows(self, signature, instances, version=None, bounded=False):
        """Calls one signature whose inputs and outputs all have rows, on rows given one by one.

        Args:
          signature: its name.
          instances: list of rows, each a dict with every input's value, or that value alone where there is one input.
          version: one of `versions`; by default the newest.
          bounded: as in `predict`.

        Returns:
          For each output a NumPy array with one entry for each row.

        Raises:
          BadRequest: as `predict`, and for a signature with an input or output that has no rows.
        """
        specs, results = self._signature(signature, version)
        whole = [name for name, spec in [*specs.items(), *results.items()] if not has_rows(spec)]
        if whole:
            found = f"instances for {signature}, where {are(whole)} not by row"
            raise BadRequest(f'instances suit signatures of rows alone: send "inputs". Received: {found}')
        if not isinstance(instances, list) or not instances:
            raise BadRequest(f"instances must be a list of at least one row. Received: {kind(instances)}")
        if len(specs) == 1 and not isinstance(instances[0], dict):
            instances = [{next(iter(specs)): row} for row in instances]
        for number, row in enumerate(instances):
            if not isinstance(row, dict) or set(row) != set(specs):
                found = sorted(map(str, row)) if isinstance(row, dict) else kind(row)
                raise BadRequest(f"instances[{number}] must give each of {sorted(specs)} by name. Received: {found}")
        columns = {name: [row[name] for row in instances] for name in specs}
        outputs = self.predict(signature, columns, version, bounded)
        counts = {name: len(value) for name, value in outputs.items()}
        if set(counts.values()) != {len(instances)}:
            raise BadRequest(f"{signature} gives no row for each instance. Received: {counts} rows")
        return outputs

    def version(self, version=None) -> Version:
        """A version by its number, by default the newest.

        Raises:
          BadRequest: for a version that there is not.
        """
        version = self.versions[-1] if version is None else version
        if version not in self.versions:
            raise BadRequest(f"version must be one of {list(self.versions)}. Received: {version!r}")
        return self._versions[version]

    def _signature(self, name, version):
        """A signature of numbers, as an `arrays.Signature`."""
        loaded = self.version(version).load()
        if not isinstance(name, str) or name not in loaded.functions:
            raise BadRequest(f"signature_name must be one of {sorted(loaded.functions)}. Received: {name!r}")
        if name not in loaded.signatures:
            odd = {key: tf.as_dtype(kind).name for key, kind in odd_tensors(loaded.definitions[name]).items()}
            raise BadRequest(f"{name} must give numbers, or true and false, to be answered. Received: {odd}")
        return loaded.signatures[name]


def _called(version, signature, arrays):
    """The outputs of a function of a version, as arrays."""
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
