"""Several that load at once, and those that are killed: the folder is there whole or not at all."""

import subprocess
import sys
import threading

import pytest

from tests.commands import ROOT
from tfdsmcmc.pretrained import cached, sources, unpacking
from tfdsmcmc.pretrained.catalogue import release


def test_threads_at_once(releases, monkeypatch):
    """One reads, all others wait for it, and none finds half a folder."""
    read, reads, found, barrier = sources.read, [], [], threading.Barrier(6)

    def counted(*arguments):
        reads.append(1)
        return read(*arguments)

    def load():
        barrier.wait()
        found.append(cached.folder_of(release("net"), releases.source, releases.cache))

    monkeypatch.setattr(sources, "read", counted)
    threads = [threading.Thread(target=load) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(found) == 6 and len(set(found)) == 1 and len(reads) == 1


# what a process does that has the package's files alone, in place of TensorFlow's seconds
PROCESS = """
import json, pathlib, sys, types
root, catalogue_, source, cache = sys.argv[1:]
sys.path.insert(0, root)
for name in ("tfdsmcmc", "tfdsmcmc.pretrained"):  # without what they import
    package = types.ModuleType(name)
    package.__path__ = [str(pathlib.Path(root, *name.split(".")))]
    sys.modules[name] = package
from tfdsmcmc.pretrained import cached, catalogue, unpacking
catalogue._HERE = pathlib.Path(catalogue_)
unpack = unpacking.unpack
def slow(*arguments):
    print("unpacks", flush=True)
    sys.stdin.readline()
    return unpack(*arguments)
unpacking.unpack = slow
print("ready", flush=True)
print(cached.folder_of(catalogue.release("net"), source, cache), flush=True)
"""


def process(releases):
    arguments = [ROOT, releases.source.with_name("catalogue"), releases.source, releases.cache]
    command = [sys.executable, "-c", PROCESS, *map(str, arguments)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "ready\n"
    return started


def test_two_processes_at_once(releases):
    """The second waits while the first unpacks, and unpacks nothing itself."""
    first = process(releases)
    assert first.stdout.readline() == "unpacks\n"
    second = process(releases)
    with pytest.raises(subprocess.TimeoutExpired):
        second.wait(0.5)
    folder = releases.cache / releases.about["net"]["sha256"]
    assert not (folder / "contents.json").exists()
    assert first.communicate("\n", timeout=60)[0] == f"{folder}\n"
    assert second.communicate(timeout=60)[0] == f"{folder}\n"
    assert first.returncode == second.returncode == 0


def test_a_killed_process_leaves_nothing_in_the_way(releases):
    killed = process(releases)
    assert killed.stdout.readline() == "unpacks\n"
    killed.kill()
    killed.communicate()
    folder = cached.folder_of(release("net"), releases.source, releases.cache)
    assert (folder / "model.json").exists()
    leftovers = {path.name for path in releases.cache.iterdir()} - {folder.name, f".{folder.name}.lock"}
    assert leftovers == set()


def test_what_fails_half_way_leaves_nothing(releases, monkeypatch):
    def broken(content, folder, unpacked):
        (folder / "model.json").write_text("half")
        raise KeyboardInterrupt

    monkeypatch.setattr(unpacking, "unpack", broken)
    with pytest.raises(KeyboardInterrupt):
        cached.folder_of(release("net"), releases.source, releases.cache)
    assert [path.name for path in releases.cache.iterdir()] == [f".{release('net').sha256}.lock"]
