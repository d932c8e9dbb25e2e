"""Requests to warm a model server up with."""

import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.serving.saved_model import loader
from tfdsmcmc.serving.saved_model import serving_files

UNITS = loader.UNITS
EVERY = [False, pytest.param(True, marks=pytest.mark.slow)]  # signatures, or a few


@pytest.fixture
def tiny(tmp_path):
    """The path of an exported version, a copy of its own."""
    return shutil.copytree(loader.exported(every=False), tmp_path / "tiny" / "1")


def requests_to(path):
    """One request of two rows to each signature."""
    return [(name, loader.request(info, 2, UNITS)) for name, info in loader.signatures_of(path).items()]


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


@pytest.mark.parametrize("every", EVERY)
def test_requests_are_written_and_read(tmp_path, every):
    pytest.importorskip("tensorflow_serving")
    tiny = str(shutil.copytree(loader.exported(every=every), tmp_path / "1"))
    requests = requests_to(tiny)
    assert len(requests) > 2
    serving_files.write_warm_up(tiny, requests, "tiny")
    for (name, inputs), (other, again) in zip(requests, loader.warm_up_requests(tiny), strict=True):
        assert name == other and set(inputs) == set(again)
        for key, value in inputs.items():
            assert again[key].dtype == value.dtype and again[key].shape == value.shape
            np.testing.assert_array_equal(again[key], value)


@pytest.mark.compiled  # the loader rewrites graphs, and so does TensorFlow for users
def test_requests_are_answered_as_the_server_does(tiny, tmp_path):
    """`test_loader` has requests to all signatures."""
    pytest.importorskip("tensorflow_serving")
    serving_files.write_warm_up(tiny, requests_to(tiny), "tiny")
    replayed = loader.warm_up_requests(tiny)
    served, (answers, _) = tf.saved_model.load(str(tiny)), loader.run(tmp_path, {str(tiny): replayed})
    for (name, inputs), answer in zip(replayed, answers[str(tiny)], strict=True):
        expected = loader.in_python(served, name, inputs)
        assert expected and all(np.isfinite(value).all() for value in expected.values())
        for key, value in expected.items():
            np.testing.assert_array_equal(answer[key], value)


def test_the_records_are_the_servers_own(tiny):
    """Read here by the protocol buffers alone."""
    prediction_log = pytest.importorskip("tensorflow_serving.apis.prediction_log_pb2")
    inputs = {"num_samples": np.int32(5), "seed": np.array([1, 2], np.int32)}
    serving_files.write_warm_up(tiny, [("sample", inputs)] * 3, "another")
    path = str(tiny / "assets.extra" / "tf_serving_warmup_requests")
    records = [prediction_log.PredictionLog.FromString(r) for r in tf.data.TFRecordDataset(path).as_numpy_iterator()]
    assert len(records) == 3 and {record.WhichOneof("log_type") for record in records} == {"predict_log"}
    request = records[0].predict_log.request
    assert (request.model_spec.name, request.model_spec.signature_name) == ("another", "sample")
    assert {name: tensor.dtype for name, tensor in request.inputs.items()} == {"num_samples": 3, "seed": 3}
    assert request.inputs["num_samples"].tensor_shape.dim == [] and request.inputs["num_samples"].int_val == [5]
    assert [file.name for file in pathlib.Path(path).parent.iterdir()] == [pathlib.Path(path).name]


def test_requests_of_an_export_fit_its_signatures(tmp_path):
    """One that does not would keep the server from loading the version."""
    pytest.importorskip("tensorflow_serving")
    model = tiny_model((2,), units=UNITS)
    only = ["sample", "sample_rows", "impute", "log_likelihood_rows_packed"]
    path = ds.serving.export(model, tmp_path / "tiny", only=only, serving_config=True, verbose=False)
    requests, signatures = dict(loader.warm_up_requests(path)), loader.signatures_of(path)
    assert set(requests) == set(signatures) - {"serving_default"}
    for name, inputs in requests.items():
        specs = signatures[name].inputs
        assert set(inputs) == set(specs)
        for key, array in inputs.items():
            assert array.dtype == tf.as_dtype(specs[key].dtype).as_numpy_dtype
            assert tf.TensorShape(specs[key].tensor_shape).is_compatible_with(array.shape)


def test_the_missing_package_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorflow_serving.apis.prediction_log_pb2", None)
    with pytest.raises(ImportError, match=r"pip install tfdsmcmc\[serving\]"):
        serving_files.write_warm_up(tmp_path, [], "tiny")
    assert contents(tmp_path) == {}
