"""What a request may take of memory: bounded by name before it is taken, and the bound holds for what is allowed."""

import json
import threading
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc.serving.arrays import BadRequest, Signature, arrays_of
from tfdsmcmc.serving.server import answers, memory
from tfdsmcmc.serving.server.predictions import Predictions


@pytest.fixture(scope="module")
def predictions(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "tiny"
    only = ["sample", "impute", "log_likelihood"]
    ds.serving.export(tiny_model((2,), units=4), folder, only=only, sweeps=2, verbose=False)
    return Predictions(folder)


def asked(predictions, signature, **inputs):
    body = json.dumps({"signature_name": signature, "inputs": inputs}).encode()
    return json.loads(answers.predict(predictions, body))["outputs"]


def peak(function):
    """The most bytes of Python's objects and arrays that a call has at once."""
    tracemalloc.start()
    try:
        function()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_many_rows_are_refused_before_they_are_drawn(predictions, monkeypatch):
    """300,000 rows of 4 units were answered, with Python's objects of 240 MB; a million would be 800."""
    most = memory.MOST // 200 // 4
    with pytest.raises(BadRequest, match=rf"sample must be at most [\d,]+ numbers.*Received: {4 * (most + 1):,} numb"):
        asked(predictions, "sample", num_samples=most + 1, seed=[0, 1])
    monkeypatch.setattr(memory, "MOST", 200 * 4 * 10)
    x, mask = [[0, 1, 1, 0]] * 5, [[True, False, True, True]] * 5
    assert len(asked(predictions, "sample", num_samples=10, seed=[0, 1])) == 10
    assert np.shape(asked(predictions, "impute", x=x, mask=mask, num_imputations=2, seed=[0, 1])) == (2, 5, 4)
    refused = {"sample": {"num_samples": 11}, "impute": {"x": x, "mask": mask, "num_imputations": 3}}
    for signature, inputs in refused.items():
        with pytest.raises(BadRequest, match="ask for less at a time. Received: "):
            asked(predictions, signature, **inputs, seed=[0, 1])
    # of many draws come few numbers
    assert len(asked(predictions, "log_likelihood", x=x, num_samples=500, seed=[0, 1])["value"]) == 5


def test_outputs_whose_shapes_do_not_tell_are_refused_when_they_are_there(monkeypatch):
    monkeypatch.setattr(memory, "MOST", 200 * 10)
    memory.writing("odd", {"y": np.zeros(6), "z": np.zeros((2, 2))})
    with pytest.raises(BadRequest, match="odd must be at most 10 numbers.*Received: 11 numbers"):
        memory.writing("odd", {"y": np.zeros(6), "z": np.zeros(5)})


BODIES = {
    "numbers": b"[" + b"1.25," * 200_000 + b"0]",
    "rows": b"[" + b"[0,1,0,1]," * 60_000 + b"[0,1,0,1]]",
    "small floats": b"[" + b"5e1," * 200_000 + b"0]",
    "lists": b"[" + b"[]," * 200_000 + b"[]]",
    "objects": b"[" + b"{}," * 200_000 + b"{}]",
    "entries": b"{" + b",".join(b'"k%d":%d' % (i, i + 1000) for i in range(100_000)) + b"}",
    "words": b"[" + b'"ab",' * 200_000 + b'"ab"]',
    "a wide word": json.dumps("a" * 500_000 + "\N{GRINNING FACE}", ensure_ascii=False).encode(),
}


@pytest.mark.parametrize("name", BODIES)
def test_no_body_takes_more_than_it_is_allowed(predictions, monkeypatch, name):
    """At the least bound with which it is read, and for the rows with their arrays."""
    body = b'{"signature_name": "sample", "inputs": ' + BODIES[name] + b"}"
    monkeypatch.setattr(memory, "MOST", 0)
    with pytest.raises(BadRequest, match="send fewer rows at a time.*Received: ") as refused:
        answers.predict(predictions, body)
    needed = int(str(refused.value).rsplit(" ", 1)[1].replace(",", ""))
    monkeypatch.setattr(memory, "MOST", needed)

    def read():
        with pytest.raises(BadRequest) as other:
            answers.predict(predictions, body)
        assert "fewer rows" not in str(other.value)

    assert peak(read) < needed
    if name == "rows":
        specs = {"x": predictions.signatures["impute"]["x"]}
        assert peak(lambda: arrays_of("impute", json.loads(body)["inputs"], specs)) < needed


@pytest.mark.parametrize("rows", [False, True])
def test_no_answer_takes_more_than_it_is_allowed(rows):
    values = np.random.default_rng(0).normal(size=(20_000, 4)).astype(np.float32) * 1e-20
    outputs = {"a": values[:, 0], "b": values[:, 1:]} if rows else {"x": values}
    specs = {name: tf.TensorSpec((None, *value.shape[1:]), tf.float32) for name, value in outputs.items()}
    signature = Signature({"x": tf.TensorSpec((None,), tf.float32)}, specs)
    served = SimpleNamespace(signature=lambda *_: signature, call=lambda *_: outputs)
    body = json.dumps({"instances" if rows else "inputs": [0] * len(values)}).encode()
    assert peak(lambda: answers.predict(served, body)) < 200 * values.size


def test_a_large_body_waits_for_its_turn(predictions):
    """While another thread has the turn, a small request that is refused is answered, a large one waits."""
    done = {"small": threading.Event(), "large": threading.Event()}

    def ask(name, body):
        with pytest.raises(BadRequest):
            answers.predict(predictions, body)
        done[name].set()

    bodies = {"small": b"{}", "large": b" " * (memory._SMALL + 1) + b"{}"}
    threads = [threading.Thread(target=ask, args=item) for item in bodies.items()]
    with memory.turn:
        for thread in threads:
            thread.start()
        assert done["small"].wait(30) and not done["large"].wait(0.2)
    for thread in threads:
        thread.join(30)
    assert done["large"].is_set()
