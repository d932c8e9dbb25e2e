"""The tiny model, and servers that have it."""

import functools
import os

import pytest
import tensorflow as tf

from tfdsmcmc.serving.client import Client

try:
    from tests.serving.client import stand_in
except ModuleNotFoundError:  # the tests are skipped then
    stand_in = None

BOTH = ["rest", "grpc"]


@pytest.fixture(scope="package", autouse=True)
def no_proxy():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NO_PROXY", "127.0.0.1")
        patch.setenv("no_proxy", "127.0.0.1")
        yield


@pytest.fixture(scope="package")
def exported(tmp_path_factory):
    """The path of the tiny model. It is loaded once for all servers here, and not before that by the export itself."""
    with pytest.MonkeyPatch.context() as patch:
        path = stand_in.export_tiny(tmp_path_factory.mktemp("models").resolve())
        patch.setattr(tf.saved_model, "load", functools.cache(tf.saved_model.load))
        yield path


@pytest.fixture(scope="package")
def direct(exported):
    """The SavedModel called directly."""
    loaded = tf.saved_model.load(exported)

    def call(signature, **inputs):
        specs = loaded.signatures[signature].structured_input_signature[1]
        tensors = {name: tf.constant(value, specs[name].dtype) for name, value in inputs.items()}
        return {name: value.numpy() for name, value in loaded.signatures[signature](**tensors).items()}

    return call


@pytest.fixture(scope="package")
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
