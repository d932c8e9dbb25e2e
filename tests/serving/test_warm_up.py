"""What a model server is given beside a SavedModel: requests to warm up with, and its configuration."""

import itertools
import pathlib
import shutil
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.serving import loader
from tfdsmcmc.serving import configuration, warm_up

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


# ---- requests to warm up with


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
    for requests in (
        [],
        [("sample", good)] * 1001,
        [("sample", good), ("no_such", good)],
        [("sample", {"seed": good["seed"]})],
        [("sample", {**good, "x": np.zeros((1, UNITS), np.float32)})],
        [("sample", {**good, "num_samples": np.int64(5)})],
        [("sample", {**good, "num_samples": 5})],
        [("sample", {**good, "num_samples": np.array([5], np.int32)})],
        [("sample", {**good, "seed": np.array([1, 2, 3], np.int32)})],
        [("log_likelihood", {**good, "x": np.zeros((2, UNITS - 1), np.float32)})],
    ):
        with pytest.raises(ValueError, match="Received: "):
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

    monkeypatch.setattr(warm_up.os, "replace", fails)
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


# ---- configuration


def batching_parameters():
    """The class of TensorFlow Serving's message BatchingParameters, which its Python package leaves out.

    The fields are those of tensorflow_serving/servables/tensorflow/session_bundle_config.proto.
    """
    from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, wrappers_pb2

    kind = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="batching_parameters.proto", package="test", syntax="proto3")
    file.dependency.append(wrappers_pb2.DESCRIPTOR.name)
    message = file.message_type.add(name="BatchingParameters")
    names = ["max_batch_size", "batch_timeout_micros", "max_enqueued_batches", "num_batch_threads"]
    for number, name in enumerate(names, start=1):
        message.field.add(
            name=name, number=number, type=kind.TYPE_MESSAGE, type_name=".google.protobuf.Int64Value", label=1
        )
    message.field.add(name="allowed_batch_sizes", number=6, type=kind.TYPE_INT64, label=3)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(wrappers_pb2.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("test.BatchingParameters"))


def test_the_text_is_what_the_server_parses(tmp_path):
    config = pytest.importorskip("tensorflow_serving.config.model_server_config_pb2")
    from google.protobuf import text_format

    models, batching = configuration.write(tmp_path / "tiny", "tiny-1.0", batch_sizes=(1, 6, 20))
    assert [pathlib.Path(path) for path in (models, batching)] == [
        tmp_path / "tiny" / name for name in ("models.config", "batching.config")
    ]
    parsed = text_format.Parse(pathlib.Path(models).read_text(), config.ModelServerConfig())
    (model,) = parsed.model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == ("tiny-1.0", "/models/tiny-1.0", "tensorflow")
    assert not model.HasField("model_version_policy")

    text = pathlib.Path(batching).read_text()
    parsed = text_format.Parse(text, batching_parameters()())
    assert list(parsed.allowed_batch_sizes) == [1, 6, 20] and parsed.max_batch_size.value == 20
    fields = (parsed.batch_timeout_micros, parsed.num_batch_threads, parsed.max_enqueued_batches)
    assert all(field.value >= 1 for field in fields)
    assert "NAME_rows" in text and "must have at least one dimension" in text
    parsed = text_format.Parse(next(iter(default_batching(tmp_path))), batching_parameters()())
    assert list(parsed.allowed_batch_sizes) == [1, 2, 4, 8, 16, 32] and parsed.max_batch_size.value == 32


def default_batching(folder):
    return [text for path, text in configuration.check(folder, "tiny").items() if path.name == "batching.config"]


def test_files_of_other_content_are_kept_unless_asked(tmp_path):
    configuration.write(tmp_path, "tiny")
    configuration.write(tmp_path, "tiny")  # the same
    (tmp_path / "batching.config").write_text("# tuned by hand\n")
    before = contents(tmp_path)
    for name in ("tiny", "other"):
        for call in (configuration.write, configuration.check):
            with pytest.raises(ValueError, match="overwrite.*Received: .*config"):
                call(tmp_path, name)
    assert contents(tmp_path) == before
    configuration.write(tmp_path, "tiny", overwrite=True)
    assert set(contents(tmp_path)) == set(before)
    assert (tmp_path / "batching.config").read_text() == default_batching(tmp_path / "elsewhere")[0]
    (tmp_path / "batching.config").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="overwrite.*Received: "):
        configuration.write(tmp_path, "tiny")


def test_bad_names_and_sizes_are_refused_before_a_file_is_touched(tmp_path):
    for name in ("", "a b", 'a"b', "a/b", "a\nb", "modèle", None, 3):
        with pytest.raises(ValueError, match="Received: model_name="):
            configuration.write(tmp_path, name)
    for sizes in ((), (2, 1), (1, 1), (0, 1), (1.5,), ("a",), 8, None):
        with pytest.raises(ValueError, match="Received: "):
            configuration.write(tmp_path, "tiny", batch_sizes=sizes)
    assert contents(tmp_path) == {}


# ---- batches as the server makes them


def batched(run, requests, allowed):
    """The answers to requests that the server runs together: their rows joined, padded with copies of the first row of
    the last one up to the next allowed size, and the answer cut into parts.

    Args:
      run: function {input: array} → {output: array}.
      requests: list of inputs.
      allowed: increasing sizes.
    """
    sizes = [len(next(iter(inputs.values()))) for inputs in requests]
    for inputs in requests:
        for name, value in inputs.items():
            assert value.ndim and len(value) == len(next(iter(inputs.values()))), f"the server refuses {name}"
    padding = next(size for size in allowed if size >= sum(sizes)) - sum(sizes)
    joined = {
        name: np.concatenate([*(inputs[name] for inputs in requests), *[requests[-1][name][:1]] * padding])
        for name in requests[0]
    }
    parts = {name: np.split(value, np.cumsum([*sizes, padding])[:-1]) for name, value in run(joined).items()}
    return [{name: values[place] for name, values in parts.items()} for place in range(len(requests))]


@pytest.mark.parametrize("every", EVERY)
def test_a_batch_of_requests_answers_each_as_if_it_were_alone(every):
    """With a padding of 0 to 3 rows; the rows of a batch have seeds and numbers of samples of their own."""
    path = loader.exported(every=every)
    served = tf.saved_model.load(path)
    found = {name: info for name, info in loader.signatures_of(path).items() if "_rows" in name}
    assert {"sample_rows", "log_likelihood_rows_packed"} <= set(found)
    assert {"log_likelihood_rows", "impute_rows", "impute_rows_packed"} <= set(found) or not every
    for (name, info), sizes in itertools.product(found.items(), [(1, 2), (4, 1), (1,), (5, 3)]):
        requests = [loader.request(info, rows, UNITS, seed=place) for place, rows in enumerate(sizes)]

        def run(inputs, name=name):
            return loader.in_python(served, name, inputs)

        answers = batched(run, requests, configuration.BATCH_SIZES)
        for inputs, answer in zip(requests, answers, strict=True):
            alone = run(inputs)
            assert set(answer) == set(alone) and alone
            for key, value in alone.items():
                np.testing.assert_array_equal(answer[key], value, err_msg=f"{name} {key}")
