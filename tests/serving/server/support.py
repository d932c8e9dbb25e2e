"""What the tests of the development server share."""

import contextlib
import socket
import threading

import numpy as np

from tests.oracles import binary_states
from tfdsmcmc.serving.server.development_server import make_server

SEED = [3, 4]
X = binary_states(4)[[1, 6, 11]].tolist()
MASK = [[True, False, True, False], [False] * 4, [True] * 4]
LIKELIHOOD = {"x": X, "num_samples": 20, "seed": SEED}
IMPUTE = {"x": X, "mask": MASK, "num_imputations": 2, "seed": SEED}
SIGNATURES = ["log_likelihood", "sample", "impute", "sample_rows", "log_likelihood_rows", "log_likelihood_packed"]


@contextlib.contextmanager
def running(path, **arguments):
    server = make_server(path, port=0, **arguments)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


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
