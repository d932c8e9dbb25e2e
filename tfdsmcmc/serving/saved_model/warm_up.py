"""Requests that TensorFlow Serving answers while it loads a version, so that the first ones of its users are quick.

They lie in VERSION/assets.extra/tf_serving_warmup_requests, a TFRecord file of `tensorflow.serving.PredictionLog`. A
request that fails keeps the server from loading the version, so each is compared with the model's signatures before it
is written. A server started with --enable_batching answers them through its batches too, which takes the signatures
`NAME_rows` only (see `serving.saved_model.configuration`): for such a server leave the others out.

Source: TensorFlow Serving's guide "SavedModel Warmup".
"""

from __future__ import annotations

import pathlib

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tfdsmcmc import files

MOST = 1000  # records; with more of them the server does not load the version
_FILE = pathlib.Path("assets.extra") / "tf_serving_warmup_requests"


def write(version_path, requests, model_name):
    """Writes the requests into the folder of a version, in place of earlier ones.

    Args:
      version_path: folder of a SavedModel.
      requests: pairs (signature, {input: array}), 1 to 1000, with arrays of the very types and shapes of the signature.
      model_name: the name by which the server knows the model.

    Returns:
      The file's path, a string.

    Raises:
      ValueError: where there is no SavedModel, for another number of requests, or for one that does not fit its
        signature; nothing is written then.
      ImportError: without the package tensorflow-serving-api.

    Example:

    >>> import numpy as np, tfdsmcmc as ds, tempfile
    >>> model = ds.models.from_name("SBN 2", units=4)
    >>> path = ds.serving.export(model, tempfile.mkdtemp() + "/tiny", only=["sample"], verbose=False)
    >>> request = {"num_samples": np.int32(3), "seed": np.array([0, 1], np.int32)}
    >>> file = write(path, [("sample", request)], "tiny")
    >>> [(signature, sorted(inputs)) for signature, inputs in read(path)]
    [('sample', ['num_samples', 'seed'])]
    """
    messages = protos()
    if not isinstance(model_name, str) or not model_name:
        raise ValueError(f"model_name must be a name. Received: model_name={model_name!r}")
    requests, signatures = list(requests), _signatures(version_path)
    if not 1 <= len(requests) <= MOST:
        raise ValueError(f"A version has 1 to {MOST} requests to warm up with. Received: {len(requests)} requests")
    records = [_record(messages, signatures, request, model_name) for request in requests]
    target = pathlib.Path(version_path) / _FILE
    with files.replacing(target) as temporary, tf.io.TFRecordWriter(str(temporary)) as writer:
        for record in records:
            writer.write(record)
    return str(target)


def read(version_path):
    """The requests in the folder of a version.

    Args:
      version_path: folder of a SavedModel.

    Returns:
      List of pairs (signature, {input: array}); an empty one where there is no such file.

    Raises:
      ImportError: without the package tensorflow-serving-api.
    """
    messages = protos()
    file = pathlib.Path(version_path) / _FILE
    if not file.is_file():
        return []
    found = []
    for record in tf.data.TFRecordDataset(str(file)).as_numpy_iterator():
        request = messages.PredictionLog.FromString(record).predict_log.request
        inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        found.append((request.model_spec.signature_name, inputs))
    return found


def protos():
    """The module of the messages.

    Raises:
      ImportError: without the package tensorflow-serving-api.
    """
    try:
        from tensorflow_serving.apis import prediction_log_pb2
    except ImportError as error:
        raise ImportError(
            "Requests to warm up with need tensorflow-serving-api: pip install tfdsmcmc[serving]"
        ) from error
    return prediction_log_pb2


def _signatures(version_path):
    """{name: SignatureDef} of a SavedModel."""
    file = pathlib.Path(version_path) / "saved_model.pb"
    if not file.is_file():
        raise ValueError(f"No SavedModel in this folder. Received: {version_path}")
    return saved_model_pb2.SavedModel.FromString(file.read_bytes()).meta_graphs[0].signature_def


def _record(messages, signatures, pair, model_name):
    """One request as the bytes of a record."""
    signature, inputs = pair
    if signature not in signatures:
        raise ValueError(f"A request names a signature among {sorted(signatures)}. Received: {signature!r}")
    specs = signatures[signature].inputs
    if set(inputs) != set(specs):
        raise ValueError(f"{signature} has the inputs {sorted(specs)}. Received: {sorted(inputs)}")
    log = messages.PredictionLog()
    request = log.predict_log.request
    request.model_spec.name, request.model_spec.signature_name = model_name, signature
    for name, value in inputs.items():
        array = np.asarray(value)
        dtype, shape = tf.as_dtype(specs[name].dtype), tf.TensorShape(specs[name].tensor_shape)
        if array.dtype != dtype.as_numpy_dtype or not shape.is_compatible_with(array.shape):
            raise ValueError(
                f"{name} of {signature} must be {dtype.name} of the shape {shape}. "
                f"Received: {array.dtype} of the shape {array.shape}"
            )
        request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
    return log.SerializeToString(deterministic=True)
