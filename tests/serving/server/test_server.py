"""The development server: its answers are those of the loaded SavedModel, whatever was asked before."""

import concurrent.futures
import contextlib
import http.client
import json
import shutil
import signal
import socket
import subprocess
import sys
import threading

import numpy as np
import pytest
import tensorflow as tf

from tests.oracles import binary_states, tiny_model
from tests.serving.exports import export
from tfdsmcmc.serving.server import application, development_server
from tfdsmcmc.serving.server.application import is_loopback
from tfdsmcmc.serving.server.development_server import make_server
from tfdsmcmc.serving.server.predictions import Predictions

SEED = [3, 4]
X = binary_states(4)[[1, 6, 11]].tolist()
MASK = [[True, False, True, False], [False] * 4, [True] * 4]
LIKELIHOOD = {"x": X, "num_samples": 20, "seed": SEED}
IMPUTE = {"x": X, "mask": MASK, "num_imputations": 2, "seed": SEED}
ROWS = {"x": X, "num_samples": [5, 6, 7], "seed": [[0, 7], [1, 7], [2, 7]]}
SIGNATURES = ["log_likelihood", "sample", "impute", "sample_rows", "log_likelihood_rows", "log_likelihood_packed"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model with the versions 2, which cannot be loaded, and 10; the newest is 10, as numbers go."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    model = tiny_model((2,), units=4, seed=6)
    export(model, folder, version=10, only=SIGNATURES, sweeps=5, data_shape=(2, 2))
    (folder / "2").mkdir()
    (folder / "2" / "saved_model.pb").write_bytes(b"nothing")
    return folder


@pytest.fixture(scope="module")
def direct(folder):
    """The newest version as TensorFlow loads it."""
    served = tf.saved_model.load(str(folder / "10"))

    def call(signature, **inputs):
        function = served.signatures[signature]
        specs = function.structured_input_signature[1]
        outputs = function(**{name: tf.constant(value, specs[name].dtype) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return call


@pytest.fixture(scope="module")
def server(folder):
    with running(folder) as server:
        yield server


@contextlib.contextmanager
def running(path, **arguments):
    server = make_server(path, port=0, **arguments)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def ask(server):
    """Sends requests on one connection, which is opened again only where the server closed it."""
    connection = http.client.HTTPConnection(*server.server_address, timeout=60)

    def send(method, path, body=None, **headers):
        body = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = response.read()
        send.response = response
        is_json = response.headers["Content-Type"] == "application/json" and method != "HEAD"
        return response.status, json.loads(content) if is_json else content

    yield send
    connection.close()


def predict(ask, signature, inputs):
    status, answer = ask("POST", "/v1/models/tiny:predict", {"signature_name": signature, "inputs": inputs})
    assert status == 200, answer
    return answer["outputs"]


def raw(server, request):
    """All that the server answers to some bytes after which no more are sent."""
    with socket.create_connection(server.server_address, timeout=60) as connection:
        connection.sendall(request)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(65536), b""))


def assert_right(ask, direct):
    expected = direct("log_likelihood", **LIKELIHOOD)
    answer = predict(ask, "log_likelihood", LIKELIHOOD)
    assert set(answer) == set(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(np.float32(answer[name]), value)


# ---- answers


def test_columns_are_those_of_the_loaded_model(ask, direct):
    assert_right(ask, direct)
    np.testing.assert_array_equal(predict(ask, "impute", IMPUTE), direct("impute", **IMPUTE)["x"])
    asked = {"num_samples": 5, "seed": SEED}
    np.testing.assert_array_equal(predict(ask, "sample", asked), direct("sample", **asked)["x"])
    packed = LIKELIHOOD | {"x": np.packbits(np.array(X, np.uint8), 1).tolist()}
    answer = predict(ask, "log_likelihood_packed", packed)
    np.testing.assert_array_equal(np.float32(answer["value"]), direct("log_likelihood", **LIKELIHOOD)["value"])


def test_the_default_signature_is_the_likelihood(ask, direct):
    status, answer = ask("POST", "/v1/models/tiny/versions/10:predict", {"inputs": LIKELIHOOD})
    assert status == 200
    expected = direct("log_likelihood", **LIKELIHOOD)["value"]
    np.testing.assert_array_equal(np.float32(answer["outputs"]["value"]), expected)


def test_a_single_output_is_bare_and_so_may_a_single_input_be(ask, direct):
    expected = direct("sample_rows", seed=[[1, 2], [3, 4]])["x"]
    np.testing.assert_array_equal(predict(ask, "sample_rows", [[1, 2], [3, 4]]), expected)
    np.testing.assert_array_equal(predict(ask, "sample_rows", {"seed": [[1, 2], [3, 4]]}), expected)


def test_rows_are_those_of_the_loaded_model(ask, direct):
    answer = predict(ask, "log_likelihood_rows", ROWS)
    for name, expected in direct("log_likelihood_rows", **ROWS).items():
        np.testing.assert_array_equal(np.float32(answer[name]), expected)


def test_what_a_mask_hides_may_be_anything(ask):
    hidden = np.where(MASK, X, np.nan).tolist()
    assert predict(ask, "impute", IMPUTE | {"x": hidden}) == predict(ask, "impute", IMPUTE)


def test_status_and_metadata(ask, direct):
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    for path in ("", "/versions/10"):
        assert ask("GET", f"/v1/models/tiny{path}") == (200, {"model_version_status": [{"version": "10"} | fine]})
    status, answer = ask("GET", "/v1/models/tiny/metadata")
    assert status == 200 and answer["model_spec"] == {"name": "tiny", "signature_name": "", "version": "10"}
    signatures = answer["metadata"]["signature_def"]["signature_def"]
    assert {*SIGNATURES, "serving_default"} <= set(signatures)
    found = signatures["impute"]["inputs"]["mask"]
    sizes = [{"size": "-1", "name": ""}, {"size": "4", "name": ""}]
    assert found["dtype"] == "DT_BOOL" and found["tensor_shape"] == {"dim": sizes, "unknown_rank": False}
    assert signatures["sample"]["method_name"] == "tensorflow/serving/predict"
    assert ask("GET", "/v1/models/tiny/versions/10/metadata") == (200, answer)


def test_page_and_manifest(ask, folder):
    status, page = ask("GET", "/")
    assert status == 200 and b'content="tiny"' in page and b"development server" in page and b"{{" not in page
    assert "Access-Control-Allow-Origin" not in ask.response.headers
    status, manifest = ask("GET", "/manifest.json")
    assert status == 200 and manifest["data_shape"] == [2, 2]
    assert manifest == json.loads((folder / "10/assets/manifest.json").read_text())


# ---- the newest version, one by itself, and none


def test_the_newest_version_and_one_by_itself(scratch):
    for path, version in ((scratch, 2), (scratch / "1", 1)):
        served = Predictions(path)
        assert (served.name, served.version, scalar(served)) == ("a:b", version, version)
    assert served.signatures["scalar"].inputs == {"x": tf.TensorSpec([None], tf.float32, "x")}
    (scratch / "1").rename(scratch / "other")
    served = Predictions(scratch / "other")
    assert (served.name, served.version, scalar(served)) == ("other", 1, 1)


def test_where_there_is_no_model(tmp_path):
    for path in (tmp_path, tmp_path / "no"):
        with pytest.raises(ValueError, match="There must be a SavedModel.*Received: "):
            make_server(path, port=0)
    with pytest.raises(ValueError, match="port must be at most 65535. Received: port=70000"):
        make_server(tmp_path, port=70000)


# ---- what is bound, and what is loaded when


@pytest.mark.parametrize("host", ["127.1", "127.0.0.1", "localhost", "2130706433"])
def test_loopback_is_that_which_is_bound(foreign, host):
    with running(foreign, host=host) as server:
        head = b"GET / HTTP/1.1\r\nHost: "
        assert raw(server, head + b"evil.example\r\n\r\n").startswith(b"HTTP/1.1 403 ")
        assert raw(server, head + b"localhost\r\n\r\n").startswith(b"HTTP/1.1 200 ")


def test_other_addresses_answer_to_every_name(foreign):
    with running(foreign, host="0.0.0.0") as server:
        assert raw(server, b"GET / HTTP/1.1\r\nHost: some.example\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert is_loopback("//[::ffff:127.0.0.1]")
    assert not any(is_loopback(f"//{name}") for name in ("[::ffff:10.0.0.1]", "127.1", ""))


def test_an_address_that_cannot_be_had_is_told_before_anything_is_loaded(folder, monkeypatch):
    monkeypatch.setattr(development_server, "Predictions", None)  # it would fail otherwise
    for host in (None, 3, b"localhost", "a\0b", "é..b", ""):
        with pytest.raises(ValueError, match="host must be.*Received: host="):
            make_server(folder, host=host, port=0)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(OSError, match=f"in use.*, for host='127.0.0.1' and port={port}"):
            make_server(folder, port=port)
    with pytest.raises(OSError, match="for host='192.0.2.1' and port=0"):  # an address for documents alone
        make_server(folder, host="192.0.2.1", port=0)


def test_what_fails_to_load_is_closed(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with pytest.raises(ValueError, match="There must be a SavedModel"):
        make_server(tmp_path, port=port)
    socket.create_server(("127.0.0.1", port)).close()


@pytest.fixture
def scratch(foreign, tmp_path):
    """A copy to change."""
    return shutil.copytree(foreign, tmp_path / "a:b")


@pytest.fixture(scope="module")
def foreign(tmp_path_factory):
    """A model by somebody else: version 1 gives 1, version 2 gives 2."""
    folder = tmp_path_factory.mktemp("models") / "a:b"
    for version in (1, 2):
        save_foreign(folder / str(version), version)
    return folder


def save_foreign(path, value):
    """Signatures by somebody else: a scalar, strings, complex numbers, and an input of any rank."""
    module = tf.Module()
    numbers, anything = tf.TensorSpec([None], tf.float32, "x"), tf.TensorSpec(None, tf.float32, "x")
    functions = {
        "scalar": tf.function(lambda x: {"y": value + 0 * tf.reduce_sum(x)}, [numbers]),
        "words": tf.function(lambda x: {"y": tf.strings.as_string(x), "z": x}, [numbers]),
        "complex": tf.function(lambda x: {"y": tf.complex(x, x)}, [numbers]),
        "anything": tf.function(lambda x: {"y": 2 * x}, [anything]),
    }
    tf.saved_model.save(module, str(path), {n: f.get_concrete_function() for n, f in functions.items()})


def scalar(served):
    return float(served.predict("scalar", {"x": [1.0]})["y"])


def test_a_version_stays_what_it_was_when_it_was_loaded(scratch):
    manifest = scratch / "2" / "assets" / "manifest.json"
    manifest.write_text('{"data_shape": [7]}')
    served = Predictions(scratch)
    described = application.metadata(served)
    shutil.rmtree(scratch / "2")
    assert application.metadata(served) == described
    assert set(described["metadata"]["signature_def"]["signature_def"]) > {"scalar", "words"}
    module = tf.Module()
    other = tf.function(lambda: {"z": tf.constant(1)}, []).get_concrete_function()
    tf.saved_model.save(module, str(scratch / "2"), {"other": other})
    assert application.metadata(served) == described and served.manifest == {"data_shape": [7]}
    assert scalar(served) == 2


@pytest.mark.parametrize("text", ["{", "[1]", "null", "[" * 100_000])
def test_a_manifest_by_somebody_else_is_none(scratch, text):
    (scratch / "2" / "assets" / "manifest.json").write_text(text)
    with running(scratch / "2") as server:
        assert raw(server, b"GET /manifest.json HTTP/1.1\r\nHost: localhost\r\n\r\n").startswith(b"HTTP/1.1 404 ")


def test_a_model_by_somebody_else(foreign):
    with running(foreign) as server:
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)

        def call(signature, x, model="a%3Ab"):
            request = {"signature_name": signature, "inputs": x}
            connection.request("POST", f"/v1/models/{model}:predict", json.dumps(request))
            response = connection.getresponse()
            return response.status, json.loads(response.read())

        assert call("scalar", [1]) == (200, {"outputs": 2.0})
        assert call("scalar", [1], model="a:b")[0] == 404
        for x in (3, [1, 2], [[1, 2]]):
            assert call("anything", x) == (200, {"outputs": (2.0 * np.array(x)).tolist()})
        for signature, words in {"words": "{'y': 'string'}", "complex": "{'y': 'complex64'}"}.items():
            status, answer = call(signature, [1])
            assert status == 400 and f"{signature} must give numbers" in answer["error"] and words in answer["error"]
        status, answer = call("anything", [[1], [1, 2]])
        assert status == 400 and "x must be an array, of any rank. Received: a ragged" in answer["error"]
        connection.close()


def test_what_is_no_json_is_a_failure_that_is_told(ask, direct, monkeypatch):
    monkeypatch.setattr(application, "status", lambda *_: {"a": 1j})
    status, answer = ask("GET", "/v1/models/tiny")
    assert status == 500 and "TypeError" in answer["error"]
    monkeypatch.undo()
    assert_right(ask, direct)


# ---- requests that are refused


def test_an_answer_of_too_many_numbers_is_refused(ask, monkeypatch):
    """Python's objects of ten million would take gigabytes."""
    monkeypatch.setattr(application, "MOST", 11)
    assert len(predict(ask, "sample", {"num_samples": 2, "seed": SEED})) == 2
    request = {"signature_name": "sample", "inputs": {"num_samples": 3, "seed": SEED}}
    status, answer = ask("POST", "/v1/models/tiny:predict", request)
    assert status == 400 and "at most 11 numbers" in answer["error"] and "Received: sample with 12" in answer["error"]


def changed(**changes):
    inputs = {name: value for name, value in (LIKELIHOOD | changes).items() if value is not ...}
    return {"signature_name": "log_likelihood", "inputs": inputs}


BAD = {
    "no object": ([1], 'must be an object with "inputs"'),
    "neither": ({"signature_name": "sample"}, 'must be an object with "inputs"'),
    "instances": ({"instances": [X]}, 'must be an object with "inputs"'),
    "a field too many": ({"inputs": LIKELIHOOD, "signature": "sample"}, 'must be an object with "inputs"'),
    "unknown signature": (changed() | {"signature_name": "sampel"}, "signature_name must be one of"),
    "a list for a signature": (changed() | {"signature_name": ["sample"]}, "signature_name must be one of"),
    "null for a signature": (changed() | {"signature_name": None}, "signature_name must be one of"),
    "bare inputs": (changed() | {"inputs": X}, "inputs must give a value to each of"),
    "missing": (changed(x=...), "x is missing"),
    "missing two": (changed(x=..., seed=...), "seed and x are missing"),
    "unknown": (changed(mask=MASK), "mask is unknown"),
    "strings": (changed(x=[["0", "1", "0", "1"]]), "x must be numbers (float32). Received: entries that are strings"),
    "null": (changed(x=None), "x must be numbers (float32). Received: null"),
    "null within": (changed(x=[[0, 1, None, 1]]), "x must be numbers (float32). Received: entries that are null"),
    "an object": (changed(x={"b64": "AA=="}), "x must be numbers (float32). Received: an object"),
    "true": (changed(x=[[True, False, True, True]]), "x must be numbers (float32). Received: true or false"),
    "true within": (changed(x=[[1, 0, 1, True]]), "x must be numbers (float32). Received: true or false among"),
    "ragged": (changed(x=[[0, 1, 0, 1], [0, 1]]), "x must have the shape (rows, 4). Received: a ragged"),
    "too wide": (changed(x=[[0, 1, 0, 1, 1]]), "x must have the shape (rows, 4). Received: shape=(1, 5)"),
    "one row bare": (changed(x=[0, 1, 0, 1]), "x must have the shape (rows, 4). Received: shape=(4,)"),
    "too deep": (changed(x=[X]), "x must have the shape (rows, 4). Received: shape=(1, 3, 4)"),
    "no rows": (changed(x=[]), "x must have the shape (rows, 4). Received: an empty list"),
    "NaN": (changed(x=[[0, 1, float("nan"), 1]]), "x must be finite in float32. Received: 1 entries"),
    "infinite": (changed(x=[[0, 1, 1e39, 1]]), "x must be finite in float32. Received: 1 entries"),
    "not binary": (changed(x=[[0, 1, 2, 1]]), "x must be binary, each entry 0 or 1. Received: 2"),
    "a fraction": (changed(num_samples=2.5), "num_samples must be integers (int32). Received: 2.5"),
    "a float": (changed(num_samples=20.0), "num_samples must be integers (int32). Received: 20.0"),
    "a list": (changed(num_samples=[20]), "num_samples must have the shape (). Received: shape=(1,)"),
    "none": (changed(num_samples=0), "num_samples must be between 1 and"),
    "negative": (changed(num_samples=-5), "num_samples must be between 1 and"),
    "too many": (changed(num_samples=2**31 - 1), "num_samples must be between 1 and"),
    "beyond int32": (changed(num_samples=2**31), "num_samples must be between -2147483648 and 2147483647. Received"),
    "beyond int64": (changed(num_samples=2**80), "num_samples must be integers (int32). Received: 1208925819"),
    "seed of one": (changed(seed=[1]), "seed must have the shape (2,). Received: shape=(1,)"),
    "seed of floats": (changed(seed=[1.0, 2.0]), "seed must be integers (int32). Received: entries that are floats"),
    "mask of numbers": (
        {"signature_name": "impute", "inputs": IMPUTE | {"mask": X}},
        "mask must be true or false (bool). Received",
    ),
    "mask of fewer rows": (
        {"signature_name": "impute", "inputs": IMPUTE | {"mask": MASK[:1]}},
        "mask and x must have equally many rows. Received: {'mask': 1, 'x': 3}",
    ),
    "NaN that is seen": (
        {"signature_name": "impute", "inputs": IMPUTE | {"x": [[float("nan"), 0, 0, 0], *X[1:]]}},
        "x must be finite in float32. Received: 1 entries",
    ),
    "bytes beyond uint8": (
        {"signature_name": "log_likelihood_packed", "inputs": LIKELIHOOD | {"x": [[256]]}},
        "x must be between 0 and 255. Received: 256",
    ),
    "no JSON": (b"{", "must be JSON"),
    "no text": (b"\xff\xfe\x00", "must be JSON"),
    "empty": (b"", "must be JSON"),
    "deep": (b"[" * 200_000, "must be JSON"),
    "deep within": (
        b'{"inputs": {"num_samples": 1, "seed": [1, 2], "x": ' + b"[" * 90 + b"]" * 90 + b"}}",
        "x must have the shape (rows, 4). Received",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_request_is_told_why_and_the_next_is_answered(ask, direct, name):
    body, phrase = BAD[name]
    status, answer = ask("POST", "/v1/models/tiny:predict", body)
    assert status == 400 and set(answer) == {"error"}
    assert phrase in answer["error"] and "Received: " in answer["error"]
    assert "[[" not in answer["error"].split("Received")[0] and "node" not in answer["error"]
    assert_right(ask, direct)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/no", 404),
        ("GET", "/v1/models", 404),
        ("GET", "/v1/models/other", 404),
        ("GET", "/v1/models/tiny/versions/2", 404),
        ("GET", "/v1/models/tiny/versions/a", 404),
        ("GET", "/v1/models/tiny/versions/%D9%A3", 404),
        ("GET", "/v1/models/tiny/labels/stable", 404),
        ("GET", "/../../../etc/passwd", 404),
        ("GET", "/%2e%2e/%00", 404),
        ("GET", "//[", 404),
        ("POST", "/v1/models/other:predict", 404),
        ("POST", "/v1/models/tiny/versions/3:predict", 404),
        ("POST", "/v1/models/tiny:classify", 404),
        ("POST", "/v1/models/tiny", 405),
        ("POST", "/v1/models/tiny/metadata", 405),
        ("POST", "/", 405),
        ("GET", "/v1/models/tiny:predict", 405),
        ("PUT", "/v1/models/tiny:predict", 405),
        ("DELETE", "/v1/models/tiny", 405),
        ("OPTIONS", "/v1/models/tiny:predict", 405),
        ("BREW", "/", 405),
    ],
)
def test_paths_and_methods_that_there_are_not(ask, direct, method, path, status):
    found, answer = ask(method, path, {"inputs": LIKELIHOOD} if method in ("POST", "PUT") else None)
    assert found == status and "Received: " in answer["error"]
    assert "Access-Control-Allow-Origin" not in ask.response.headers
    assert_right(ask, direct)


def test_bodies_that_are_too_large_or_cut_short(ask, direct, server):
    head = b"POST /v1/models/tiny:predict HTTP/1.1\r\nHost: localhost\r\n"
    assert raw(server, head + b"Content-Length: 99\r\n\r\n{").startswith(b"HTTP/1.1 400 ")
    assert raw(server, head + b"Content-Length: -1\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(server, head + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n").startswith(b"HTTP/1.1 400 ")
    assert raw(server, head + b"Content-Length: 9999999999\r\n\r\n{").startswith(b"HTTP/1.1 413 ")
    answer = raw(server, b"\x16\x03\x01\x02\x00 nonsense\r\n\r\n")
    assert b"400" in answer and b"Bad request" in answer
    assert raw(server, b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"a: b\r\n" * 200 + b"\r\n").startswith(b"HTTP/1.1 4")
    raw(server, b"POST /v1/models/tiny:predict HTTP/1.1\r\nConte")
    status, answer = ask("POST", "/v1/models/tiny:predict", b" " * (64 * 2**20 + 1))
    assert status == 413 and "Received: 67108865 bytes" in answer["error"]
    assert_right(ask, direct)


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1:8501", "127.9.9.9", "[::1]:80"])
def test_names_of_this_machine(ask, host):
    assert ask("GET", "/v1/models/tiny", Host=host)[0] == 200
    assert ask("GET", "/v1/models/tiny", Origin=f"http://{host}")[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8501", "localhost.evil.example", "10.0.0.1", "", "::"])
def test_other_names_and_other_sites_are_refused(ask, direct, host):
    status, answer = ask("GET", "/v1/models/tiny", Host=host)
    assert status == 403 and "this machine" in answer["error"]
    site = f"http://{host or 'a.example'}"
    assert ask("POST", "/v1/models/tiny:predict", {"inputs": LIKELIHOOD}, Origin=site)[0] == 403
    assert ask("GET", "/", Origin="null")[0] == ask("GET", "/", Origin="http://[")[0] == 403
    for site in ("http://evil.example//localhost", "http://localhost@evil.example", "http://evil.example/?//localhost"):
        assert ask("GET", "/v1/models/tiny", Origin=site)[0] == 403
    assert_right(ask, direct)


# ---- connections


def test_a_connection_has_one_answer_and_head_has_no_body(server):
    body = json.dumps({"inputs": LIKELIHOOD})
    predict = "/v1/models/tiny:predict"
    for method, path in [("GET", "/"), ("HEAD", "/v1/models/tiny"), ("POST", predict), ("POST", "/no"), ("HEAD", "/")]:
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)
        connection.request(method, path, body if method == "POST" else None)
        response = connection.getresponse()
        content = response.read()
        assert (content == b"") == (method == "HEAD")
        assert int(response.headers["Content-Length"]) > 10
        assert response.headers["Connection"] == "close" and connection.sock is None


def test_a_body_in_chunks(server, monkeypatch):
    body = json.dumps({"signature_name": "sample", "inputs": {"num_samples": 1, "seed": SEED}}).encode()
    head = b"POST /v1/models/tiny:predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:9], body[9:], b""))
    assert raw(server, head + chunks).startswith(b"HTTP/1.1 200 ")
    assert raw(server, head + chunks[:-9]).startswith(b"HTTP/1.1 400 ")
    monkeypatch.setattr(application, "_LIMIT", len(body) - 1)  # no more is read
    assert raw(server, head + chunks).startswith(b"HTTP/1.1 400 ")


@pytest.mark.parametrize("sent", [b"", b"{"])
def test_a_body_that_stops_arriving_is_told_soon(server, monkeypatch, sent):
    """While the client holds the connection, and waits."""
    assert server.RequestHandlerClass.timeout <= 5
    monkeypatch.setattr(server.RequestHandlerClass, "timeout", 0.2)
    with socket.create_connection(server.server_address, timeout=3) as connection:
        head = b"POST /v1/models/tiny:predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\n\r\n"
        connection.sendall(head + sent)
        answer = b"".join(iter(lambda: connection.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 400 ") and b"The body must be as long as its Content-Length says" in answer


def test_eight_threads_get_equal_answers(server, direct):
    expected = {
        "log_likelihood": (LIKELIHOOD, direct("log_likelihood", **LIKELIHOOD)["value"].tolist()),
        "impute": (IMPUTE, direct("impute", **IMPUTE)["x"].tolist()),
        "sample": ({"num_samples": 3, "seed": SEED}, direct("sample", num_samples=3, seed=SEED)["x"].tolist()),
        "wrong": ({"x": []}, None),
    }

    def client(first):
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)
        for number in range(first, first + 20):
            name = list(expected)[number % 4]
            inputs, value = expected[name]
            request = {"signature_name": name, "inputs": inputs}
            connection.request("POST", "/v1/models/tiny:predict", json.dumps(request))
            response = connection.getresponse()
            answer = json.loads(response.read())
            if name == "wrong":
                assert response.status == 400
            else:
                found = answer["outputs"]["value"] if name == "log_likelihood" else answer["outputs"]
                assert found == value
        connection.close()
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(client, range(8)))


def test_a_failure_is_told_and_survived(ask, direct, server, monkeypatch, caplog):
    def fails(*args):
        raise RuntimeError("a secret")

    monkeypatch.setattr(server.predictions, "predict", fails)
    status, answer = ask("POST", "/v1/models/tiny:predict", {"inputs": LIKELIHOOD})
    assert status == 500 and "RuntimeError" in answer["error"] and "secret" not in answer["error"]
    assert "a secret" in caplog.text
    monkeypatch.undo()
    assert_right(ask, direct)


def test_nothing_is_printed_of_any_of_it(server, ask, capfd):
    ask("GET", "/no")
    raw(server, b"POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n")
    with socket.create_connection(server.server_address) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 50)
    ask("GET", "/")
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_serve_says_where_and_ends_on_an_interrupt(foreign):
    # in a shell's background, as of a whole suite, interrupts are ignored
    program = "import signal\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
    program += f"from tfdsmcmc.serving.server.development_server import serve\nserve({str(foreign)!r}, port=0)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", program], **pipes)
    said = process.stdout.readline()
    assert "Development server" in said and "http://127.0.0.1:" in said
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=60)
    assert process.returncode == 0 and "ended" in rest and "Traceback" not in errors
