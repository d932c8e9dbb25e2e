"""Requests to warm a model server up with."""

import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.saved_model import loader
from tfdsmcmc.serving.saved_model import warm_up

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


@pytest.mark.compiled  # the loader rewrites graphs, and so does TensorFlow for users
@pytest.mark.parametrize("every", EVERY)
def test_requests_are_written_read_and_answered(tmp_path, every):
    """In Python, and as the server does."""
    pytest.importorskip("tensorflow_serving")
    tiny = str(shutil.copytree(loader.exported(every=every), tmp_path / "1"))
    requests = requests_to(tiny)
    assert len(requests) > 2
    path = warm_up.write(tiny, requests, "tiny")
    assert path == str(tmp_path / "1" / "assets.extra" / "tf_serving_warmup_requests")
    replayed = warm_up.read(tiny)
    for (name, inputs), (other, again) in zip(requests, replayed, strict=True):
        assert name == other and set(inputs) == set(again)
        for key, value in inputs.items():
            assert again[key].dtype == value.dtype and again[key].shape == value.shape
            np.testing.assert_array_equal(again[key], value)
    served, (answers, _) = tf.saved_model.load(tiny), loader.run(tmp_path, {tiny: replayed})
    for (name, inputs), answer in zip(replayed, answers[tiny], strict=True):
        expected = loader.in_python(served, name, inputs)
        assert expected and all(np.isfinite(value).all() for value in expected.values())
        for key, value in expected.items():
            np.testing.assert_array_equal(answer[key], value)


def test_the_records_are_the_servers_own(tiny):
    """Read here by the protocol buffers alone."""
    prediction_log = pytest.importorskip("tensorflow_serving.apis.prediction_log_pb2")
    inputs = {"num_samples": np.int32(5), "seed": np.array([1, 2], np.int32)}
    path = warm_up.write(tiny, [("sample", inputs)] * 3, "another")
    records = [prediction_log.PredictionLog.FromString(r) for r in tf.data.TFRecordDataset(path).as_numpy_iterator()]
    assert len(records) == 3 and {record.WhichOneof("log_type") for record in records} == {"predict_log"}
    request = records[0].predict_log.request
    assert (request.model_spec.name, request.model_spec.signature_name) == ("another", "sample")
    assert {name: tensor.dtype for name, tensor in request.inputs.items()} == {"num_samples": 3, "seed": 3}
    assert request.inputs["num_samples"].tensor_shape.dim == [] and request.inputs["num_samples"].int_val == [5]
    assert [file.name for file in pathlib.Path(path).parent.iterdir()] == [pathlib.Path(path).name]


def test_a_version_without_them_has_none(tmp_path):
    pytest.importorskip("tensorflow_serving")
    assert warm_up.read(tmp_path) == []


def test_what_would_keep_the_server_from_loading_is_refused(tiny, tmp_path):
    pytest.importorskip("tensorflow_serving")
    empty = tmp_path / "empty"
    good = {"num_samples": np.int32(5), "seed": np.array([1, 2], np.int32)}
    warm_up.write(tiny, [("sample", good)] * warm_up.MOST, "tiny")
    assert len(warm_up.read(tiny)) == 1000
    before = contents(tiny)
    number, inputs = "num_samples of sample must be int32", r"sample has the inputs \['num_samples', 'seed'\]"
    for requests, reason in (
        ([], "1 to 1000 requests.*Received: 0 requests"),
        ([("sample", good)] * 1001, "1 to 1000 requests.*Received: 1001 requests"),
        ([("sample", good), ("no_such", good)], "names a signature among.*Received: 'no_such'"),
        ([("sample", {"seed": good["seed"]})], rf"{inputs}. Received: \['seed'\]"),
        ([("sample", {**good, "x": np.zeros((1, UNITS), np.float32)})], f"{inputs}. Received: .*'x'"),
        ([("sample", {**good, "num_samples": np.int64(5)})], f"{number}.*Received: int64"),
        ([("sample", {**good, "num_samples": 5})], f"{number}.*Received: int64"),
        ([("sample", {**good, "num_samples": np.array([5], np.int32)})], rf"{number}.*Received: .*shape \(1,\)"),
        ([("sample", {**good, "seed": np.array([1, 2, 3], np.int32)})], r"seed of sample.*Received: .*shape \(3,\)"),
        (
            [("log_likelihood", {**good, "x": np.zeros((2, UNITS - 1), np.float32)})],
            r"x of log_likelihood.*Received: .*shape \(2, 10\)",
        ),
    ):
        with pytest.raises(ValueError, match=reason):
            warm_up.write(tiny, requests, "tiny")
    for name in ("", None, 3):
        with pytest.raises(ValueError, match="Received: model_name="):
            warm_up.write(tiny, [("sample", good)], name)
    with pytest.raises(ValueError, match="No SavedModel.*Received: "):
        warm_up.write(empty, [("sample", good)], "tiny")
    assert contents(tiny) == before and not empty.exists()


def test_a_failed_write_leaves_the_earlier_file(tiny, monkeypatch):
    pytest.importorskip("tensorflow_serving")
    good = {"num_samples": np.int32(5), "seed": np.array([1, 2], np.int32)}
    warm_up.write(tiny, [("sample", good)], "tiny")
    before = contents(tiny)

    def fails(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr("os.replace", fails)
    with pytest.raises(OSError, match="disk full"):
        warm_up.write(tiny, [("sample", good)] * 2, "tiny")
    assert contents(tiny) == before


def test_the_missing_package_is_named(tiny, monkeypatch):
    before = contents(tiny)
    monkeypatch.setitem(sys.modules, "tensorflow_serving", None)
    monkeypatch.setitem(sys.modules, "tensorflow_serving.apis", None)
    for call in (lambda: warm_up.write(tiny, [], "tiny"), lambda: warm_up.read(tiny)):
        with pytest.raises(ImportError, match=r"pip install tfdsmcmc\[serving\]"):
            call()
    assert contents(tiny) == before
