"""Answers of the REST API of TensorFlow Serving: objects to be written in JSON, or JSON where they may be large.

Source: https://www.tensorflow.org/tfx/serving/api_rest, with the fields of the messages GetModelStatusResponse and
GetModelMetadataResponse, those at their defaults included.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format

from tfdsmcmc.serving.arrays import BadRequest, are, arrays_of, has_rows, kind
from tfdsmcmc.serving.server import memory

if TYPE_CHECKING:
    from tfdsmcmc.serving.server.predictions import Predictions

_FIELDS = {"signature_name", "inputs", "instances"}


def status(predictions: Predictions, version: int | None = None) -> dict[str, Any]:
    """The state of one version or of all, the newest first. One that was not asked for yet counts as available."""
    found = [v for v in reversed(predictions.versions) if version in (None, v)]
    return {"model_version_status": [{"version": str(v)} | _state(predictions.version(v).fault) for v in found]}


def metadata(predictions: Predictions, version: int | None = None) -> dict[str, Any]:
    """The signatures of a version, by default of the newest, as its file had them when it was loaded."""
    definitions = predictions.version(version).load().definitions
    as_it_is = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    signatures = {name: json_format.MessageToDict(definition, **as_it_is) for name, definition in definitions.items()}
    version = predictions.versions[-1] if version is None else version
    return {
        "model_spec": {"name": predictions.name, "signature_name": "", "version": str(version)},
        "metadata": {"signature_def": {"signature_def": signatures}},
    }


def predict(predictions: Predictions, body: bytes, version: int | None = None) -> bytes:
    """The answer to the body of a prediction, {"outputs": …} to inputs and {"predictions": …} to instances, as bytes.

    Args:
      predictions: `Predictions`.
      body: bytes, an object in JSON.
      version: one of its versions, or None for the newest.

    Raises:
      BadRequest: for what is no such object, what would take too much memory, and as `Predictions.predict`.
    """
    with memory.reading(body):
        request = _request(body)
        name, rows = request.get("signature_name", "serving_default"), request.get("instances")
        signature = predictions.signature(name, version)
        inputs = _columns(name, signature, rows) if "instances" in request else request["inputs"]
        arrays = arrays_of(name, inputs, signature.inputs)
        memory.check_inputs(name, signature, arrays)
        outputs = predictions.call(name, arrays, version)
    with memory.writing(name, outputs):
        lists = {key: value.tolist() for key, value in outputs.items()}
        if "inputs" in request:
            return json.dumps({"outputs": _bare(lists)}).encode()
        if (counts := {key: len(value) for key, value in lists.items()}) != dict.fromkeys(lists, len(rows)):
            raise BadRequest(f"{name} gives no row for each instance. Received: {counts} rows")
        return json.dumps({"predictions": [_bare(dict(zip(lists, row))) for row in zip(*lists.values())]}).encode()


def _request(body):
    """The object that a body is."""
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body must be JSON: {str(error)[:99]}. Received: {len(body)} bytes") from None
    if not isinstance(request, dict) or set(request) - _FIELDS or ("inputs" in request) == ("instances" in request):
        found = sorted(request) if isinstance(request, dict) else type(request).__name__
        words = 'The body must be an object with "inputs" or "instances", and "signature_name" unless it is the default'
        raise BadRequest(f"{words}. Received: {str(found)[:99]}")
    return request


def _columns(name, signature, instances):
    """The inputs of a signature from rows, each an object with every input's value, or of a single input that alone."""
    whole = [key for key, spec in [*signature.inputs.items(), *signature.outputs.items()] if not has_rows(spec)]
    if whole:
        found = f"instances for {name}, where {are(whole)} not by row"
        raise BadRequest(f'instances suit signatures of rows alone: send "inputs". Received: {found}')
    if not isinstance(instances, list) or not instances:
        raise BadRequest(f"instances must be a list of at least one row. Received: {kind(instances)}")
    names = sorted(signature.inputs)
    if len(names) == 1 and not isinstance(instances[0], dict):
        return {names[0]: instances}
    for number, row in enumerate(instances):
        if not isinstance(row, dict) or sorted(row) != names:
            found = sorted(row) if isinstance(row, dict) else kind(row)
            raise BadRequest(f"instances[{number}] must give each of {names} by name. Received: {found}")
    return {key: [row[key] for row in instances] for key in names}


def _bare(values):
    """Values by name, of a single one that alone."""
    return next(iter(values.values())) if len(values) == 1 else values


def _state(fault):
    code = "OK" if fault is None else "UNKNOWN"
    return {"state": "END" if fault else "AVAILABLE", "status": {"error_code": code, "error_message": fault or ""}}
