"""The audit of a SavedModel finds what a server refuses."""

import pytest
import tensorflow as tf

from tests.oracles import tiny_model
from tfdsmcmc import random, serving
from tfdsmcmc.serving.saved_model import audit


def faults_of(function, tmp_path, **arguments):
    module = tf.Module()
    module.run = tf.function(function, input_signature=[tf.TensorSpec([], tf.float32)], **arguments)
    tf.saved_model.save(module, str(tmp_path))
    return audit.faults(tmp_path), audit.faults(tmp_path, jit=True)


@pytest.mark.parametrize(
    ("function", "fault"),
    [
        (lambda x: tf.py_function(lambda y: y, [x], tf.float32), "EagerPyFunc, which needs Python"),
        (lambda x: tf.numpy_function(lambda y: y, [x], tf.float32), "PyFunc, which needs Python"),
        (lambda x: x + tf.random.uniform([]), "RandomUniform, which has a state"),
        (lambda x: x + tf.random.normal([]), "RandomStandardNormal, which has a state"),
        (lambda x: tf.map_fn(lambda y: y + tf.random.normal([]), x[None]), "RandomStandardNormal, which has a state"),
    ],
)
def test_what_a_server_must_not_run(function, fault, tmp_path):
    for found in faults_of(function, tmp_path):
        assert fault in found


def test_compiled_functions_unless_asked_for(tmp_path):
    assert faults_of(lambda x: x + 1, tmp_path, jit_compile=True) == (["a function compiled by XLA"], [])


def test_what_is_harmless(tmp_path):
    """Stateless draws, loops, checks and variables."""
    variable = tf.Variable(1.0)

    def run(x):
        tf.debugging.assert_greater(x, 0.0)
        return tf.while_loop(lambda y: y < 9, lambda y: y + variable + tf.reduce_sum(random.uniform([2], 1)), [x])

    module = tf.Module()
    module.variable = variable
    module.run = tf.function(run, input_signature=[tf.TensorSpec([], tf.float32)])
    tf.saved_model.save(module, str(tmp_path))
    assert audit.faults(tmp_path) == []


def test_operations_that_tensorflow_does_not_have(tmp_path):
    """A file with a node renamed, as a custom operation would be."""
    tf.saved_model.save(tf.Module(), str(tmp_path))
    file = tmp_path / "saved_model.pb"
    saved = audit.saved_model_pb2.SavedModel.FromString(file.read_bytes())
    saved.meta_graphs[0].graph_def.node.add(name="n", op="CustomOp")
    file.write_bytes(saved.SerializeToString())
    assert audit.faults(tmp_path) == ["CustomOp, which is no operation of TensorFlow"]


def test_an_export_with_a_fault_is_not_put_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "faults", lambda *_: ["CustomOp, which is no operation of TensorFlow"])
    with pytest.raises(RuntimeError, match="Received: a graph with CustomOp"):
        serving.export(tiny_model(), tmp_path / "m", only="sample", verbose=False)
    assert not (tmp_path / "m").exists()
