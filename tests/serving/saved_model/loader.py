"""SavedModels through the C API, in a process of its own (`c_api.py`), and requests to whatever signatures one has."""

from __future__ import annotations

import functools
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import saved_model_pb2

from tests.oracles import tiny_model
from tests.serving.exports import export

UNITS = 11  # packed rows end within a byte
FEW = ["log_likelihood", "sample", "sample_rows", "log_likelihood_rows_packed"]
PROGRAM = pathlib.Path(__file__).with_name("c_api.py")
INVALID_ARGUMENT = 3  # TF_Code


@functools.cache
def exported(every):
    """The path of a tiny model's SavedModel with `FEW` or all signatures, made once for all tests."""
    only = None if every else FEW
    return export(tiny_model((3, 2), units=UNITS, seed=6), f"{_folder().name}/{every}", only=only, sweeps=3)


@functools.cache
def _folder():
    return tempfile.TemporaryDirectory()  # removed with the process


def signatures_of(path):
    """{name: SignatureDef} of a SavedModel, without what the loader itself needs."""
    saved = saved_model_pb2.SavedModel.FromString((pathlib.Path(path) / "saved_model.pb").read_bytes())
    found = saved.meta_graphs[0].signature_def
    return {name: found[name] for name in sorted(found) if not name.startswith("__")}


def manifest_of(path):
    """What is written about a version beside its graph."""
    return json.loads((pathlib.Path(path) / "assets" / "manifest.json").read_text())


def run(folder, requests):
    """Answers requests as TensorFlow Serving does, all in one process.

    Args:
      folder: an empty folder.
      requests: {path of a SavedModel: [(signature, inputs)]}, inputs {name: array}.

    Returns:
      (answers, loads): {path: [outputs or (code, message)]} in the order of the requests, and {path: [code, message]}
      of the loading itself.
    """
    models, arrays = [], {}
    for number, (path, calls) in enumerate(requests.items()):
        found, listed = signatures_of(path) if calls else {}, []
        for count, (signature, inputs) in enumerate(calls):
            key = f"{number}.{count}"
            assert set(inputs) == set(found[signature].inputs)
            ends = {"inputs": found[signature].inputs, "outputs": found[signature].outputs}
            names = {end: {name: info.name for name, info in infos.items()} for end, infos in ends.items()}
            listed.append({"key": key, **names})
            arrays.update({f"{key}/{name}": array for name, array in inputs.items()})
        models.append({"path": str(path), "calls": listed})
    files = [str(folder / name) for name in ("requests.json", "inputs.npz", "outputs.npz")]
    pathlib.Path(files[0]).write_text(json.dumps(models))
    np.savez(files[1], **arrays)
    done = subprocess.run([sys.executable, str(PROGRAM), *files], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    status, outputs = json.loads(done.stdout.splitlines()[-1]), np.load(files[2])

    def answer(call):
        code, message = status["calls"][call["key"]]
        return (code, message) if code else {name: outputs[f"{call['key']}/{name}"] for name in call["outputs"]}

    return {
        model["path"]: [answer(call) for call in model["calls"] if call["key"] in status["calls"]] for model in models
    }, status["models"]


def in_python(served, signature, inputs):
    """The same answer from what `tf.saved_model.load` returns."""
    outputs = served.signatures[signature](**{name: tf.constant(array) for name, array in inputs.items()})
    return {name: value.numpy() for name, value in outputs.items()}


def request(signature, rows, units, binary=True, seed=0):
    """Inputs that fit a SignatureDef: random data of which some entries are hidden where there is a mask.

    Args:
      signature: SignatureDef.
      rows: n.
      units: D, the width of the data.
      binary: whether the data are 0 and 1.
      seed: of the random values.
    """
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2, (rows, units)) if binary else rng.normal(size=(rows, units))
    mask = rng.random((rows, units)) < 0.6
    values = {"x": x, "mask": mask, "num_samples": 7, "num_imputations": 3, "seed": rng.integers(0, 999, (rows, 2))}
    found = {}
    for name, info in signature.inputs.items():
        dtype, rank = tf.as_dtype(info.dtype).as_numpy_dtype, len(info.tensor_shape.dim)
        value = np.asarray(values[name])
        if name in ("x", "mask") and dtype == np.uint8:
            value = np.packbits(value.astype(np.uint8), axis=1)
        elif name == "x" and "mask" in signature.inputs:
            value = np.where(mask, value, np.nan)  # what is hidden may be anything
        elif name == "seed" and rank == 1:
            value = value[0] if rows else np.zeros(2)
        elif name.startswith("num_") and rank == 1:
            value = value + np.arange(rows)  # each row asks for another number
        found[name] = value.astype(dtype)
        assert found[name].ndim == rank, f"{name} of another rank than expected"
    return found


def warm_up_requests(path):
    """[(signature, {input: array})] in the folder of a version, an empty list where there is no such file."""
    from tensorflow_serving.apis import prediction_log_pb2

    file, found = pathlib.Path(path) / "assets.extra" / "tf_serving_warmup_requests", []
    records = tf.data.TFRecordDataset(str(file)).as_numpy_iterator() if file.is_file() else ()
    for request in (prediction_log_pb2.PredictionLog.FromString(record).predict_log.request for record in records):
        inputs = {name: tf.make_ndarray(tensor) for name, tensor in request.inputs.items()}
        found.append((request.model_spec.signature_name, inputs))
    return found
