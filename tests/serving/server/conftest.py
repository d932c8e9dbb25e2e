"""SavedModels, and a server of one of them; tests leave them as they are."""

import http.client
import json

import pytest
import tensorflow as tf

from tests.oracles import tiny_model
from tests.serving.exports import export
from tests.serving.server.support import SIGNATURES, running


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """A model with the versions 2, which cannot be loaded, and 10; the newest is 10, as numbers go."""
    folder = tmp_path_factory.mktemp("models") / "tiny"
    model = tiny_model((2,), units=4, seed=6)
    export(model, folder, version=10, only=SIGNATURES, sweeps=5, data_shape=(2, 2))
    (folder / "2").mkdir()
    (folder / "2" / "saved_model.pb").write_bytes(b"nothing")
    return folder


@pytest.fixture(scope="package")
def direct(folder):
    """The newest version as TensorFlow loads it."""
    served = tf.saved_model.load(str(folder / "10"))

    def call(signature, **inputs):
        function = served.signatures[signature]
        specs = function.structured_input_signature[1]
        outputs = function(**{name: tf.constant(value, specs[name].dtype) for name, value in inputs.items()})
        return {name: value.numpy() for name, value in outputs.items()}

    return call


@pytest.fixture(scope="package")
def server(folder):
    with running(folder) as server:
        yield server


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


@pytest.fixture(scope="package")
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
