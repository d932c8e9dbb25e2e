"""Connections, and failures within: each request has one answer, and nothing is printed."""

import http.client
import json
import socket

import pytest

from tests.serving.server.support import (
    LIKELIHOOD,
    SEED,
    assert_right,
    raw,
)
from tfdsmcmc.serving.server import application


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


def test_a_failure_is_told_and_survived(ask, direct, server, monkeypatch, caplog):
    def fails(*args):
        raise RuntimeError("a secret")

    monkeypatch.setattr(server.predictions, "predict", fails)
    status, answer = ask("POST", "/v1/models/tiny:predict", {"inputs": LIKELIHOOD})
    assert status == 500 and "RuntimeError" in answer["error"] and "secret" not in answer["error"]
    assert "a secret" in caplog.text
    monkeypatch.undo()
    assert_right(ask, direct)


def test_what_is_no_json_is_a_failure_that_is_told(ask, direct, monkeypatch):
    monkeypatch.setattr(application, "status", lambda *_: {"a": 1j})
    status, answer = ask("GET", "/v1/models/tiny")
    assert status == 500 and "TypeError" in answer["error"]
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
