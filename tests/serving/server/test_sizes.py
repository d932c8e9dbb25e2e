"""How many numbers an answer has, and that too many are refused before they are computed."""

import json

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.serving.exports import export
from tfdsmcmc.serving.arrays import BadRequest
from tfdsmcmc.serving.server import application
from tfdsmcmc.serving.server.predictions import Predictions

X = np.eye(3, 5, dtype=np.float32)
SEEDS = np.arange(6).reshape(3, 2)
COUNTS = np.array([2, 2, 2])  # of draws of each row


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    path = tmp_path_factory.mktemp("models") / "tiny"
    export(tiny_model((3, 2), units=5, seed=6), path, sweeps=2)
    return Predictions(path)


def asked(served, signature):
    """Inputs of three rows, and two draws where draws are asked for."""
    rowwise, x, seen = "_rows" in signature, X, X > 0
    if signature.endswith("_packed"):
        x, seen = (np.packbits(part.astype(np.uint8), 1) for part in (x, seen))
    given = {"x": x, "mask": seen, "seed": SEEDS if rowwise else SEEDS[0]}
    given |= dict.fromkeys(["num_samples", "num_imputations"], COUNTS if rowwise else 2)
    return {name: given[name] for name in served.signatures[signature].inputs}


def no_graphs(monkeypatch, served):
    """Whatever is computed fails."""

    def fails(**inputs):
        raise RuntimeError("computed")

    names = list(served.signatures)
    monkeypatch.setattr(served, "_model", type("Model", (), {"signatures": dict.fromkeys(names, fails)}))


def test_too_many_numbers_are_refused_before_they_are_computed(served, monkeypatch):
    """Of each signature: as many as it gives are answered, and one fewer refuses them unseen."""
    sizes = {}
    for name in served.signatures:
        outputs = served.predict(name, asked(served, name))
        sizes[name] = sum(array.size for array in outputs.values())
        assert sum(a.size for a in served.predict(name, asked(served, name), sizes[name]).values()) == sizes[name]
    assert len(sizes) > 10 and (sizes["impute"], sizes["encode"], sizes["sample"]) == (30, 18, 10)
    no_graphs(monkeypatch, served)
    for name, size in sizes.items():
        with pytest.raises(BadRequest, match=f"at most {size - 1} numbers.*Received: {name} with {size}$"):
            served.predict(name, asked(served, name), size - 1)
        with pytest.raises(RuntimeError, match="computed"):
            served.predict(name, asked(served, name), size)


def test_a_request_over_rest_is_refused_before_it_is_computed(served, monkeypatch):
    """With the limit as it is: 4,194,300 numbers reach the graph, 4,194,305 do not."""
    no_graphs(monkeypatch, served)

    def body(count):
        return json.dumps({"signature_name": "sample", "inputs": {"num_samples": count, "seed": [1, 2]}}).encode()

    with pytest.raises(RuntimeError, match="computed"):
        application.predict(served, body(838_860))
    with pytest.raises(BadRequest, match="at most 4,194,304 numbers.*Received: sample with 4,194,305$"):
        application.predict(served, body(838_861))


def test_rows_with_a_context(tmp_path, monkeypatch):
    """Which has a row for each draw, or for each row."""
    layers = [ds.layers.SBN(2), ds.layers.SBN(5)]
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers, context=1), ds.RecognitionNetwork([ds.layers.SBN(2)]))
    export(model, tmp_path / "given", sweeps=2, only=["sample", "log_likelihood"])
    served = Predictions(tmp_path / "given")
    inputs = {"num_samples": 3, "seed": SEEDS[0], "context": np.ones((3, 1), np.float32)}
    assert served.predict("sample", inputs, 15)["x"].size == 15
    assert sum(a.size for a in served.predict("log_likelihood", inputs | {"x": X}, 9).values()) == 9
    no_graphs(monkeypatch, served)
    for name, given, size in (("sample", inputs, 15), ("log_likelihood", inputs | {"x": X}, 9)):
        with pytest.raises(BadRequest, match=f"Received: {name} with {size}$"):
            served.predict(name, given, size - 1)


def test_other_models_are_refused_by_what_they_give(tmp_path):
    """Their inputs may have these names and mean something else."""

    class Other(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([], tf.int32, "num_samples")])
        def halves(self, num_samples):
            return {"x": tf.zeros([num_samples // 2, 5])}

    module = Other()
    tf.saved_model.save(module, str(tmp_path / "other"), {"halves": module.halves.get_concrete_function()})
    served = Predictions(tmp_path / "other")
    assert served.predict("halves", 8, 20)["x"].shape == (4, 5)
    with pytest.raises(BadRequest, match="at most 19 numbers.*Received: halves with 20$"):
        served.predict("halves", 8, 19)
