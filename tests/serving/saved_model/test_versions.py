"""Versions of a SavedModel in their folder: there whole or not at all, and never overwritten unasked."""

import os
import pathlib

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.serving.saved_model import loader
from tests.serving.saved_model.support import QUICK, SEED
from tfdsmcmc import files
from tfdsmcmc.serving.saved_model import writing


def test_versions_are_not_overwritten_unless_asked(tmp_path):
    one, two = tiny_model((2,), units=4, seed=1), tiny_model((2,), units=4, seed=2)
    path = pathlib.Path(ds.serving.export(one, tmp_path / "m", **QUICK))
    before = (path / "saved_model.pb").read_bytes()
    with pytest.raises(ValueError, match="overwrite.*Received: "):
        ds.serving.export(two, tmp_path / "m")
    assert (path / "saved_model.pb").read_bytes() == before
    ds.serving.export(two, tmp_path / "m", overwrite=True, **QUICK)
    served = tf.saved_model.load(str(path))
    drawn = served.signatures["sample"](num_samples=tf.constant(40), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, two.sample(40, SEED))
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == ["1"]


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(tf.saved_model, "save", fails)
    (tmp_path / "there").mkdir()
    for folder in ("new/deep/m", "there"):
        with pytest.raises(OSError, match="disk full"):
            ds.serving.export(tiny_model((2,), units=4), tmp_path / folder, only="sample")
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


def test_a_version_that_came_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    """Another export puts the version in place while this one is being compared."""
    model = tiny_model((2,), units=4)

    def slow(*_):
        monkeypatch.undo()
        ds.serving.export(model, tmp_path / "m", figures={"who": "first"}, only="sample", verbose=False)
        return {}

    monkeypatch.setattr(writing, "round_trip", slow)
    with pytest.raises(ValueError, match="exists.*Received: "):
        ds.serving.export(model, tmp_path / "m", figures={"who": "second"}, only="sample", verbose=False)
    assert loader.manifest_of(tmp_path / "m" / "1")["figures"] == {"who": "first"}
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["1"]


def test_a_version_lost_between_two_renames_comes_back_before_it_is_asked_for(tmp_path, monkeypatch):
    """An export killed there, of which the kernel has kept both folders: `overwrite` is asked about the old version."""
    path = pathlib.Path(ds.serving.export(tiny_model((2,), units=4), tmp_path / "m", **QUICK))
    monkeypatch.setattr(os, "getpid", lambda: 2**31 - 2)
    with files._named(path, "old") as old:
        os.replace(path, old)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="exists.*Received: "):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "m")
    assert [p.name for p in (tmp_path / "m").iterdir()] == ["1"] and (path / "saved_model.pb").is_file()


def test_a_saved_model_that_answers_otherwise_is_not_put_in_place(tmp_path, monkeypatch):
    """The weights are changed between tracing and loading."""
    save = tf.saved_model.save

    def spoil(module, *args, **kwargs):
        save(module, *args, **kwargs)
        for variable in module.trainable_variables or module.variables:
            variable.assign(variable + 1.0)

    monkeypatch.setattr(tf.saved_model, "save", spoil)
    with pytest.raises(RuntimeError, match="gives another .* Received: "):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "m", only="log_likelihood", verbose=False)
    assert not (tmp_path / "m").exists()


def test_serving_files_are_written_with_the_version(tmp_path):
    pytest.importorskip("tensorflow_serving")
    model = tiny_model((2,), units=4)
    arguments = {"serving_config": True, "only": "sample_rows", "verbose": False}
    path = pathlib.Path(ds.serving.export(model, tmp_path / "tiny", **arguments))
    ((name, inputs),) = loader.warm_up_requests(path)
    assert name == "sample_rows" and inputs["seed"].shape == (2, 2)
    assert 'name: "tiny"' in (tmp_path / "tiny" / "models.config").read_text()
    assert (tmp_path / "tiny" / "batching.config").is_file()
    (tmp_path / "tiny" / "models.config").write_text("of another hand")
    with pytest.raises(ValueError, match="overwrite=True.*Received: "):
        ds.serving.export(model, tmp_path / "tiny", version=2, **arguments)
    assert sorted(p.name for p in (tmp_path / "tiny").iterdir()) == ["1", "batching.config", "models.config"]
