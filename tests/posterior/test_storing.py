"""Posterior samples on disk: whole files, a mean that can be computed anew, what is refused."""

import json
import os

import h5py
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import X, fit, folder_of, model_to_fit, write_sample
from tfdsmcmc.posterior import store


def test_a_run_killed_while_writing_leaves_whole_files(tmp_path, monkeypatch):
    model = folder_of(tmp_path)
    before = [path.read_bytes() for path in store.sample_paths(tmp_path)]

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_sample(tmp_path, ds.posterior.load(tmp_path).samples[0]._replace(step=99))
    monkeypatch.undo()
    assert [path.read_bytes() for path in store.sample_paths(tmp_path)] == before
    assert len(ds.posterior.load(tmp_path).samples) == 3
    assert np.isfinite(ds.posterior.load(tmp_path).log_likelihood(model, X, 10).value).all()


def test_a_mean_that_is_behind_or_broken_is_computed_anew(tmp_path):
    folder_of(tmp_path)
    expected = ds.posterior.load(tmp_path).mean()[0]
    (tmp_path / "mean.h5").write_bytes(b"broken")
    for a, b in zip(ds.posterior.load(tmp_path).mean()[0], expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    last = ds.posterior.load(tmp_path).samples[-1]
    store.update_mean(tmp_path, last, 3)
    assert store._read_mean(tmp_path)[1] == 3
    store.sample_paths(tmp_path)[0].unlink()
    for i, mean in enumerate(ds.posterior.load(tmp_path).mean()[0]):
        rest = [sample.theta[i] for sample in ds.posterior.load(tmp_path).samples]
        np.testing.assert_allclose(mean, np.mean(rest, 0), rtol=1e-6, atol=1e-7)


def test_unreadable_folders_and_files_are_refused(tmp_path):
    for path in (tmp_path / "nothing", tmp_path):
        with pytest.raises(ValueError, match="A posterior is a folder with files.*Received: path="):
            ds.posterior.load(path)
    folder_of(tmp_path)
    victim = store.sample_paths(tmp_path)[1]
    whole = victim.read_bytes()
    for broken in (whole[: len(whole) // 2], b"", b"not HDF5"):
        victim.write_bytes(broken)
        with pytest.raises(ValueError, match="Received: .*sample_"):
            ds.posterior.load(tmp_path)
    with h5py.File(victim, "w") as file:
        file["else"] = 1
    with pytest.raises(ValueError, match="Received: .*sample_"):
        ds.posterior.load(tmp_path)
    store.write_weights(victim, [np.zeros(3)], [np.zeros(2)], step=20)
    with pytest.raises(ValueError, match="same shapes.*Received: .*sample_"):
        ds.posterior.load(tmp_path)
    (tmp_path / "history.json").write_text("{")
    with pytest.raises(ValueError, match="Received: .*history.json"):
        fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0), 1)


def test_history_is_lines_of_json_that_people_can_read(tmp_path):
    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    head, *records = map(json.loads, (tmp_path / "history.jsonl").read_text().splitlines())
    assert set(head) == {"chain", "beginning", "writer", "visit"}
    assert [record[:2] for record in records] == [[2, 1], [4, 2]]
