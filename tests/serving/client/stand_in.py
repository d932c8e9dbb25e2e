"""Model servers on loopback for tests: they speak the formats of TensorFlow Serving and run the SavedModel itself.

REST is the package's development server. The gRPC PredictionService is here, with statuses and words as TensorFlow
Serving has them. Both can be told to fail:

    stand_in.faults = iter(["unavailable", "unavailable"])      the next two predictions fail in passing
    stand_in.faults = itertools.repeat("hang")                  no prediction is answered

`python -m tests.serving.client.stand_in FOLDER` writes the tiny model of the tests to FOLDER/tiny, for another server.
"""

from __future__ import annotations

import concurrent.futures
import pathlib
import sys
import threading

import grpc
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2
from tensorflow_serving.apis import get_model_metadata_pb2, predict_pb2, prediction_service_pb2_grpc
from werkzeug.wrappers import Response

from tests.oracles import tiny_model
from tests.serving.exports import export
from tfdsmcmc.serving.server.development_server import make_server

NAME, VERSION, UNITS = "tiny", 3, 11  # packed rows end within a byte
PACKED = ("log_likelihood", "impute", "impute_rows")
SIGNATURES = ["log_likelihood", "sample", "impute", "encode", "reconstruct", "log_likelihood_rows", "sample_rows"]
SIGNATURES += ["impute_rows", *(f"{name}_packed" for name in PACKED)]


def export_tiny(folder):
    """Writes the tiny model; returns the path of its version."""
    model = tiny_model((3, 2), units=UNITS, seed=6)
    path = pathlib.Path(folder) / NAME
    return export(model, path, version=VERSION, only=SIGNATURES, sweeps=5)


class RestStandIn:
    """The development server with faults.

    Args:
      path: of a version.

    Attributes:
      url: where it listens.
      calls: number of predictions that arrived.
      faults: iterator of what becomes of the next ones: "unavailable", "hang" or None.
    """

    def __init__(self, path, port=0):
        self._server = make_server(pathlib.Path(path).parent, port=port)
        self._server.app = _faulty(self._server.app, self)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._released = threading.Event()
        self.reset()
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()

    def reset(self):
        self.calls, self.faults = 0, iter(())

    def fault(self):
        """What becomes of a prediction that has just arrived."""
        self.calls += 1
        fault = next(self.faults, None)
        if fault == "hang":
            self._released.wait(30)
        return fault

    def close(self):
        self._released.set()
        self._server.shutdown()
        self._server.server_close()


class GrpcStandIn(prediction_service_pb2_grpc.PredictionServiceServicer):
    """PredictionService with the calls Predict and GetModelMetadata; arguments and attributes as `RestStandIn`."""

    def __init__(self, path, port=0):
        self._signatures = _signature_definitions(path)
        self._served = tf.saved_model.load(str(path))
        self._released = threading.Event()
        options = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]
        pool = concurrent.futures.ThreadPoolExecutor(8)
        self._server = grpc.server(pool, options=[*options, ("grpc.so_reuseport", 0)])
        prediction_service_pb2_grpc.add_PredictionServiceServicer_to_server(self, self._server)
        self.url = f"grpc://127.0.0.1:{self._server.add_insecure_port(f'127.0.0.1:{port}')}"
        self.reset()
        self._server.start()

    reset, fault = RestStandIn.reset, RestStandIn.fault

    def close(self):
        self._released.set()
        self._server.stop(0).wait()

    def Predict(self, request, context):
        if self.fault() == "unavailable":
            context.abort(grpc.StatusCode.UNAVAILABLE, "busy, the stand-in says")
        self._check_model(request.model_spec, context)
        name = request.model_spec.signature_name or "serving_default"
        if name not in self._signatures:
            context.abort(grpc.StatusCode.FAILED_PRECONDITION, f'Serving signature key "{name}" not found.')
        inputs = {key: tf.constant(tf.make_ndarray(value)) for key, value in request.inputs.items()}
        if set(inputs) != set(self._signatures[name].inputs):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "input size does not match signature")
        try:
            outputs = self._served.signatures[name](**inputs)
        except (tf.errors.InvalidArgumentError, TypeError) as error:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, str(error))
        return predict_pb2.PredictResponse(outputs={key: _in_fields(value) for key, value in outputs.items()})

    def GetModelMetadata(self, request, context):
        self._check_model(request.model_spec, context)
        response = get_model_metadata_pb2.GetModelMetadataResponse()
        found = get_model_metadata_pb2.SignatureDefMap(signature_def=self._signatures)
        response.metadata["signature_def"].Pack(found)
        return response

    def _check_model(self, spec, context):
        versions = (VERSION, 0)  # 0 is what an absent one reads as
        if spec.name != NAME or spec.version.value not in versions:
            which = f"Specific({spec.name}, {spec.version.value})" if spec.version.value else f"Latest({spec.name})"
            context.abort(grpc.StatusCode.NOT_FOUND, f"Servable not found for request: {which}")


def _faulty(app, stand_in):
    """A WSGI application that fails as it is told, and else does what it did."""

    def faulty(environ, start_response):
        fails = environ["REQUEST_METHOD"] == "POST" and stand_in.fault() == "unavailable"
        busy = Response(status=503, headers={"Retry-After": "3600"})  # not to be obeyed
        return (busy if fails else app)(environ, start_response)

    return faulty


def _signature_definitions(path):
    saved = saved_model_pb2.SavedModel.FromString((pathlib.Path(path) / "saved_model.pb").read_bytes())
    return dict(saved.meta_graphs[0].signature_def)


def _in_fields(tensor):
    """A float tensor as TensorFlow Serving answers with it: in the field of its type, not as bytes."""
    shape = tf.make_tensor_proto(tensor).tensor_shape
    values = tensor.numpy().ravel().tolist()
    return type(tf.make_tensor_proto(0.0))(dtype=tensor.dtype.as_datatype_enum, tensor_shape=shape, float_val=values)


if __name__ == "__main__":
    print(export_tiny(sys.argv[1]))
