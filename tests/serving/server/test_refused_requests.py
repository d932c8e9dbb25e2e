"""Requests that are refused: told why, and the next is answered."""

import pytest

from tests.serving.server.support import IMPUTE, LIKELIHOOD, MASK, SEED, X, assert_right, predict, raw
from tfdsmcmc.serving.server import application


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


def test_an_answer_of_too_many_numbers_is_refused(ask, monkeypatch):
    """Python's objects of ten million would take gigabytes."""
    monkeypatch.setattr(application, "MOST", 11)
    assert len(predict(ask, "sample", {"num_samples": 2, "seed": SEED})) == 2
    request = {"signature_name": "sample", "inputs": {"num_samples": 3, "seed": SEED}}
    status, answer = ask("POST", "/v1/models/tiny:predict", request)
    assert status == 400 and "at most 11 numbers" in answer["error"] and "Received: sample with 12" in answer["error"]


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
