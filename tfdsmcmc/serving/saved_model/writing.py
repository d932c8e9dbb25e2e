"""A version of a served model on the disk: saved, audited, loaded again and compared, and only then put in place.

It is made in a temporary folder and renamed to PATH/VERSION, where a server that watches PATH finds it whole (see
`files`).
"""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tfdsmcmc import files
from tfdsmcmc.serving.saved_model import audit, serving_files
from tfdsmcmc.serving.saved_model.signatures import Inputs

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.serving.saved_model.functions import Functions

DEFAULT = "log_likelihood"
_GRADIENT = "_gradient_op_type"  # the attribute of an operation that has one of its own


def free_target(path: FilePath, version: int, overwrite: bool) -> pathlib.Path:
    """The version's folder, absolute.

    Raises:
      ValueError: for what is no folder, or an existing version without `overwrite`.
    """
    if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
        raise ValueError(f"path is that of a folder. Received: path={path!r}")
    folder = pathlib.Path(os.path.abspath(path))
    for place in (folder, *folder.parents):
        if os.path.lexists(place) and not place.is_dir():
            found = "a link to nothing" if place.is_symlink() and not os.path.exists(place) else "a file"
            raise ValueError(f"path is that of a folder. Received: {found}, {place}")
    if version >= 2**63:
        raise ValueError(f"version must fit 64 bits. Received: version={version}")
    files.remove_leftovers(folder)  # which may bring a version back
    _check_free(folder / str(version), overwrite)
    return folder / str(version)


def write_version(
    target: pathlib.Path,
    functions: Functions,
    signatures: Mapping[str, Any],
    manifest: str,
    jit: bool,
    overwrite: bool,
    serving_config: bool,
) -> dict[str, float]:
    """Puts a version of concrete functions by name in place, in a folder from `free_target`; else as `export`.

    Returns seconds of a call of two rows, by signature.
    """
    examples = {name: Inputs(name, functions).example() for name in signatures}
    default = signatures[DEFAULT if DEFAULT in signatures else next(iter(signatures))]
    with files.replacing(target) as new:
        # TensorFlow would put them, and all of the graph, into a registry that nothing empties, at each load
        options = tf.saved_model.SaveOptions(experimental_custom_gradients=False)
        signed = {"serving_default": default, **signatures}
        tf.saved_model.save(functions.weights, str(new), signed, options)
        _forget_gradients(new / "saved_model.pb")
        (new / "assets").mkdir(exist_ok=True)
        (new / "assets" / "manifest.json").write_text(manifest)
        if serving_config:
            serving_files.write_warm_up(new, examples.items(), target.parent.name)
        if faults := audit.faults(new, jit):
            raise RuntimeError(f"A server could not run this export. Received: a graph with {'; '.join(faults)}")
        seconds = round_trip(new, signatures, examples)
        _check_free(target, overwrite)  # again: somebody else may have been quicker
    if serving_config:
        serving_files.write_configuration(target.parent, target.parent.name, overwrite)
    return seconds


def round_trip(
    path: FilePath, functions: Mapping[str, Any], examples: Mapping[str, Mapping[str, np.ndarray]]
) -> dict[str, float]:
    """Loads a SavedModel, compares each signature with the live function, and times its second call, in seconds.

    Raises:
      RuntimeError: where an answer to an example differs.
    """
    loaded, seconds = tf.saved_model.load(str(path)), {}
    for name, function in functions.items():
        inputs = {key: tf.constant(value) for key, value in examples[name].items()}
        served = loaded.signatures[name]
        _compare(name, function(**inputs), served(**inputs))
        start = time.perf_counter()
        served(**inputs)
        seconds[name] = time.perf_counter() - start
    return seconds


def _forget_gradients(path):
    """Takes the names of gradients that were not saved out of a graph, of which TensorFlow would warn at each load."""
    saved = saved_model_pb2.SavedModel.FromString(path.read_bytes())
    for graph in (part.graph_def for part in saved.meta_graphs):
        for nodes in (graph.node, *(function.node_def for function in graph.library.function)):
            for node in nodes:
                if _GRADIENT in node.attr:
                    del node.attr[_GRADIENT]
    path.write_bytes(saved.SerializeToString(deterministic=True))
    (path.parent / "fingerprint.pb").unlink(missing_ok=True)  # it is that of the graph before


def _check_free(target, overwrite):
    if os.path.lexists(target) and not overwrite:
        raise ValueError(f"The version exists; choose another one, or overwrite=True. Received: {target}")


def _compare(name, expected, received):
    if set(expected) != set(received):
        raise RuntimeError(f"{name} has the outputs {sorted(expected)}. Received: {sorted(received)}")
    for output, value in expected.items():
        # rounding may differ with the order of sums; draws are zeros and ones, or differ in no more than that
        if not np.allclose(value, received[output], rtol=1e-4, atol=1e-5, equal_nan=True):
            raise RuntimeError(f"{name} gives another {output} when it is loaded. Received: {received[output]}")
