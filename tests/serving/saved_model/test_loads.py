"""A SavedModel that is loaded: what it leaves in memory, which version it is, and one that is replaced meanwhile."""

import gc
import pathlib

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.framework.func_graph import FuncGraph

from tests.oracles import tiny_model
from tests.serving.exports import export
from tfdsmcmc.serving.client import transports
from tfdsmcmc.serving.server.predictions import Predictions


def test_what_was_loaded_leaves_the_memory(tmp_path):
    """TensorFlow would keep the graphs of a SavedModel whose operations have gradients of their own."""

    def graphs():
        gc.collect()
        return sum(type(thing) is FuncGraph for thing in gc.get_objects())

    path = export(tiny_model((2,), units=4), tmp_path / "m", only=frozenset({"log_likelihood"}))
    assert b"_gradient_op_type" not in (pathlib.Path(path) / "saved_model.pb").read_bytes()  # of which loads would warn
    before = graphs()
    loaded = tf.saved_model.load(path)
    answer = loaded.signatures["log_likelihood"](x=tf.eye(4), num_samples=tf.constant(3), seed=tf.constant([3, 4]))
    assert all(np.isfinite(found).all() for found in answer.values()) and graphs() > before
    del loaded, answer
    assert graphs() <= before


def test_a_version_of_nineteen_digits_is_served(tmp_path):
    """Such as the time in nanoseconds."""
    version = 1_795_888_067_885_182_313
    export(tiny_model((2,), units=4), tmp_path / "m", version=version, only="sample")
    assert Predictions(tmp_path / "m").version == version
    assert transports.address(f"http://h/v1/models/m/versions/{version}")[-1] == version


@pytest.mark.parametrize("fails", [False, True])
def test_a_version_that_is_replaced_while_it_is_read_is_read_anew(tmp_path, monkeypatch, fails):
    """Whether or not what was read of both fits together."""
    path = pathlib.Path(export(tiny_model((2,), units=4), tmp_path / "m", version=1, only=("log_likelihood", "sample")))
    load, replaced = tf.saved_model.load, []

    def late(folder):
        loaded = load(folder)
        if not replaced:
            replaced.append(export(tiny_model((2,), units=4), tmp_path / "m", version=1, only="sample", overwrite=True))
            if fails:
                raise ValueError("incompatible")
        return loaded

    monkeypatch.setattr(tf.saved_model, "load", late)
    served = Predictions(tmp_path / "m")
    assert set(served.signatures) == set(load(str(path)).signatures)
    assert set(served._model.signatures) == set(served.signatures) and replaced
