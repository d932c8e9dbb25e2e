"""Requests that TensorFlow Serving answers while it loads a version, so that the first ones of its users are quick.

They lie in VERSION/assets.extra/tf_serving_warmup_requests, a TFRecord file of `tensorflow.serving.PredictionLog`, at
most a thousand of them. A request that fails keeps the server from loading the version. A server started with
--enable_batching answers them through its batches too, which takes the signatures `NAME_rows` only (see
`serving.saved_model.configuration`): for such a server leave the others out.

Source: TensorFlow Serving's guide "SavedModel Warmup".
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc.serving.extras import optional

if TYPE_CHECKING:
    from types import ModuleType

    import numpy as np

    from tfdsmcmc._common.types import FilePath


def write(version_path: FilePath, requests: Iterable[tuple[str, Mapping[str, np.ndarray]]], model_name: str) -> None:
    """Writes requests into the folder of a version.

    Args:
      version_path: folder of a SavedModel that is not in place yet.
      requests: pairs (signature, {input: array}), with arrays of the very types and shapes of the signature.
      model_name: the name by which the server knows the model.

    Raises:
      ImportError: without the package tensorflow-serving-api.
    """
    messages = protos()
    folder = pathlib.Path(version_path) / "assets.extra"
    folder.mkdir()
    with tf.io.TFRecordWriter(str(folder / "tf_serving_warmup_requests")) as writer:
        for signature, inputs in requests:
            log = messages.PredictionLog()
            request = log.predict_log.request
            request.model_spec.name, request.model_spec.signature_name = model_name, signature
            for name, array in inputs.items():
                request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
            writer.write(log.SerializeToString(deterministic=True))


def protos() -> ModuleType:
    """The module of the messages.

    Raises:
      ImportError: without the package tensorflow-serving-api.
    """
    return optional("tensorflow_serving.apis.prediction_log_pb2")
