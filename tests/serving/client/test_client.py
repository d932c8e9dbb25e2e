"""The client over REST and over gRPC: the same answers as the SavedModel called directly, and every fault in words.

The tests of answers also run against a real server if the environment variable TFS_URL names one which serves the tiny
model. To start TensorFlow Serving with it:

    python -m tests.serving.client.stand_in /tmp/models
    docker run --rm -p 8500:8500 -p 8501:8501 -v /tmp/models/tiny:/models/tiny -e MODEL_NAME=tiny tensorflow/serving
    TFS_URL=http://127.0.0.1:8501 python -m pytest tests/serving/client/test_client.py
    TFS_URL=grpc://127.0.0.1:8500 python -m pytest tests/serving/client/test_client.py

There floating-point answers may differ in the last digits, which come from another build of TensorFlow; the stand-ins
answer bit for bit.
"""

import contextlib
import functools
import http.server
import itertools
import json
import os
import pathlib
import pickle
import socket
import sys
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states
from tests.serving.exports import export
from tfdsmcmc import random
from tfdsmcmc.likelihood import LogLikelihood
from tfdsmcmc.serving import arrays
from tfdsmcmc.serving.client import Client, transport_grpc, transport_rest, transports
from tfdsmcmc.serving.client.transports import ServerError
from tfdsmcmc.serving.server.development_server import make_server

stand_in = pytest.importorskip("tests.serving.client.stand_in", reason="needs pip install tfdsmcmc[serving]")

X = binary_states(stand_in.UNITS)[[5, 700, 2047, 1290, 1023]].astype(np.float32)
MASK = np.arange(X.size).reshape(X.shape) % 3 > 0
GAPS = np.where(MASK, X, np.nan)
SEEDS = [0, 7, 2**32 + 5, 2**64 - 1, 2**31]
BOTH = ["rest", "grpc"]
WAITS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]  # seconds before each of eight calls that are made again


@pytest.fixture(scope="module", autouse=True)
def exported(tmp_path_factory):
    """The path of the tiny model. It is loaded once for all servers here, and not before that by the export itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("no_proxy", "127.0.0.1")
        path = stand_in.export_tiny(tmp_path_factory.mktemp("models").resolve())
        patch.setattr(tf.saved_model, "load", functools.cache(tf.saved_model.load))
        yield path


@pytest.fixture(scope="module")
def direct(exported):
    """The SavedModel called directly."""
    loaded = tf.saved_model.load(exported)

    def call(signature, **inputs):
        specs = loaded.signatures[signature].structured_input_signature[1]
        tensors = {name: tf.constant(value, specs[name].dtype) for name, value in inputs.items()}
        return {name: value.numpy() for name, value in loaded.signatures[signature](**tensors).items()}

    return call


@pytest.fixture(scope="module")
def stand_ins(exported):
    found = {"rest": stand_in.RestStandIn(exported), "grpc": stand_in.GrpcStandIn(exported)}
    yield found
    for one in found.values():
        one.close()


@pytest.fixture(params=[*BOTH, "TFS_URL"])
def url(request, stand_ins):
    if request.param in stand_ins:
        return stand_ins[request.param].url
    if "TFS_URL" not in os.environ:
        pytest.skip("TFS_URL names no TensorFlow Serving")
    return os.environ["TFS_URL"]


@pytest.fixture
def client(url):
    with Client(url, model=stand_in.NAME) as client:
        yield client


@pytest.fixture(params=BOTH)
def server(request, stand_ins):
    """A stand-in that fails as it is told."""
    server = stand_ins[request.param]
    server.reset()
    yield server
    server.reset()


def assert_same(client, found, expected):
    real = client._transport.url.split("/v1")[0].rstrip("/") in os.environ.get("TFS_URL", "")
    compare = np.testing.assert_allclose if real else np.testing.assert_array_equal
    tolerance = {"rtol": 1e-4, "atol": 1e-5} if real else {}
    assert found.dtype == expected.dtype and found.shape == expected.shape
    compare(found, expected, **tolerance)


def assert_same_triple(client, found, expected):
    assert isinstance(found, LogLikelihood)
    for name in ("value", "standard_error", "effective_sample_size"):
        assert_same(client, getattr(found, name), expected[name])
    assert found.num_samples is None and found.pareto_k is None


# ---- answers


def test_plain_calls(client, direct):
    found = client.log_likelihood(X, 50, seed=3)
    assert_same_triple(client, found, direct("log_likelihood", x=X, num_samples=50, seed=[3, 0]))
    assert float(found.mean()) == pytest.approx(found.value.mean())
    assert_same(client, client.sample(4, seed=9), direct("sample", num_samples=4, seed=[9, 0])["x"])
    expected = direct("encode", x=X, num_samples=50, seed=[1, 0])
    found = client.encode(X, 50, seed=1)
    assert set(found) == {"z_1", "z_2", "effective_sample_size"}
    for name, value in expected.items():
        assert_same(client, found[name], value)
    expected = direct("reconstruct", x=X, num_samples=50, seed=[1, 0])["x"]
    assert_same(client, client.reconstruct(X, 50, seed=1), expected)


def test_an_error_of_log_z_is_one_of_all_rows(tmp_path):
    """The mean over rows has it whole: √n times more than if each row had one of its own."""
    rbm = ds.boltzmann.RBM(4, 2, seed=1)
    known = ds.boltzmann.LogPartition(3.0, 0.1, (2.7, 3.3), 9.0)
    path = export(rbm, tmp_path / "rbm", log_partition=known, only=["log_likelihood", "log_likelihood_rows"])
    server = make_server(pathlib.Path(path).parent, port=0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    x = binary_states(4).astype(np.float32)
    with Client(server.url, model="rbm") as client:
        for found in (client.log_likelihood(x), client.log_likelihood_rows(x, 1, range(16))):
            want = rbm.log_likelihood(x, known).mean()
            np.testing.assert_allclose(found.mean(), want, rtol=1e-5)
            np.testing.assert_allclose(found.mean().standard_error, want.standard_error, rtol=1e-5)
    server.shutdown()
    server.server_close()


def test_imputation_by_nan_and_by_mask(client, direct):
    expected = direct("impute", x=X, mask=MASK, num_imputations=3, seed=[2, 0])["x"]
    for x, mask in ((GAPS, None), (X, MASK), (np.where(MASK, X, 7), MASK.astype(int)), (GAPS.tolist(), None)):
        found = client.impute(x, mask, num_imputations=3, seed=2)
        assert_same(client, found, expected)
        assert (found == X)[:, MASK].all()
    assert not np.array_equal(expected[0], expected[1])
    one_row = np.arange(stand_in.UNITS) < 4
    found = client.impute(X, one_row, seed=2)
    mask = np.tile(one_row, (len(X), 1))
    assert_same(client, found, direct("impute", x=X, mask=mask, num_imputations=1, seed=[2, 0])["x"])


def test_rows_do_not_depend_on_the_batch(client, direct):
    pairs = np.stack([random.as_seed(seed) for seed in SEEDS])
    counts = [50, 2, 70, 50, 33]
    found = client.log_likelihood_rows(X, counts, SEEDS)
    assert_same_triple(client, found, direct("log_likelihood_rows", x=X, num_samples=counts, seed=pairs))
    drawn = client.sample_rows(SEEDS)
    assert_same(client, drawn, direct("sample_rows", seed=pairs)["x"])
    imputed = client.impute_rows(GAPS, None, SEEDS)
    assert_same(client, imputed, direct("impute_rows", x=X, mask=MASK, seed=pairs)["x"])
    for part in (slice(0, 1), slice(1, 3), slice(3, 5)):
        again = client.log_likelihood_rows(X[part], counts[part], SEEDS[part])
        np.testing.assert_allclose(again[:3], [a[part] for a in found[:3]], rtol=1e-5)
        np.testing.assert_array_equal(client.sample_rows(pairs[part]), drawn[part])
        np.testing.assert_array_equal(client.impute_rows(X[part], MASK[part], pairs[part]), imputed[part])
    plain = client.log_likelihood(X[1:2], 2, seed=SEEDS[1])
    np.testing.assert_allclose(plain[:3], [a[1:2] for a in found[:3]], rtol=1e-5)


@pytest.mark.parametrize("hidden", [None, 1.0, 7.0])
def test_what_is_sent_of_rows_with_gaps(stand_ins, monkeypatch, hidden):
    """Zeros in the gaps, whatever stood there: single precision and booleans, or bits; all observed is said too."""
    sent = []
    monkeypatch.setattr(Client, "predict", lambda client, name, **inputs: sent.append(inputs) or {"x": None})
    x, mask = (GAPS, None) if hidden is None else (np.where(MASK, X, hidden), MASK)
    with Client(stand_ins["rest"].url, model=stand_in.NAME) as plain:
        plain.impute(x, mask)
        plain.impute(X)
    with Client(stand_ins["rest"].url, model=stand_in.NAME, packed=True) as packed:
        packed.impute(x, mask)
        packed.impute(X)
    for values, known, (one, bits) in ((X * MASK, MASK, sent[::2]), (X, np.ones_like(MASK), sent[1::2])):
        assert one["x"].dtype == np.float32 and one["mask"].dtype == bool
        np.testing.assert_array_equal(one["x"], values)
        np.testing.assert_array_equal(one["mask"], known)
        np.testing.assert_array_equal(bits["x"], np.packbits(values > 0, axis=1))
        np.testing.assert_array_equal(bits["mask"], np.packbits(known, axis=1))


def test_packed_calls_answer_the_same(url, client):
    with Client(url, model=stand_in.NAME, packed=True) as packed:
        for name, arguments in {
            "log_likelihood": (X, 50, 5),
            "impute": (GAPS, None, 2, 5),
            "impute_rows": (X, MASK, SEEDS),
            "sample": (3, 5),
        }.items():
            one, other = (getattr(c, name)(*arguments) for c in (client, packed))
            one, other = (a[:3] if name == "log_likelihood" else a for a in (one, other))  # with what is counted
            np.testing.assert_array_equal(one, other, err_msg=name)
        with pytest.raises(ValueError, match="x must be binary.*Received: "):
            packed.log_likelihood(X / 2)
        with pytest.raises(ValueError, match="signature must be one of.*Received: 'encode_packed'"):
            packed.encode(X)


def test_seeds_of_every_form(client):
    for seed, pair in ((7, (7, 0)), (2**33 + 1, (1, 2)), (2**64 - 1, (-1, -1)), (2**31, (-(2**31), 0))):
        np.testing.assert_array_equal(random.as_seed(seed), pair)
        expected = client.sample(5, seed)
        for form in (np.uint64(seed), list(pair), pair, np.array(pair, np.int32), np.array(pair), random.as_seed(seed)):
            np.testing.assert_array_equal(client.sample(5, form), expected)
    forms = (SEEDS, tuple(SEEDS), np.array(SEEDS, np.uint64), [random.as_seed(s) for s in SEEDS], map(int, SEEDS))
    drawn = [client.sample_rows(form) for form in forms]
    for other in drawn[1:]:
        np.testing.assert_array_equal(other, drawn[0])


def test_both_ways_agree(stand_ins):
    with Client(stand_ins["rest"].url, "tiny") as rest, Client(stand_ins["grpc"].url, "tiny") as remote:
        np.testing.assert_array_equal(rest.log_likelihood(X, 9, 4)[:3], remote.log_likelihood(X, 9, 4)[:3])
        np.testing.assert_array_equal(rest.impute(GAPS, seed=4), remote.impute(GAPS, seed=4))
        assert rest.signatures == remote.signatures and "sample" in rest.signatures
        # one draw leaves the standard error unknown: NaN comes back
        assert np.isnan(rest.log_likelihood(X, 1).standard_error).all()
        assert np.isnan(remote.log_likelihood(X, 1).standard_error).all()


def test_any_signature_and_array_likes(client, direct):
    inputs = {"x": X, "num_samples": 30, "seed": [5, -6]}
    expected = direct("serving_default", **inputs)
    for x in (X, X.astype(bool), X.astype(np.int64), X.tolist(), X.astype(object), np.asfortranarray(X)):
        found = client.predict("serving_default", **{**inputs, "x": x})
        assert set(found) == set(expected)
        for name, value in expected.items():
            assert_same(client, found[name], value)


def test_data_frames(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GAPS).convert_dtypes()
    np.testing.assert_array_equal(client.impute(frame, seed=1), client.impute(GAPS, seed=1))
    frame = pandas.DataFrame(X.astype(int))
    np.testing.assert_array_equal(client.log_likelihood(frame, 9)[:3], client.log_likelihood(X, 9)[:3])


def test_the_url_may_name_the_model_and_the_version(stand_ins):
    for one in stand_ins.values():
        for path, arguments in (
            ("/v1/models/tiny", {}),
            ("/v1/models/tiny/", {"model": "tiny"}),
            ("/v1/models/tiny/versions/3", {}),
            ("/", {"model": "tiny", "version": 3}),
        ):
            with Client(one.url + path, **arguments) as client:
                assert client.sample(2).shape == (2, stand_in.UNITS)


def test_every_float_comes_back(monkeypatch):
    """Random bits as float32, the least and the largest among them, there and back as JSON."""
    bits = np.random.default_rng(0).integers(0, 2**32, 10_000, np.uint32)
    values = np.concatenate([bits.view(np.float32), np.finfo(np.float32).max * np.array([1, -1], np.float32)])
    values = np.concatenate([values[np.isfinite(values)], np.array([1, 2**22], np.uint32).view(np.float32)])[:, None]

    def echo(handler):
        body = handler.rfile.read(int(handler.headers["Content-Length"]))
        answer(handler, 200, b'{"outputs":' + body.partition(b'"x":')[2].rstrip(b"}") + b"}")

    tensor = {"x": tf.TensorSpec((None, 1), tf.float32)}
    monkeypatch.setattr(Client, "signatures", {"echo": arrays.Signature(tensor, tensor)})
    with answering(echo) as url, Client(url, "any") as client:
        found = client.predict("echo", x=values)["x"]
    np.testing.assert_array_equal(found.view(np.uint32), values.view(np.uint32))


def test_grpc_messages_may_be_large(stand_ins):
    """gRPC's own limit is 4 MiB."""
    with Client(stand_ins["grpc"].url, "tiny") as client:
        assert client.sample(100_000).nbytes > 2**22
        try:
            client.log_likelihood(np.tile(X, (20_000, 1)), 1)
        except ServerError as error:  # the model may find them too many, but it has seen them
            assert error.status == "INVALID_ARGUMENT" and error.message.startswith("x must have at most")


def test_descriptions(monkeypatch):
    """As a server sends them: JSON has long integers as strings; what initialises a model has no type."""

    def tensor(kind, *sizes):
        return {"dtype": kind, "tensor_shape": {"dim": [{"size": str(size), "name": ""} for size in sizes]}}

    description = {
        "packed": {"inputs": {"x": tensor("DT_UINT8", -1, 2)}, "outputs": {"value": tensor("DT_FLOAT", -1)}},
        "sample": {"inputs": {"seed": {"dtype": "DT_INT32"}}, "outputs": {"x": tensor("DT_FLOAT", -1, 11)}},
        "any": {"inputs": {"x": {"dtype": "DT_FLOAT", "tensor_shape": {"unknown_rank": True}}}, "of": "tomorrow"},
        "words": {"inputs": {"x": tensor("DT_STRING", -1)}},
        "__saved_model_init_op": {"outputs": {"op": tensor("DT_INVALID")}},
    }
    answers = [{"metadata": {"signature_def": {"signature_def": description}}}]
    monkeypatch.setattr(transport_rest.RestTransport, "_answer", lambda *_: answers[0])
    with Client("http://h", "m", packed=True) as client:
        found = client.signatures
        assert set(found) == {"packed", "sample", "any", "words"} and client._units(X) == 11
        assert found["sample"].inputs == {"seed": tf.TensorSpec((), tf.int32, "seed")}
        assert found["packed"].inputs["x"] == tf.TensorSpec((None, 2), tf.uint8, "x")
        client._signatures = {"packed": found["packed"]}
        assert {client._units(np.ones((2, width))) for width in range(9, 17)} == set(range(9, 17))
        assert {client._units(wrong) for wrong in (3, [[1], [1, 2]])} <= {0}  # by which the check of rows refuses them
    for value in (3, X, [X]):
        np.testing.assert_array_equal(arrays.arrays_of("any", {"x": value}, found["any"].inputs)["x"], value)


@pytest.mark.parametrize("value", [[[1, True]], ((1, True),), [[0.5, np.True_]]])
def test_truth_among_numbers_is_no_number(value):
    with pytest.raises(arrays.BadRequest, match=r"^x must be numbers .*Received: true or false among numbers"):
        arrays.array_of("x", value, tf.TensorSpec([None, 2], tf.float32))


def test_packed_signatures_alone(url, client, direct, monkeypatch):
    """Bytes do not tell how many bits of the last one are data; the data do."""
    with Client(url, stand_in.NAME, packed=True) as packed:
        monkeypatch.setattr(packed, "_signatures", {k: v for k, v in client.signatures.items() if k[-6:] == "packed"})
        expected = direct("impute", x=X, mask=MASK, num_imputations=1, seed=[2, 0])["x"]
        assert_same(client, packed.impute(GAPS, seed=2), expected)
        for wrong in (X[:, :8], np.ones((2, 17)), X[0]):
            with pytest.raises(ValueError, match="x must have the shape.*Received: "):
                packed.log_likelihood(wrong, 2)


# ---- refusals, before anything is asked


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


# ---- faults of the server


def test_the_servers_words_are_passed_on(server):
    with Client(server.url, "tiny") as client:
        for call, words in (
            (lambda: client.log_likelihood(X / 2), "x must be binary, each entry 0 or 1"),
            (lambda: client.log_likelihood(X, 2**31 - 1), "num_samples must be between 1 and"),
            (lambda: client.sample(0), "num_samples must be between 1 and"),
            (lambda: client.impute(X, num_imputations=0), "num_imputations must be between 1 and"),
        ):
            with pytest.raises(ServerError) as error:
                call()
            assert error.value.status in (400, "INVALID_ARGUMENT")
            assert words in error.value.message and error.value.url.startswith(server.url)
            assert error.value.message in str(error.value) and str(error.value.status) in str(error.value)
        assert server.calls == 4  # none was made again
        assert client.sample(2).shape == (2, stand_in.UNITS)


def test_a_wrong_model_or_version(server):
    for arguments in ({"model": "other"}, {"model": "tiny", "version": 8}):
        with Client(server.url, **arguments) as client, pytest.raises(ServerError) as error:
            client.sample()
        assert error.value.status in (404, "NOT_FOUND") and error.value.message


def test_a_signature_that_is_gone(server):
    """As when the server has changed the model since it described it."""
    with Client(server.url, "tiny") as client:
        client._signatures = {**client.signatures, "gone": client.signatures["sample"]}
        with pytest.raises(ServerError, match="gone") as error:
            client.predict("gone", num_samples=1, seed=[0, 1])
    assert error.value.status in (400, 404, "FAILED_PRECONDITION", "INVALID_ARGUMENT")


def test_what_fails_in_passing_is_asked_again(server):
    server.faults = iter(["unavailable", "unavailable"])
    with Client(server.url, "tiny", retries=2) as client:
        np.testing.assert_array_equal(client.sample(3, 8), client.sample(3, 8))
    assert server.calls == 4


@pytest.mark.parametrize("retries", [0, 2])
def test_what_always_fails_is_asked_so_often(server, retries):
    server.faults = itertools.repeat("unavailable")
    with Client(server.url, "tiny", retries=retries) as client, pytest.raises(ServerError) as error:
        client.sample()
    assert error.value.status in (503, "UNAVAILABLE") and server.calls == 1 + retries


@pytest.mark.parametrize("code", ["UNAVAILABLE", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"])
def test_waits_double_up_to_a_bound_over_grpc(stand_ins, monkeypatch, code):
    waits, grpc = [], stand_in.grpc
    monkeypatch.setattr(transports.time, "sleep", waits.append)

    class Fault(grpc.RpcError):
        code, details = (lambda self: grpc.StatusCode[code]), (lambda self: "words")

    def fails(*_, **__):
        raise Fault

    with Client(stand_ins["grpc"].url, "tiny", retries=8) as client, pytest.raises(ServerError):
        client._transport._answer(fails, client._transport._predict.PredictRequest())
    np.testing.assert_allclose(waits, WAITS if code == "UNAVAILABLE" else [])


@pytest.mark.parametrize("status", [429, 502, 503, 504, 400, 404, 413, 500])
def test_waits_double_up_to_a_bound_over_rest(monkeypatch, status):
    waits = []
    monkeypatch.setattr(transports.time, "sleep", waits.append)
    with answering(lambda handler: answer(handler, status, b"{}")) as url, Client(url, "tiny", retries=8) as client:
        with pytest.raises(ServerError) as error:
            client.sample()
    assert error.value.status == status
    np.testing.assert_allclose(waits, WAITS if status in (429, 502, 503, 504) else [])


def test_no_answer_in_time(server):
    server.faults = iter(["hang"])
    with Client(server.url, "tiny", timeout=0.3) as client:
        assert client.signatures
        start = time.monotonic()
        with pytest.raises(ServerError, match="no answer within 0.3 seconds") as error:
            client.sample()
        assert error.value.status == "DEADLINE_EXCEEDED" and time.monotonic() - start < 5
        assert server.calls == 1
    with Client(server.url, "tiny") as client:
        client.sample()


@pytest.mark.parametrize("scheme", ["http", "grpc"])
def test_nobody_there(scheme):
    with Client(f"{scheme}://127.0.0.1:{free_port()}", "tiny", retries=1) as client:
        with pytest.raises(ServerError) as error:
            client.sample()
    assert error.value.status == "UNAVAILABLE" and error.value.message


@pytest.mark.parametrize("kind", [stand_in.RestStandIn, stand_in.GrpcStandIn])
def test_a_server_that_starts_late_is_reached(kind, exported, direct):
    port, started = free_port(), []
    late = threading.Timer(0.15, lambda: started.append(kind(exported, port)))
    scheme = "http" if kind is stand_in.RestStandIn else "grpc"
    with Client(f"{scheme}://127.0.0.1:{port}", "tiny", retries=8) as client:
        late.start()
        np.testing.assert_array_equal(client.sample(3, 1), direct("sample", num_samples=3, seed=[1, 0])["x"])
    late.join()
    started[0].close()


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (200, b"<html>", "no JSON object"),
        (200, b"[1]", "no JSON object"),
        (200, b"[" * 200_000, "no JSON object"),
        (200, b"{}", "describes no signatures"),
        (200, b'{"metadata": {"signature_def": {"signature_def": {"sample": null}}}}', "describes no signatures"),
        (200, b'{"metadata": {"signature_def": {"signature_def": [1]}}}', "describes no signatures"),
        (404, b"<html>nothing here", "nothing here"),
        (500, b"", "Internal Server Error"),
        (302, b"", "Found"),
    ],
)
def test_something_else_answers(status, body, words):
    with answering(lambda handler: answer(handler, status, body)) as url, Client(url, "tiny") as client:
        with pytest.raises(ServerError, match=words) as error:
            client.sample()
    assert error.value.status == status


# what a server may answer for an output of each type and shape, as JSON; and the words about it, or None if it fits
ANSWERS = [
    (np.float32, (2,), "[1.5, NaN]", None),
    (np.float32, (2,), "[-Infinity, 1]", None),
    (np.float32, (None,), "[]", None),
    (np.float32, None, "[[1]]", None),
    (np.int32, (None, 1), "[[1], [2]]", None),
    (np.bool_, (2,), "[true, false]", None),
    (np.float32, (None, 4), "3", r"shape \(rows, 4\)"),
    (np.float32, (None, 4), "[1, 2, 3, 4]", r"shape \(rows, 4\)"),
    (np.float32, (None, 4), "[[1, 2, 3]]", r"shape \(rows, 4\)"),
    (np.float32, (None, 4), "[[null, null, null, null]]", r"numbers \(float32\)"),
    (np.float32, (None, 2), "[[1, 2], [1]]", "ragged"),
    (np.float32, (2,), '["1", "2"]', r"numbers \(float32\)"),
    (np.float32, (2,), "[true, false]", r"numbers \(float32\)"),
    (np.float32, (), "1" + 400 * "0", r"numbers \(float32\)"),
    (np.int32, (1,), "[1.5]", r"integers \(int32\)"),
    (np.int32, (1,), "[1099511627776]", "must be between"),
    (np.uint8, (1,), "[300]", "must be between 0 and 255"),
    (np.bool_, (1,), "[1]", r"true or false \(bool\)"),
    (np.float32, (1,), "{}", r"numbers \(float32\)"),
]


def test_answers_that_contradict_the_signature(monkeypatch):
    bodies = (b'{"outputs": ' + text.encode() + b"}" for _, _, text, _ in ANSWERS)
    with answering(lambda handler: answer(handler, 200, next(bodies))) as url, Client(url, "tiny") as client:
        for kind, shape, text, words in ANSWERS:
            tensor = tf.TensorSpec(shape, kind)
            monkeypatch.setattr(Client, "signatures", {"one": arrays.Signature({}, {"x": tensor})})
            if words is None:
                found = client.predict("one")["x"]
                assert found.dtype == kind
                np.testing.assert_array_equal(found, json.loads(text))
                continue
            with pytest.raises(ServerError, match=rf"does not have the outputs \['x'\].*{words}") as error:
                client.predict("one")
            assert error.value.status == 200


def test_answers_over_grpc_that_contradict_the_signature(stand_ins):
    kinds = [(np.int32, (None, 11), "integers"), (np.float32, (None, 5), r"shape \(rows, 5\)")]
    kinds += [(np.float32, (None,), r"shape \(rows,\)"), (np.bool_, (None, 11), "true or false")]
    with Client(stand_ins["grpc"].url, "tiny") as client:
        sample = client.signatures["sample"]
        for kind, shape, words in kinds:
            client._signatures = {"sample": sample._replace(outputs={"x": tf.TensorSpec(shape, kind)})}
            with pytest.raises(ServerError, match=rf"does not have the outputs \['x'\].*{words}"):
                client.sample()
        client._signatures = {"sample": sample._replace(outputs={"y": sample.outputs["x"]})}
        with pytest.raises(ServerError, match=r"does not have the outputs \['y'\]"):
            client.sample()


def test_an_answer_that_is_not_what_its_headers_say():
    def act(handler):
        handler.send_response(200)
        handler.send_header("Content-Encoding", "gzip")
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"{}")

    with answering(act) as url, Client(url, "tiny") as client, pytest.raises(ServerError) as error:
        client.sample()
    assert error.value.status == "DATA_LOSS"


def test_a_proxy_that_is_none(monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http:///")
    monkeypatch.setenv("http_proxy", "http:///")
    with pytest.raises(ValueError, match="proxy.*Received: "):
        Client("http://elsewhere.example", "tiny")


@pytest.mark.parametrize("proxy", ["{}", "http://{}", "http://somebody:secret@{}"])
def test_a_proxy_is_asked_but_for_hosts_that_need_none(monkeypatch, proxy):
    seen = []

    def act(handler):
        seen.append((handler.path, handler.headers["Proxy-Authorization"]))
        answer(handler, 404, b"{}")

    with answering(act) as url:
        monkeypatch.setenv("http_proxy", proxy.format(url.removeprefix("http://")))
        monkeypatch.setenv("no_proxy", "other.example")
        for host in ("elsewhere.example", "other.example"):
            with Client(f"http://{host}", "tiny", retries=0, timeout=5) as client, pytest.raises(ServerError):
                client.sample()
    path = "http://elsewhere.example/v1/models/tiny/metadata"
    assert seen == [(path, "Basic c29tZWJvZHk6c2VjcmV0" if "secret" in proxy else None)]


def test_a_connection_that_is_not_made_in_time_is_tried_again(monkeypatch):
    import urllib3

    calls = []

    def connect(self):
        calls.append(1)
        raise urllib3.exceptions.ConnectTimeoutError("no route")

    monkeypatch.setattr(urllib3.connection.HTTPConnection, "connect", connect)
    with Client("http://127.0.0.1:1", "tiny", retries=1) as client:
        with pytest.raises(ServerError, match="no connection") as error:
            client.sample()
    assert error.value.status == "UNAVAILABLE" and len(calls) == 2


def test_an_answer_that_breaks_off(monkeypatch):
    """One that was cut is asked for again; one that stops arriving is late."""
    monkeypatch.setattr(Client, "signatures", {"one": arrays.Signature({}, {"x": tf.TensorSpec((), tf.int32)})})
    calls, released = [], threading.Event()

    def cut_once(handler):
        calls.append(1)
        answer(handler, 200, b'{"outputs": 5}', length=14 if len(calls) > 1 else 20)

    def stops(handler):
        calls.append(1)
        answer(handler, 200, b'{"outputs"', length=20)
        released.wait(30)

    with answering(cut_once) as url, Client(url, "tiny") as client:
        assert client.predict("one")["x"] == 5 and len(calls) == 2
    calls.clear()
    with answering(stops) as url, Client(url, "tiny", timeout=0.2) as client:
        with pytest.raises(ServerError, match="no answer within 0.2 seconds"):
            client.predict("one")
        released.set()
    assert len(calls) == 1


def test_inputs_above_two_gibibytes_are_refused(server, monkeypatch):
    monkeypatch.setattr(transport_grpc, "_LARGEST", transport_grpc._FRAME + X.nbytes)
    with Client(server.url, "tiny") as client:
        if server.url.startswith("grpc"):
            with pytest.raises(ValueError, match="less than 2 GiB. Received: "):
                client.log_likelihood(X, 2)
            assert server.calls == 0
        assert client.log_likelihood(X[1:], 2).value.shape == (4,)


# ---- the client itself


def test_a_closed_client(server):
    client = Client(server.url, "tiny")
    client.sample()
    client.close()
    client.close()
    with pytest.raises(ValueError, match="closed.*Received: "):
        client.sample()
    assert server.calls == 1


@pytest.mark.parametrize(
    ("url", "module"),
    [("http://h", "urllib3"), ("grpc://h:1", "grpc"), ("grpc://h:1", "tensorflow_serving.apis.predict_pb2")],
)
def test_a_missing_package(url, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"pip install tfdsmcmc\[serving\]"):
        Client(url, model="m")


def test_errors_can_be_pickled_and_read():
    error = pickle.loads(pickle.dumps(ServerError(404, "words", "http://h")))
    assert (error.status, error.message, error.url) == (404, "words", "http://h")


def test_the_context_goes_along(stand_ins, monkeypatch):
    """With each call of a conditional model, and with no call where there is none."""
    sent = {}

    def predict(self, signature, /, **inputs):
        sent[signature] = inputs
        outputs = ("value", "standard_error", "effective_sample_size") if "likelihood" in signature else ("x",)
        return dict.fromkeys(outputs, np.ones(2))

    monkeypatch.setattr(Client, "predict", predict)
    x, context = np.zeros((2, stand_in.UNITS)), [[1.0], [2.0]]
    with Client(stand_ins["rest"].url, model=stand_in.NAME) as client:
        for given in ({"context": context}, {}):
            sent.clear()
            for call in (client.log_likelihood, client.encode, client.reconstruct):
                call(x, 5, 0, **given)
            client.sample(2, 0, **given), client.impute(x, None, 1, 0, **given)
            client.log_likelihood_rows(x, 5, [0, 1], **given), client.sample_rows([0, 1], **given)
            client.impute_rows(x, None, [0, 1], **given)
            assert len(sent) == 8
            assert all(inputs.get("context") is given.get("context") for inputs in sent.values())


@contextlib.contextmanager
def answering(act):
    """The URL of a server that answers every request by act(handler)."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            act(self)

        do_POST = do_GET

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def answer(handler, status, body, length=None):
    handler.send_response(status)
    handler.send_header("Location", "/elsewhere")
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)
    handler.wfile.flush()


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
