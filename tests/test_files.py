"""Files and folders that are there whole or not at all, and what a killed process leaves."""

import json
import os
import pathlib
import signal
import stat
import subprocess
import sys
import threading

import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc import files

# A process that writes a file or a folder and stops in the middle; it loads files.py alone, without TensorFlow.
WRITER = """
import importlib.util, pathlib, sys
spec = importlib.util.spec_from_file_location("files", {module!r})
files = importlib.util.module_from_spec(spec)
spec.loader.exec_module(files)
with files.replacing(pathlib.Path(sys.argv[1])) as temporary:
    if sys.argv[2] == "folder":
        temporary.mkdir()
        temporary = temporary / "part"
    temporary.write_text("half")
    print("writing", flush=True)
    sys.stdin.read()
"""


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def writer():
    """A function that starts a writer, and returns once it is in the middle."""
    begun = []

    def start(path, kind="file"):
        command = [sys.executable, "-c", WRITER.format(module=files.__file__), str(path), kind]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        begun.append(process)
        assert process.stdout.readline() == "writing\n"
        return process

    yield start
    for process in begun:
        process.kill()
        process.communicate()


def kill(process):
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL


@pytest.mark.parametrize("kind", ["file", "folder"])
def test_what_a_killed_process_leaves_goes_with_the_next_write(tmp_path, writer, kind):
    process = writer(tmp_path / "one", kind)
    (left,) = names(tmp_path)
    assert left.startswith(".") and f"-{process.pid}-" in left and left.endswith("-one")
    kill(process)
    assert names(tmp_path) == [left]
    with files.replacing(tmp_path / "two") as temporary:
        temporary.write_text("whole")
    assert names(tmp_path) == ["two"]


def test_what_a_living_process_is_writing_stays(tmp_path, writer):
    process = writer(tmp_path / "one")
    (theirs,) = names(tmp_path)
    with files.replacing(tmp_path / "two") as ours:
        ours.write_text("whole")
        files.remove_leftovers(tmp_path)
        assert names(tmp_path) == sorted([theirs, ours.name])
    assert names(tmp_path) == [theirs, "two"]
    process.communicate()  # the end of its input lets it go on
    assert names(tmp_path) == ["one", "two"] and (tmp_path / "one").read_text() == "half"


def test_only_temporary_files_are_taken_for_such(tmp_path):
    dead = f".tfdsmcmc-{files._machine()}-{2**31 - 2}-01234567-new-a.txt"
    kept = ["a.txt", ".hidden", dead[1:], f"{dead[:9]}-of-mine", dead.replace("new", "next")]
    for name in (dead, *kept):
        (tmp_path / name).write_text("")
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == sorted(kept)
    files.remove_leftovers(tmp_path / "missing")
    files.remove_leftovers(tmp_path / "a.txt")
    assert names(tmp_path) == sorted(kept)


def test_an_earlier_process_of_the_same_number_is_dead(tmp_path):
    (tmp_path / f".tfdsmcmc-{files._machine()}-{os.getpid()}-01234567-new-a").write_text("")
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == []


def test_another_machine_has_a_day(tmp_path):
    machine = f"{int(files._machine(), 16) ^ 1:08x}"
    paths = [tmp_path / f".tfdsmcmc-{machine}-{2**31 - 2}-0123456{i}-new-a" for i in range(2)]
    for path, hours in zip(paths, (23, 25)):
        path.write_text("")
        then = path.stat().st_mtime - 3600 * hours
        os.utime(path, (then, then))
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == [paths[0].name]


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
@pytest.mark.parametrize("where", ["block", "rename"])
def test_a_write_that_fails_changes_nothing(tmp_path, monkeypatch, error, where):
    def fails(*_):
        raise error

    (tmp_path / "a").write_text("old")
    if where == "rename":
        monkeypatch.setattr(os, "replace", fails)
    for path in (tmp_path / "a", tmp_path / "b", tmp_path / "new" / "deep" / "a"):
        with pytest.raises(error), files.replacing(path) as temporary:
            temporary.write_text("new")
            if where == "block":
                fails()
    assert names(tmp_path) == ["a"] and (tmp_path / "a").read_text() == "old"


def test_a_folder_takes_the_place_of_a_folder(tmp_path):
    for word in ("first", "second"):
        with files.replacing(tmp_path / "1") as temporary:
            temporary.mkdir()
            (temporary / word).write_text(word)
        assert names(tmp_path) == ["1"] and names(tmp_path / "1") == [word]


def folder(path, word):
    path.mkdir()
    (path / "word").write_text(word)


def test_an_interrupt_between_the_two_renames_brings_the_old_folder_back(tmp_path, monkeypatch):
    folder(tmp_path / "1", "first")
    rename, calls = os.replace, []

    def interrupted(source, target):
        calls.append(target)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(source, target)

    monkeypatch.setattr(os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt), files.replacing(tmp_path / "1") as temporary:
        folder(temporary, "second")
    assert names(tmp_path) == ["1"] and (tmp_path / "1" / "word").read_text() == "first"


@pytest.mark.parametrize("renamed", [False, True])
def test_a_kill_around_the_second_rename_loses_no_folder(tmp_path, renamed):
    """Only the old folder and an unfinished new one are there, or the new one and what is left of the old."""
    stem = f".tfdsmcmc-{files._machine()}-{2**31 - 2}-0123456"
    folder(tmp_path / f"{stem}7-old-1", "first")
    folder(tmp_path / ("1" if renamed else f"{stem}8-new-1"), "second")
    files.remove_leftovers(tmp_path)
    assert names(tmp_path) == ["1"]
    assert (tmp_path / "1" / "word").read_text() == ("second" if renamed else "first")


def test_permissions_are_those_of_any_new_file(tmp_path):
    before = os.umask(0o027)
    try:
        with files.replacing(tmp_path / "sub" / "file") as temporary:
            temporary.write_text("")
        with files.replacing(tmp_path / "folder") as temporary:
            temporary.mkdir()
    finally:
        os.umask(before)
    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("sub", "sub/file", "folder")]
    assert modes == [0o750, 0o640, 0o750]


def test_threads_do_not_meet(tmp_path):
    """Eight threads write one file a hundred times each: every write is whole, and none is in another's way."""
    failures = []

    def write(letter):
        try:
            for _ in range(100):
                with files.replacing(tmp_path / "file") as temporary:
                    temporary.write_text(letter * 1000)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=write, args=(letter,)) for letter in "abcdefgh"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures and names(tmp_path) == ["file"]
    text = (tmp_path / "file").read_text()
    assert len(text) == 1000 and len(set(text)) == 1


def test_a_block_that_writes_nothing_is_told(tmp_path):
    with pytest.raises(FileNotFoundError), files.replacing(tmp_path / "a"):
        pass
    assert names(tmp_path) == []


def test_suffixes_stay(tmp_path):
    with files.replacing(str(tmp_path / "model.weights.h5")) as temporary:
        assert isinstance(temporary, pathlib.Path) and temporary.name.endswith("-model.weights.h5")
        temporary.write_text("")


def test_json(tmp_path):
    files.write_json(tmp_path / "a.json", {"b": [1, None]})
    assert json.loads((tmp_path / "a.json").read_text()) == {"b": [1, None]}
    with pytest.raises(TypeError):
        files.write_json(tmp_path / "a.json", {"b": object()})
    assert json.loads((tmp_path / "a.json").read_text()) == {"b": [1, None]} and names(tmp_path) == ["a.json"]


def test_a_collector_a_save_and_an_export_begin_by_clearing_away(tmp_path):
    model = tiny_model((2,), units=4)
    model.compile("sgnht", jit_compile=False)
    left = tmp_path / f".tfdsmcmc-{files._machine()}-{2**31 - 2}-01234567-new-a"

    def collect():
        collector = ds.posterior.Collector(tmp_path, burn_in=0, num_samples=1, every=1)
        collector.set_model(model)
        collector.on_train_begin()
        collector.on_epoch_begin(0)

    for begin in (
        collect,
        lambda: model.save(tmp_path / "model.keras"),
        lambda: ds.serving.export(model, tmp_path, only="sample", verbose=False),
    ):
        left.write_text("half")
        begin()
        assert not left.exists()
