"""Symbolic links where folders and files are written: followed to folders, never written through, told of."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.training.tenants import ColumnMeans
from tfdsmcmc import files
from tfdsmcmc.serving.server.predictions import Predictions


@pytest.fixture
def link(tmp_path):
    def make(name, target):
        (tmp_path / name).symlink_to(tmp_path / target)
        return tmp_path / name

    return make


def collect(folder):
    model = ColumnMeans()
    model.compile()
    collector = ds.posterior.Collector(folder, num_samples=2, burn_in=0, every=1)
    model.fit(np.eye(3), batch_size=3, epochs=2, verbose=0, callbacks=[collector])
    return len(ds.posterior.load(folder).samples)


@pytest.mark.parametrize("target", ["nowhere", "link"], ids=["nothing", "itself"])
def test_links_to_nothing_are_named(link, target):
    path = link("link", target)
    with pytest.raises(ValueError, match="writes into a folder. Received: .*link', a link to nothing"):
        collect(path)
    with pytest.raises(ValueError, match="that of a folder. Received: a link to nothing, .*link"):
        ds.serving.export(tiny_model((2,), units=4), path, verbose=False)
    with pytest.raises(ValueError, match="There must be a SavedModel.*Received: "):
        Predictions(path)


def test_a_version_that_is_a_link_to_nothing_is_there(link, tmp_path):
    (tmp_path / "tiny").mkdir()
    link("tiny/1", "nowhere")
    with pytest.raises(ValueError, match="version exists.*Received: .*1"):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "tiny", verbose=False)


def test_a_link_is_replaced_and_what_it_leads_to_stays(link, tmp_path):
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "kept").write_text("kept")
    for name, target in (("to a folder", "other"), ("to nothing", "nowhere")):
        path = link(name, target)
        with files.replacing(path) as temporary:
            temporary.mkdir()
            (temporary / "new").write_text("new")
        assert not path.is_symlink() and [file.name for file in path.iterdir()] == ["new"]
    assert (tmp_path / "other" / "kept").read_text() == "kept"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["other", "to a folder", "to nothing"]


def test_a_collector_follows_a_link_to_a_folder_and_writes_through_no_other(link, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "victim").write_text("precious")
    for name in ("mean.h5", "history.json", "history.jsonl"):
        link(f"real/{name}", "victim" if name == "mean.h5" else "nowhere")
    assert collect(link("link", "real")) == 2
    assert (tmp_path / "victim").read_text() == "precious" and not (tmp_path / "nowhere").exists()
    assert not any(path.is_symlink() for path in (tmp_path / "real").iterdir())
