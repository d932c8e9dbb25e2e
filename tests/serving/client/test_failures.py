"""Failures of a server: told in its own words, and asked again where they may pass."""

import itertools
import pickle
import socket
import threading
import time

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.client.support import X, answer, answering, stand_in
from tfdsmcmc.serving.client import Client, transports
from tfdsmcmc.serving.client.transports import ServerError

WAITS = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0]  # seconds before each of eight calls that are made again


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


def test_errors_can_be_pickled_and_read():
    error = pickle.loads(pickle.dumps(ServerError(404, "words", "http://h")))
    assert (error.status, error.message, error.url) == (404, "words", "http://h")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
