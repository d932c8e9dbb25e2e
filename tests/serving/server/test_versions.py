"""What is served: the newest version or one by itself, as it was when it was loaded, of whatever origin."""

import http.client
import json
import shutil

import numpy as np
import pytest
import tensorflow as tf

from tests.serving.server.support import raw, running
from tfdsmcmc.serving.server import application
from tfdsmcmc.serving.server.development_server import make_server
from tfdsmcmc.serving.server.predictions import Predictions


@pytest.fixture
def scratch(foreign, tmp_path):
    """A copy to change."""
    return shutil.copytree(foreign, tmp_path / "a:b")


def scalar(served):
    return float(served.predict("scalar", {"x": [1.0]})["y"])


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
