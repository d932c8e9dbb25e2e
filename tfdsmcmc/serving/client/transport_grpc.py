"""TensorFlow Serving's gRPC API: the calls Predict and GetModelMetadata of its PredictionService.

A tensor travels as its bytes (`tensor_content`), so this is the way for large batches. Messages may have up to
2 GiB − 1, which is protocol buffers' own limit.

Source: tensorflow_serving/apis/prediction_service.proto.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc.serving.arrays import optional, signatures_of
from tfdsmcmc.serving.client.transports import FIRST_WAIT, LONGEST_WAIT, ServerError, late, repeated

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc.serving.arrays import Signature
    from tfdsmcmc.serving.client.transports import Address

_LARGEST = 2**31 - 1  # bytes of a message
_FRAME = 2**16  # bytes for names and shapes
_OPTIONS = [
    ("grpc.max_send_message_length", _LARGEST),
    ("grpc.max_receive_message_length", _LARGEST),
    # a lost connection is looked for again as often as a call is repeated: by default no sooner than after a second
    ("grpc.initial_reconnect_backoff_ms", int(1000 * FIRST_WAIT)),
    ("grpc.min_reconnect_backoff_ms", int(1000 * FIRST_WAIT)),
    ("grpc.max_reconnect_backoff_ms", int(1000 * LONGEST_WAIT)),
]


class GrpcTransport:
    """Calls over one gRPC channel; the scheme grpcs stands for TLS with the machine's certificates."""

    fine = "OK"

    def __init__(self, address: Address, timeout: float, retries: int):
        self._grpc = optional("grpc")
        self._predict = optional("tensorflow_serving.apis.predict_pb2")
        self._metadata = optional("tensorflow_serving.apis.get_model_metadata_pb2")
        service = optional("tensorflow_serving.apis.prediction_service_pb2_grpc")
        self._address, self._timeout, self._retries = address, timeout, retries
        self.url: str = f"{address.scheme}://{address.host}"
        if address.scheme == "grpcs":
            self._channel = self._grpc.secure_channel(address.host, self._grpc.ssl_channel_credentials(), _OPTIONS)
        else:
            self._channel = self._grpc.insecure_channel(address.host, _OPTIONS)
        self._stub = service.PredictionServiceStub(self._channel)

    def describe(self) -> dict[str, Signature]:
        request = self._metadata.GetModelMetadataRequest(metadata_field=["signature_def"])
        answer = self._answer(self._stub.GetModelMetadata, request)
        found = self._metadata.SignatureDefMap()
        if not answer.metadata["signature_def"].Unpack(found):
            raise ServerError(self.fine, "the answer describes no signatures", self.url)
        return signatures_of(found.signature_def)

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray], outputs: Iterable[str]) -> dict[str, Any]:
        size = sum(array.nbytes for array in inputs.values())
        if size > _LARGEST - _FRAME:
            raise ValueError(f"The inputs of a call must have less than 2 GiB. Received: {size} bytes")
        request = self._predict.PredictRequest()
        request.model_spec.signature_name = signature
        for name, array in inputs.items():
            request.inputs[name].CopyFrom(tf.make_tensor_proto(array))
        found = self._answer(self._stub.Predict, request).outputs
        return {name: tf.make_ndarray(found[name]) for name in outputs if name in found}  # reading would make one

    def close(self) -> None:
        self._channel.close()

    def _answer(self, call, request):
        request.model_spec.name = self._address.model
        if self._address.version is not None:
            request.model_spec.version.value = self._address.version
        return repeated(self._retries, self._answer_at_once, call, request)

    def _answer_at_once(self, call, request):
        try:
            return call(request, timeout=self._timeout)
        except self._grpc.RpcError as error:
            if error.code() == self._grpc.StatusCode.DEADLINE_EXCEEDED:
                raise late(self._timeout, self.url) from None
            raise ServerError(error.code().name, error.details(), self.url) from None
