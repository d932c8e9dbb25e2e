"""Answers of the REST API of TensorFlow Serving, as objects to be written in JSON.

Source: https://www.tensorflow.org/tfx/serving/api_rest, with the fields of the messages GetModelStatusResponse and
GetModelMetadataResponse, those at their defaults included.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from tfdsmcmc.serving.arrays import BadRequest

if TYPE_CHECKING:
    from tfdsmcmc.serving.server.predictions import Predictions

MOST = 2**22  # numbers of an answer: Python's objects and text of each take some 200 bytes


def status(predictions: Predictions) -> dict[str, Any]:
    """The state of the version."""
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    return {"model_version_status": [{"version": str(predictions.version)} | fine]}


def metadata(predictions: Predictions) -> dict[str, Any]:
    """The signatures, as their file had them when it was loaded."""
    as_it_is = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    found = {name: json_format.MessageToDict(one, **as_it_is) for name, one in predictions.definitions.items()}
    return {
        "model_spec": {"name": predictions.name, "signature_name": "", "version": str(predictions.version)},
        "metadata": {"signature_def": {"signature_def": found}},
    }


def predict(predictions: Predictions, body: bytes) -> dict[str, Any]:
    """The answer to the body of a prediction, in columns.

    Raises:
      BadRequest: for what is no such object, for too many numbers, and as `Predictions.predict`.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body must be JSON: {str(error)[:99]}. Received: {len(body)} bytes") from None
    if not isinstance(request, dict) or "inputs" not in request or set(request) - {"inputs", "signature_name"}:
        found = sorted(request) if isinstance(request, dict) else type(request).__name__
        words = 'The body must be an object with "inputs", and "signature_name" unless it is the default'
        raise BadRequest(f"{words}. Received: {str(found)[:99]}")
    name = request.get("signature_name", "serving_default")
    outputs = predictions.predict(name, request["inputs"])
    if (size := sum(array.size for array in outputs.values())) > MOST:
        words = f"An answer must be at most {MOST:,} numbers: ask for less at a time"
        raise BadRequest(f"{words}. Received: {name} with {size:,}")
    lists = {key: value.tolist() for key, value in outputs.items()}
    return {"outputs": next(iter(lists.values())) if len(lists) == 1 else lists}
