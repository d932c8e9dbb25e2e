"""TensorFlow Serving's gRPC API: the calls Predict and GetModelMetadata of its PredictionService.

A tensor travels as its bytes (`tensor_content`), so this is the way for large batches. Messages may have up to
2 GiB − 1, which is protocol buffers' own limit.

Source: tensorflow_serving/apis/prediction_service.proto.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc.serving.client import wire
from tfdsmcmc.serving.client.transports import ServerError, late, optional

_LARGEST = 2**31 - 1  # bytes of a message
_FRAME = 2**16  # bytes for names and shapes
_OPTIONS = [
    ("grpc.max_send_message_length", _LARGEST),
    ("grpc.max_receive_message_length", _LARGEST),
    # a lost connection is looked for again as often as a call is repeated: by default no sooner than after a second
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 100),
    ("grpc.max_reconnect_backoff_ms", 5000),
]


class GrpcTransport:
    """Calls over one gRPC channel.

    Args:
      address: `transports.Address`; the scheme grpcs stands for TLS with the machine's certificates.
      timeout: seconds to wait for an answer.

    Raises:
      ImportError: without the packages grpcio and tensorflow-serving-api.
    """

    def __init__(self, address, timeout):
        self._grpc = optional("grpc")
        self._predict = optional("tensorflow_serving.apis.predict_pb2")
        self._metadata = optional("tensorflow_serving.apis.get_model_metadata_pb2")
        service = optional("tensorflow_serving.apis.prediction_service_pb2_grpc")
        self._address, self._timeout = address, timeout
        self.url = f"{address.scheme}://{address.host}"
        if address.scheme == "grpcs":
            self._channel = self._grpc.secure_channel(address.host, self._grpc.ssl_channel_credentials(), _OPTIONS)
        else:
            self._channel = self._grpc.insecure_channel(address.host, _OPTIONS)
        self._stub = service.PredictionServiceStub(self._channel)

    def describe(self):
        """The model's signatures: dict from names to `wire.Signature`."""
        json_format = optional("google.protobuf.json_format")
        request = self._metadata.GetModelMetadataRequest(metadata_field=["signature_def"])
        answer = self._answer(self._stub.GetModelMetadata, request)
        found = self._metadata.SignatureDefMap()
        if not answer.metadata["signature_def"].Unpack(found):
            raise ServerError("OK", "the answer describes no signatures", self.url)
        described = json_format.MessageToDict(found, preserving_proto_field_name=True)
        return wire.signatures(described.get("signature_def", {}))

    def predict(self, signature, inputs, outputs):
        """Calls a signature.

        Args:
          signature: its name.
          inputs: dict of arrays.
          outputs: dict of `wire.Tensor`, what the signature returns.

        Returns:
          dict of arrays.

        Raises:
          ServerError: for a fault, and an answer that is not as the signature has it.
          ValueError: for inputs that are too large for one message.
        """
        size = sum(array.nbytes for array in inputs.values())
        if size > _LARGEST - _FRAME:
            raise ValueError(f"The inputs of a call must have less than 2 GiB. Received: {size} bytes")
        request = self._predict.PredictRequest()
        request.model_spec.signature_name = signature
        for name, array in inputs.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
        answer = self._answer(self._stub.Predict, request)
        try:
            # reading an absent name would make it
            found = {name: tf.make_ndarray(answer.outputs[name]) for name in outputs if name in answer.outputs}
            return wire.answered(found, outputs)
        except (KeyError, TypeError, ValueError) as error:
            words = f"the answer does not have the outputs {sorted(outputs)}: {error}"
            raise ServerError("OK", words, self.url) from None

    def close(self):
        """Closes the channel."""
        self._channel.close()

    def _answer(self, call, request):
        request.model_spec.name = self._address.model
        if self._address.version is not None:
            request.model_spec.version.value = self._address.version
        try:
            return call(request, timeout=self._timeout)
        except self._grpc.RpcError as error:
            if error.code() == self._grpc.StatusCode.DEADLINE_EXCEEDED:
                raise late(self._timeout, self.url) from None
            raise ServerError(error.code().name, error.details(), self.url) from error
