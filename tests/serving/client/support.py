"""What the tests of the client share."""

import contextlib
import http.server
import os
import threading

import numpy as np
import pytest

from tests.oracles import binary_states
from tfdsmcmc.likelihood import LogLikelihood

stand_in = pytest.importorskip("tests.serving.client.stand_in", reason="needs pip install tfdsmcmc[serving]")

X = binary_states(stand_in.UNITS)[[5, 700, 2047, 1290, 1023]].astype(np.float32)
MASK = np.arange(X.size).reshape(X.shape) % 3 > 0
GAPS = np.where(MASK, X, np.nan)
SEEDS = [0, 7, 2**32 + 5, 2**64 - 1, 2**31]


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
