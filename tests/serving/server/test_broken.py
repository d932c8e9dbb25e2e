"""SavedModels that are damaged: named when they are loaded, and not available where they cannot answer."""

import shutil

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.serving.exports import export
from tfdsmcmc.cli import main
from tfdsmcmc.serving.server.predictions import Predictions


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served") / "tiny"
    export(tiny_model((2,), units=4), folder, only="sample")
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
