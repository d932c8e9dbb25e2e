"""What the client refuses before it asks anything."""

import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.client.support import GAPS, MASK, SEEDS, X
from tfdsmcmc.serving import arrays
from tfdsmcmc.serving.client import Client, transport_grpc, transports


@pytest.mark.parametrize("packed", [False, True])
def test_bad_input_is_refused_before_it_is_sent(server, packed):
    good = {"x": X, "num_samples": 5, "seed": [0, 1]}
    # the tiny model has no packed twin of this one
    rows, counts, ragged = "equally many rows", "num_samples must be integers", "num_samples must have the shape"
    rows, counts, ragged = ("signature must be",) * 3 if packed else (rows, counts, ragged)
    with Client(server.url, "tiny", packed=packed) as client:
        for call, why in (
            (lambda: client.log_likelihood(X[:, 1:]), r"x must have the shape \(rows, 11\)"),
            (lambda: client.log_likelihood(X[0]), "x must have the shape"),
            (lambda: client.log_likelihood(X[:0]), "at least one row"),
            (lambda: client.log_likelihood(GAPS), "x must be finite"),
            (lambda: client.log_likelihood([["a"] * 11]), "x must be (numbers|an array of real numbers)"),
            (lambda: client.log_likelihood(X, 2.0), "num_samples must be integers"),
            (lambda: client.log_likelihood(X, 2**31), "num_samples must be between"),
            (lambda: client.sample(True), "num_samples must be integers"),
            (lambda: client.sample(1, -1), "An integer seed lies in"),
            (lambda: client.sample(1, 2**64), "An integer seed lies in"),
            (lambda: client.sample(1, 1.0), "seed must be integers"),
            (lambda: client.sample(1, True), "A seed is an integer"),
            (lambda: client.sample(1, None), "seed must be integers"),
            (lambda: client.sample(1, [0, 2**31]), "seed must be between"),
            (lambda: client.sample(1, [0, 1, 2]), r"seed must have the shape \(2,\)"),
            (lambda: client.sample_rows([]), r"seed must have the shape \(rows, 2\)"),
            (lambda: client.sample_rows(3), "seeds must have a seed for each row"),
            (lambda: client.sample_rows([1, "2"]), r"seed must have the shape \(rows, 2\)"),
            (lambda: client.impute(X, MASK[:2]), "mask must have the shape"),
            (lambda: client.impute(GAPS, np.ones_like(MASK)), "x must be known where mask is True"),
            (lambda: client.log_likelihood_rows(X, 5, SEEDS[:4]), rows),
            (lambda: client.log_likelihood_rows(X, [5, 5], SEEDS), rows),
            (lambda: client.log_likelihood_rows(X, 0.5, SEEDS), counts),
            (lambda: client.log_likelihood_rows(X, [[1], [1, 2]], SEEDS), ragged),
            (lambda: client.impute_rows(X[:2], None, SEEDS), "equally many rows"),
            (lambda: client.predict("no_such"), "signature must be one of .*'sample'"),
            (lambda: client.predict(["sample"]), "signature must be one of"),
            (lambda: client.predict("log_likelihood", x=X), "num_samples and seed are missing"),
            (lambda: client.predict("log_likelihood", **good, y=X), "y is unknown"),
            (lambda: client.predict("log_likelihood", **{**good, "x": X[:, 1:]}), r"shape \(rows, 11\)"),
            (lambda: client.predict("log_likelihood", **{**good, "x": GAPS}), "x must be finite in float32"),
            (lambda: client.predict("log_likelihood", **{**good, "x": X + np.float64(1e39)}), "x must be finite"),
            (lambda: client.predict("log_likelihood", **{**good, "x": X * 1j}), "x must be numbers"),
            (lambda: client.predict("log_likelihood", **{**good, "x": [[0], [1, 2]]}), "x must have the shape"),
            (lambda: client.predict("log_likelihood", **{**good, "num_samples": 5.0}), "num_samples must be integers"),
            (lambda: client.predict("log_likelihood", **{**good, "num_samples": [5]}), r"must have the shape \(\)"),
            (lambda: client.predict("log_likelihood", **{**good, "seed": [0, 2**31]}), "seed must be between"),
            (lambda: client.predict("impute_rows", x=X, mask=X, seed=[[0, 1]] * 5), "mask must be true or false"),
        ):
            with pytest.raises(ValueError, match=rf"({why}).*Received: "):
                call()
        assert server.calls == 0
        client.sample()
        assert server.calls == 1


@pytest.mark.parametrize("value", [[[1, True]], ((1, True),), [[0.5, np.True_]]])
def test_truth_among_numbers_is_no_number(value):
    with pytest.raises(arrays.BadRequest, match=r"^x must be numbers .*Received: true or false among numbers"):
        arrays.array_of("x", value, tf.TensorSpec([None, 2], tf.float32))


def test_inputs_above_two_gibibytes_are_refused(server, monkeypatch):
    monkeypatch.setattr(transport_grpc, "_LARGEST", transport_grpc._FRAME + X.nbytes)
    with Client(server.url, "tiny") as client:
        if server.url.startswith("grpc"):
            with pytest.raises(ValueError, match="less than 2 GiB. Received: "):
                client.log_likelihood(X, 2)
            assert server.calls == 0
        assert client.log_likelihood(X[1:], 2).value.shape == (4,)


def test_a_closed_client(server):
    client = Client(server.url, "tiny")
    client.sample()
    client.close()
    client.close()
    with pytest.raises(ValueError, match="closed.*Received: "):
        client.sample()
    assert server.calls == 1


@pytest.mark.parametrize(
    ("url", "arguments"),
    [
        (None, {"model": "m"}),
        ("127.0.0.1:8501", {"model": "m"}),
        ("ftp://127.0.0.1", {"model": "m"}),
        ("http://", {"model": "m"}),
        ("http://[::1", {"model": "m"}),
        ("http://127.0.0.1:port", {"model": "m"}),
        ("http://127.0.0.1:99999", {"model": "m"}),
        ("grpc://127.0.0.1", {"model": "m"}),
        ("grpc://127.0.0.1:8500/other", {"model": "m"}),
        ("http://127.0.0.1/?a=b", {"model": "m"}),
        ("http://127.0.0.1", {}),
        ("http://127.0.0.1", {"model": ""}),
        ("http://127.0.0.1", {"model": 3}),
        ("http://127.0.0.1/v1/models/a", {"model": "b"}),
        ("http://127.0.0.1/v1/models/a/versions/1", {"version": 2}),
        ("http://127.0.0.1", {"model": "m", "version": -1}),
        ("http://127.0.0.1", {"model": "m", "version": "1"}),
        ("http://a..b:80", {"model": "m"}),
        ("grpc://a..b:80", {"model": "m"}),
        (f"http://{'a' * 64}.b", {"model": "m"}),
        ("http://*:80", {"model": "m"}),
        (f"http://127.0.0.1/v1/models/m/versions/{'9' * 5000}", {}),
        ("http://127.0.0.1", {"model": "m", "timeout": 1e12}),
        ("http://127.0.0.1", {"model": "m", "timeout": 0}),
        ("http://127.0.0.1", {"model": "m", "timeout": None}),
        ("http://127.0.0.1", {"model": "m", "retries": -1}),
        ("http://127.0.0.1", {"model": "m", "retries": 1.5}),
        ("http://127.0.0.1", {"model": "m", "packed": 1}),
    ],
)
def test_bad_arguments(url, arguments):
    name = next((key for key in arguments if key != "model"), "url|URL|model")
    with pytest.raises(ValueError, match=f"({name}).*Received: |Received: .*{name}="):
        Client(url, **arguments)


def test_addresses():
    assert transports.address("https://h/gate/v1/models/a%20b/versions/7") == ("https", "h", "/gate", "a b", 7)
    assert transports.address("grpcs://h:1", "m", 2) == ("grpcs", "h:1", "", "m", 2)
    assert transports.address("http://[::1]:8501/", "m") == ("http", "[::1]:8501", "", "m", None)
    for host in ("h", "h:port", "a..b"):
        with pytest.raises(ValueError) as error:
            transports.address(f"http://someone:secret@{host}", "m")
        assert "Received: " in str(error.value) and "secret" not in str(error.value)
    Client("grpcs://localhost:1", "m").close()


@pytest.mark.parametrize(
    ("url", "module"),
    [("http://h", "urllib3"), ("grpc://h:1", "grpc"), ("grpc://h:1", "tensorflow_serving.apis.predict_pb2")],
)
def test_a_missing_package(url, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install tfdsmcmc\[serving\]"):
        Client(url, model="m")
