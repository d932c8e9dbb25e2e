"""Answers of the REST API of TensorFlow Serving: objects to be written in JSON, or JSON where they may be large.

Source: https://www.tensorflow.org/tfx/serving/api_rest, with the fields of the messages GetModelStatusResponse and
GetModelMetadataResponse, those at their defaults included.
"""

from __future__ import annotations

import contextlib
import json

from google.protobuf import json_format

from tfdsmcmc.serving.arrays import BadRequest
from tfdsmcmc.serving.server import memory

_FIELDS = {"signature_name", "inputs", "instances"}


def status(predictions, version=None):
    """The state of one version or of all, the newest first. One that was not asked for yet counts as available."""
    found = [v for v in reversed(predictions.versions) if version in (None, v)]
    return {"model_version_status": [{"version": str(v)} | _state(predictions.version(v).fault) for v in found]}


def metadata(predictions, version=None):
    """The signatures of a version, by default of the newest, as its file had them when it was loaded."""
    definitions = predictions.version(version).load().definitions
    as_it_is = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    signatures = {name: json_format.MessageToDict(definition, **as_it_is) for name, definition in definitions.items()}
    version = predictions.versions[-1] if version is None else version
    return {
        "model_spec": {"name": predictions.name, "signature_name": "", "version": str(version)},
        "metadata": {"signature_def": {"signature_def": signatures}},
    }


def predict(predictions, body, version=None):
    """The answer to the body of a prediction, {"outputs": …} to inputs and {"predictions": …} to instances, as bytes.

    Args:
      predictions: `Predictions`.
      body: bytes, an object in JSON.
      version: one of its versions, or None for the newest.

    Raises:
      BadRequest: for what is no such object, what would take too much memory, and as `Predictions.predict`.
    """
    memory.check_body(body)
    with memory.turn if memory.is_large(body) else contextlib.nullcontext():
        field, outputs = _outputs(predictions, body, version)
    with memory.turn if memory.are_large(outputs) else contextlib.nullcontext():
        return json.dumps({field: _written(field, outputs)}).encode()


def _outputs(predictions, body, version):
    """("outputs" or "predictions", the arrays by name)."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body must be JSON: {str(error)[:99]}. Received: {len(body)} bytes") from None
    if not isinstance(request, dict) or set(request) - _FIELDS or ("inputs" in request) == ("instances" in request):
        found = sorted(request) if isinstance(request, dict) else type(request).__name__
        words = 'The body must be an object with "inputs" or "instances", and "signature_name" unless it is the default'
        raise BadRequest(f"{words}. Received: {str(found)[:99]}")
    signature = request.get("signature_name", "serving_default")
    if "inputs" in request:
        return "outputs", predictions.predict(signature, request["inputs"], version, True)
    return "predictions", predictions.predict_rows(signature, request["instances"], version, True)


def _written(field, outputs):
    """Arrays as lists, by name or row by row; of a single one that alone."""
    lists = {name: value.tolist() for name, value in outputs.items()}
    if len(lists) == 1:
        return next(iter(lists.values()))
    return lists if field == "outputs" else [dict(zip(lists, row)) for row in zip(*lists.values())]


def _state(fault):
    code = "OK" if fault is None else "UNKNOWN"
    return {"state": "END" if fault else "AVAILABLE", "status": {"error_code": code, "error_message": fault or ""}}
