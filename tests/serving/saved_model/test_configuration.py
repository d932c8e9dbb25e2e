"""What a model server is told about a model, and batches as it makes them."""

import itertools
import pathlib
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.saved_model import loader
from tfdsmcmc.serving.saved_model import serving_files

UNITS = loader.UNITS
EVERY = [False, pytest.param(True, marks=pytest.mark.slow)]  # signatures, or a few


def contents(folder):
    return {path.relative_to(folder): path.read_bytes() for path in pathlib.Path(folder).rglob("*") if path.is_file()}


@pytest.fixture
def tiny(tmp_path):
    """The path of an exported version, a copy of its own."""
    return shutil.copytree(loader.exported(every=False), tmp_path / "tiny" / "1")


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

    serving_files.write_configuration(tmp_path / "tiny", "tiny-1.0")
    texts = {name: (tmp_path / "tiny" / name).read_text() for name in ("models.config", "batching.config")}
    assert set(contents(tmp_path / "tiny")) == {pathlib.Path(name) for name in texts}
    parsed = text_format.Parse(texts["models.config"], config.ModelServerConfig())
    (model,) = parsed.model_config_list.config
    assert (model.name, model.base_path, model.model_platform) == ("tiny-1.0", "/models/tiny-1.0", "tensorflow")
    assert not model.HasField("model_version_policy")

    text = texts["batching.config"]
    parsed = text_format.Parse(text, batching_parameters()())
    assert list(parsed.allowed_batch_sizes) == [1, 2, 4, 8, 16, 32] and parsed.max_batch_size.value == 32
    fields = (parsed.batch_timeout_micros, parsed.num_batch_threads, parsed.max_enqueued_batches)
    assert all(field.value >= 1 for field in fields)
    assert "NAME_rows" in text and "must have at least one dimension" in text


def test_files_of_other_content_are_kept_unless_asked(tmp_path):
    serving_files.write_configuration(tmp_path, "tiny")
    serving_files.write_configuration(tmp_path, "tiny")  # the same
    (tmp_path / "batching.config").write_text("# tuned by hand\n")
    before, (_, batching) = contents(tmp_path), serving_files.configuration(tmp_path / "elsewhere", "tiny").values()
    for name in ("tiny", "other"):
        for call in (serving_files.write_configuration, serving_files.configuration):
            with pytest.raises(ValueError, match="overwrite.*Received: .*config"):
                call(tmp_path, name)
    assert contents(tmp_path) == before
    serving_files.write_configuration(tmp_path, "tiny", overwrite=True)
    assert set(contents(tmp_path)) == set(before)
    assert (tmp_path / "batching.config").read_text() == batching
    (tmp_path / "batching.config").write_bytes(b"\xff")
    with pytest.raises(ValueError, match="overwrite.*Received: "):
        serving_files.write_configuration(tmp_path, "tiny")


def test_bad_names_are_refused_before_a_file_is_touched(tmp_path):
    for name in ("", "a b", 'a"b', "a/b", "a\nb", "modèle", None, 3):
        with pytest.raises(ValueError, match="Received: model_name="):
            serving_files.write_configuration(tmp_path, name)
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

        answers = batched(run, requests, (1, 2, 4, 8, 16, 32))
        for inputs, answer in zip(requests, answers, strict=True):
            alone = run(inputs)
            assert set(answer) == set(alone) and alone
            for key, value in alone.items():
                np.testing.assert_array_equal(answer[key], value, err_msg=f"{name} {key}")
