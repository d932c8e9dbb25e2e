"""The client and servers of HTTP that say anything, proxies, and connections that break."""

import json
import threading

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.client.support import X, answer, answering
from tfdsmcmc.serving import arrays
from tfdsmcmc.serving.client import Client, transport_rest
from tfdsmcmc.serving.client.transports import ServerError


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
