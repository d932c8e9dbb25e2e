"""What TensorFlow Serving finds beside a SavedModel: requests to warm up with, and its configuration.

    VERSION/assets.extra/tf_serving_warmup_requests    a TFRecord file of `tensorflow.serving.PredictionLog`
    models.config     a `tensorflow.serving.ModelServerConfig`, for --model_config_file
    batching.config   a `tensorflow.serving.BatchingParameters`, for --batching_parameters_file

The server answers the requests while it loads a version, so that the first ones of its users are quick; one that fails
keeps it from loading the version. What follows from batching, batching.config says.

Source: TensorFlow Serving's guides "SavedModel Warmup", "Serving Configuration" and "Batching".
"""

from __future__ import annotations

import pathlib
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import files
from tfdsmcmc.serving.arrays import optional

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import FilePath

_TEXTS = pathlib.Path(__file__).parent / "configuration"
_NAME = re.compile(r"[\w.-]+", re.ASCII)  # stands in addresses and in quoted text


def configuration(folder: FilePath, name: str, overwrite: bool = False) -> dict[pathlib.Path, str]:
    """The texts of the configuration by path, for a model of this name whose versions lie in the folder.

    Raises:
      ValueError: for a name that is not of letters, digits, "_", "." and "-", or, without `overwrite`, for a file of
        other content.
    """
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        words = 'model_name must be made of letters, digits, "_", "." and "-"'
        raise ValueError(f"{words}. Received: model_name={name!r}")
    sources = [_TEXTS / kind for kind in ("models.config", "batching.config")]
    texts = {pathlib.Path(folder) / path.name: path.read_text("utf-8").replace("{{name}}", name) for path in sources}
    for path, text in texts.items():
        if path.exists() and not overwrite and (path.is_dir() or path.read_bytes() != text.encode()):
            raise ValueError(f"The file exists with other content; overwrite=True replaces it. Received: {path}")
    return texts


def write_configuration(folder: FilePath, name: str, overwrite: bool = False) -> None:
    """Writes the texts of `configuration`, whose arguments and errors are its own."""
    for path, text in configuration(folder, name, overwrite).items():
        with files.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def write_warm_up(version: FilePath, requests: Iterable[tuple[str, Mapping[str, np.ndarray]]], name: str) -> None:
    """Writes requests (signature, inputs) to a model of this name into a version's folder that is not in place yet.

    Raises:
      ImportError: without the package tensorflow-serving-api.
    """
    messages = optional("tensorflow_serving.apis.prediction_log_pb2")
    folder = pathlib.Path(version) / "assets.extra"
    folder.mkdir()
    with tf.io.TFRecordWriter(str(folder / "tf_serving_warmup_requests")) as writer:
        for signature, inputs in requests:
            log = messages.PredictionLog()
            request = log.predict_log.request
            request.model_spec.name, request.model_spec.signature_name = name, signature
            for key, array in inputs.items():
                request.inputs[key].CopyFrom(tf.make_tensor_proto(array))
            writer.write(log.SerializeToString(deterministic=True))
