"""SavedModels that are damaged: named when they are loaded, and not available where they cannot answer."""

import http.client
import json
import shutil
import threading

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc.cli import main
from tfdsmcmc.serving.server.development_server import make_server
from tfdsmcmc.serving.server.predictions import Predictions


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "tiny"
    ds.serving.export(tiny_model((2,), units=4), folder, only="sample", verbose=False)
    return folder


def damaged(whole, tmp_path, name, damage):
    """A copy with one file changed."""
    folder = tmp_path / "tiny"
    shutil.copytree(whole, folder)
    (file,) = folder.glob(f"1/{name}")
    content = file.read_bytes()
    file.write_bytes(damage(content))
    return folder


DAMAGES = {
    "half of the variables": ("variables/variables.data*", lambda content: content[: len(content) // 2]),
    "no variables": ("variables/variables.data*", lambda content: b""),
    "half of the index": ("variables/variables.index", lambda content: content[: len(content) // 2]),
    "half of the graph": ("saved_model.pb", lambda content: content[: len(content) // 2]),
    "no graph": ("saved_model.pb", lambda content: b""),
    "noise": ("saved_model.pb", lambda content: np.random.default_rng(0).bytes(len(content))),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_named(whole, tmp_path, name, capsys):
    folder = damaged(whole, tmp_path, *DAMAGES[name])
    with pytest.raises(ValueError, match="cannot be loaded.*Received: .*tiny/1"):
        Predictions(folder)
    with pytest.raises(ValueError, match="cannot be loaded.*Received: .*tiny/1"):
        ds.serving.make_server(folder, port=0)
    assert main(["serve", str(folder)]) == 2
    assert "cannot be loaded" in capsys.readouterr().err


def test_a_version_that_is_deleted_before_it_was_loaded(whole, tmp_path):
    """503 with its name, its status is END, and the other version answers; put back, it answers too."""
    folder = tmp_path / "tiny"
    shutil.copytree(whole, folder)
    shutil.copytree(folder / "1", folder / "2")
    server = make_server(folder, port=0)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()

    def ask(method, path, body=None):
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)
        connection.request(method, f"/v1/models/tiny{path}", body)
        response = connection.getresponse()
        found = response.status, json.loads(response.read())
        connection.close()
        return found

    body = json.dumps({"signature_name": "sample", "inputs": {"num_samples": 1, "seed": [0, 1]}})
    (folder / "1").rename(tmp_path / "aside")
    status, answer = ask("POST", "/versions/1:predict", body)
    assert status == 503 and "cannot be loaded" in answer["error"] and str(folder / "1") in answer["error"]
    states = {v["version"]: v["state"] for v in ask("GET", "")[1]["model_version_status"]}
    assert states == {"1": "END", "2": "AVAILABLE"}
    assert ask("POST", "/versions/2:predict", body)[0] == 200
    (tmp_path / "aside").rename(folder / "1")
    assert ask("POST", "/versions/1:predict", body)[0] == 200
    server.shutdown()
    thread.join()
    server.server_close()
