"""The record of epochs on disk: lines that are added, torn ones, folders of before, others who write, no room."""

import errno
import json
import os
import resource

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import X, fit, model_to_fit
from tfdsmcmc import files
from tfdsmcmc.posterior import store
from tfdsmcmc.posterior.history import Head, History

HEAD = Head(12345, "0123456789abcdef", "89abcdef-1")
RECORDS = [[2 * i, i, -1.5 / i, i > 2, f"{i:016x}"] for i in range(1, 41)]
RECORDS[1][2], RECORDS[2][2] = None, float("-inf")


def written(folder, count=40):
    """A record of some epochs, added one by one, and whose it is."""
    history = History(folder)
    assert history.read() == (Head(), [])
    for i in range(count):
        assert history.is_as_left()
        history.add(HEAD, RECORDS[: i + 1])
    return history


def former(folder):
    """Makes of a folder one of before: the whole record an object."""
    head, records = History(folder).read()
    (folder / "history.jsonl").unlink()
    (folder / "history.json").write_text(json.dumps({**head._asdict(), "records": records}) + "\n")


def test_each_epoch_adds_a_line_and_writes_nothing_else(tmp_path, monkeypatch):
    history = written(tmp_path, 1)
    monkeypatch.setattr(files, "replacing", lambda path: pytest.fail("written whole"))
    path = tmp_path / "history.jsonl"
    before, file = path.read_bytes(), path.stat().st_ino
    for i in range(1, 40):
        history.add(HEAD, RECORDS[: i + 1])
        assert path.read_bytes() == before + json.dumps(RECORDS[i]).encode() + b"\n" and history.is_as_left()
        before = path.read_bytes()
    assert path.stat().st_ino == file and len(before) > 4 * 512  # beyond both ends
    assert History(tmp_path).read() == (HEAD, RECORDS)
    assert [json.loads(line) for line in before.splitlines()[1:]] == RECORDS


def test_the_end_of_an_epoch_lists_no_samples(tmp_path, monkeypatch):
    """They are looked at where `fit` begins, and not again while it learns."""
    listed, paths, model = [], store.written_paths, model_to_fit()
    monkeypatch.setattr(store, "written_paths", lambda folder: listed.append(int(model.run.steps)) or paths(folder))
    fit(model, ds.posterior.Collector(tmp_path, burn_in=1, num_samples=4, every=1), 9)
    assert set(listed) <= {0, int(model.run.steps)} and 0 < listed.count(0) < 4
    monkeypatch.undo()
    assert [store.step_of(path) for path in store.sample_paths(tmp_path)] == [4, 6, 8, 10]
    assert store._read_mean(tmp_path)[1] == 4


def test_a_mean_of_samples_that_are_gone_goes_with_them(tmp_path, monkeypatch):
    """The same chain goes on from an earlier step, and is killed where it has as many samples as the mean was of."""
    model, samples = model_to_fit(), tmp_path / "samples"
    keep = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: epoch == 2 and model.save_weights(tmp_path / "third.weights.h5")
    )
    collector = ds.posterior.Collector(samples, burn_in=1, num_samples=3, every=1)
    model.fit(X, epochs=4, batch_size=4, verbose=0, callbacks=[keep, collector])
    assert store._read_mean(samples)[1] == 3
    model.load_weights(tmp_path / "third.weights.h5")
    for variable in model.generative.trainable_variables:
        variable.assign(variable + 1.0)
    monkeypatch.setattr(store, "update_mean", lambda *_: pytest.fail("killed"))
    with pytest.raises(pytest.fail.Exception, match="killed"):
        fit(model, ds.posterior.Collector(samples, burn_in=1, num_samples=3, every=1), 4, initial_epoch=3)
    monkeypatch.undo()
    posterior = ds.posterior.load(samples)
    assert [sample.step for sample in posterior.samples] == [4, 6, 8]
    for found, *parts in zip(posterior.mean()[0], *(sample.theta for sample in posterior.samples), strict=True):
        np.testing.assert_allclose(found, np.mean(parts, 0), rtol=1e-6)


def test_a_last_line_that_is_torn_at_any_byte_is_dropped(tmp_path):
    written(tmp_path, 4)
    path = tmp_path / "history.jsonl"
    whole = path.read_bytes()
    last = len(whole.splitlines(keepends=True)[-1])
    for torn in (*(whole[: len(whole) - cut] for cut in range(1, last + 1)), whole[:-last] + bytes(last)):
        path.write_bytes(torn)
        history = History(tmp_path)
        assert history.read() == (HEAD, RECORDS[:3]) and history.is_as_left()
    path.write_bytes(whole[: -last // 2])
    history.read()
    history.add(HEAD, RECORDS[:4])
    assert History(tmp_path).read() == (HEAD, RECORDS[:4])


@pytest.mark.parametrize("kind", ["torn", "lost", "former", "former and torn"])
def test_a_run_goes_on_from_what_a_kill_or_another_version_left(tmp_path, kind):
    """The same chain, one record behind or in a folder of before: the samples are those of an undisturbed run."""

    def collector(folder):
        return ds.posterior.Collector(folder, burn_in=1, num_samples=5, every=1)

    fit(model_to_fit(), collector(tmp_path / "straight"), 6)
    model, folder = model_to_fit(), tmp_path / "run"
    fit(model, collector(folder), 3)
    path = folder / "history.jsonl"
    if "torn" in kind:
        path.write_bytes(path.read_bytes()[:-9])
    if kind == "lost":
        path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    if "former" in kind:
        former(folder)
    fit(model, collector(folder), 3)
    expected = History(tmp_path / "straight").read()[1]
    expected = expected if kind == "former" else expected[:2] + expected[3:]
    assert [record[:2] for record in History(folder).read()[1]] == [record[:2] for record in expected]
    assert not (folder / "history.json").exists()
    names = [path.name for path in store.sample_paths(folder)]
    assert names == [path.name for path in store.sample_paths(tmp_path / "straight")] and len(names) == 5
    assert store._read_mean(folder)[1] == 5


def test_a_folder_of_before_is_another_chains_as_it_was(tmp_path):
    fit(model_to_fit(), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    former(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(ValueError, match="another chain.*Received: "):
        fit(model_to_fit(3), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    again = ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1)
    fit(model_to_fit(), again, 3)  # begins as that run did, makes the same, and writes nothing
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_whoever_else_writes_is_told(tmp_path):
    """Two that know the same record: the first to write leaves the other what it has not written, even where length
    and records are the same."""
    one, other = History(tmp_path), History(tmp_path)
    for history in (one, other):
        history.read()
    one.add(HEAD, RECORDS[:1])
    assert one.is_as_left() and not other.is_as_left()
    other.read()
    one.add(HEAD, RECORDS[:2])
    assert one.is_as_left() and not other.is_as_left()
    other.read()
    length = (tmp_path / "history.jsonl").stat().st_size
    other.add(HEAD, RECORDS[:2])
    assert (tmp_path / "history.jsonl").stat().st_size == length
    assert other.is_as_left() and not one.is_as_left()
    (tmp_path / "history.jsonl").unlink()
    assert not other.is_as_left()


def test_others_are_told_beyond_both_ends(tmp_path):
    history = written(tmp_path)
    path = tmp_path / "history.jsonl"
    whole = path.read_bytes()
    for changed in (whole[:-1], whole + b"\n", b" " + whole[1:], whole[:-3] + b"]]\n"):
        path.write_bytes(changed)
        assert not history.is_as_left()
    path.write_bytes(whole)
    assert history.is_as_left()


@pytest.mark.parametrize("link", ["symbolic", "hard"])
def test_no_line_is_written_through_a_link_that_came_meanwhile(tmp_path, link):
    history = written(tmp_path, 2)
    path, elsewhere = tmp_path / "history.jsonl", tmp_path / "elsewhere"
    if link == "hard":
        os.link(path, elsewhere)
    else:
        path.rename(elsewhere)
        path.symlink_to(elsewhere)
    before = elsewhere.read_bytes()
    history.add(HEAD, RECORDS[:3])
    assert elsewhere.read_bytes() == before and not path.is_symlink()
    assert History(tmp_path).read() == (HEAD, RECORDS[:3])


def test_a_line_that_finds_no_room_is_taken_back(tmp_path, monkeypatch):
    """A file that may grow by nine bytes, and a disk that says so when it is flushed."""
    history = written(tmp_path, 2)
    path = tmp_path / "history.jsonl"
    before, limits = path.read_bytes(), resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 9, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            history.add(HEAD, RECORDS[:3])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == before

    def full(descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, pytest.raises(OSError, match="No space left"):
        patch.setattr(os, "fsync", full)
        history.add(HEAD, RECORDS[:3])
    assert path.read_bytes() == before and history.is_as_left()
    history.add(HEAD, RECORDS[:3])
    assert History(tmp_path).read() == (HEAD, RECORDS[:3])


WRONG = {
    "empty": b"",
    "no line": b'{"chain": 1}',
    "no object": b"[]\n",
    "words": b"words\n",
    "no records": b'{"chain": 1}\n5\n',
    "short records": b'{"chain": 1}\n[1, 2]\n',
    "a line in the middle": b'{"chain": 1}\n[1, 1\n[2, 2, null]\n',
    "bytes": b'{"chain": 1}\n[1, 1, \xff]\n[2, 2, null]\n',
}


@pytest.mark.parametrize("name", ["history.json", "history.jsonl"])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_cannot_be_read_is_named(tmp_path, name, wrong):
    if (name, wrong) == ("history.json", "no line"):
        return  # the record of no epoch
    (tmp_path / name).write_bytes(WRONG[wrong])
    with pytest.raises(ValueError, match=rf"cannot be read \(.+\)\. Received: .*{name}$"):
        History(tmp_path).read()


def test_a_collector_names_it_too(tmp_path):
    (tmp_path / "history.jsonl").write_text("{")
    with pytest.raises(ValueError, match="Received: .*history.jsonl"):
        model_to_fit().fit(X, verbose=0, callbacks=[ds.posterior.Collector(tmp_path, burn_in=0)])
