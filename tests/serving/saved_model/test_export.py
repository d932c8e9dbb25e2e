"""SavedModels: equal to the live model, and able to run in a process that has nothing but TensorFlow."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tests.serving.saved_model import loader
from tests.serving.saved_model.support import QUICK, SEED
from tfdsmcmc.serving.saved_model import audit


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A tiny model, its SavedModel's path, and the loaded SavedModel."""
    model = tiny_model((3, 2), units=4, seed=6)
    path = ds.serving.export(model, tmp_path_factory.mktemp("models") / "tiny", version=3, **QUICK)
    return model, path, tf.saved_model.load(path)


def evaluate(served, x, num_samples, seed=SEED, signature="log_likelihood"):
    result = served.signatures[signature](
        x=tf.constant(x, tf.float32), num_samples=tf.constant(num_samples), seed=tf.constant(seed)
    )
    return {name: value.numpy() for name, value in result.items()}


def test_layout_and_signatures(exported):
    model, path, served = exported
    assert pathlib.Path(path).name == "3" and (pathlib.Path(path) / "saved_model.pb").is_file()
    assert set(served.signatures) == {"serving_default", "log_likelihood", "sample"}
    _, inputs = served.signatures["log_likelihood"].structured_input_signature
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in inputs.items()} == {
        "x": (tf.float32, [None, 4]),
        "num_samples": (tf.int32, []),
        "seed": (tf.int32, [2]),
    }
    _, inputs = served.signatures["sample"].structured_input_signature
    assert set(inputs) == {"num_samples", "seed"}


def test_log_likelihood_meets_enumeration_at_any_batch_size(exported):
    """6 standard errors on 16 + 1 + 5 rows: 5e-8 in all."""
    model, _, served = exported
    states = binary_states(4)
    for x in (states, states[:1], states[3:8]):
        result = evaluate(served, x, 3000)
        exact = Oracle(model).log_likelihood(x)
        assert set(result) == {"value", "standard_error", "effective_sample_size"}
        assert np.all(np.abs(result["value"] - exact) < 6 * result["standard_error"] + 1e-4)
        assert all(value.shape == (len(x),) for value in result.values())


def test_seeds_decide_and_the_default_signature_is_the_likelihood(exported):
    _, _, served = exported
    x = binary_states(4)
    one = evaluate(served, x, 50)["value"]
    np.testing.assert_array_equal(one, evaluate(served, x, 50, signature="serving_default")["value"])
    assert not np.array_equal(one, evaluate(served, x, 50, seed=[3, 5])["value"])


def test_samples_are_those_of_the_live_model(exported):
    model, _, served = exported
    drawn = served.signatures["sample"](num_samples=tf.constant(50), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, model.sample(50, SEED))


@pytest.mark.slow
def test_it_runs_in_a_process_without_this_package(exported, tmp_path):
    _, path, served = exported
    program = f"""
import sys, numpy as np, tensorflow as tf
served = tf.saved_model.load({path!r})
x = tf.constant(np.eye(4), tf.float32)
value = served.signatures["log_likelihood"](x=x, num_samples=tf.constant(70), seed=tf.constant([3, 4]))["value"]
assert "tfdsmcmc" not in sys.modules
np.save("value.npy", value)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "value.npy"), evaluate(served, np.eye(4), 70)["value"])


def test_frozen_layers_are_exported_too(tmp_path):
    model = tiny_model((2,), units=4, seed=1)
    model.generative.layers[0].trainable = False
    served = tf.saved_model.load(ds.serving.export(model, tmp_path / "m", **QUICK))
    drawn = served.signatures["sample"](num_samples=tf.constant(40), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, model.sample(40, SEED))


@pytest.mark.slow
def test_jitted_exports_say_so_and_answer_alike(tmp_path):
    model = tiny_model((2,), units=4, seed=6)
    plain, jitted = (
        ds.serving.export(model, tmp_path / str(jit), only="log_likelihood", jit=jit, verbose=False)
        for jit in (False, True)
    )
    assert audit.faults(plain) == [] and audit.faults(jitted, jit=True) == []
    assert audit.faults(jitted) == ["a function compiled by XLA"]
    assert loader.manifest_of(jitted)["settings"]["jit"] and not loader.manifest_of(plain)["settings"]["jit"]
    one, other = (evaluate(tf.saved_model.load(path), binary_states(4), 100) for path in (plain, jitted))
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], rtol=1e-4)
