"""A worker's threads and its GPU, of lists of devices that are not there."""

import pathlib
import subprocess
import sys
import types

import pytest
import tensorflow as tf

from tfdsmcmc.cluster import devices, work

# a process that takes a slot, says which, and waits to be killed
HOLDER = "import sys; from tfdsmcmc.cluster import devices; print(devices.first_free(sys.argv[1]), flush=True); input()"


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What TensorFlow is asked for by a worker that begins; `asked.gpus` are those that it sees."""
    found = types.SimpleNamespace(gpus=[], visible=[], growing=[], threads=[])
    monkeypatch.setattr(devices, "_settled", [])
    monkeypatch.setattr(devices.tempfile, "gettempdir", lambda: str(tmp_path))
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: list(found.gpus))
    monkeypatch.setattr(tf.config, "set_visible_devices", lambda own, kind: found.visible.append(own))
    monkeypatch.setattr(tf.config.experimental, "set_memory_growth", lambda gpu, on: found.growing.append(gpu))
    for name in ("intra", "inter"):
        monkeypatch.setattr(tf.config.threading, f"set_{name}_op_parallelism_threads", found.threads.append)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    return found


def workers(monkeypatch, count):
    """So many workers of one machine begin."""
    for _ in range(count):
        monkeypatch.setattr(devices, "_settled", [])
        devices.settle()
        devices.settle()  # at its next task


def test_each_worker_has_a_gpu_and_more_workers_share_them(asked, monkeypatch):
    asked.gpus = ["a", "b", "c"]
    workers(monkeypatch, 5)
    assert asked.visible == [["a"], ["b"], ["c"], ["a"], ["b"]]
    assert asked.growing == ["a", "b", "c", "a", "b"]
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "6,7")  # others than those above
    asked.gpus = ["g", "h"]
    workers(monkeypatch, 1)
    assert asked.visible[-1] == ["g"]


@pytest.mark.parametrize("gpus", [[], ["a"]])
def test_a_worker_that_sees_one_has_nothing_to_choose(asked, monkeypatch, tmp_path, gpus):
    asked.gpus = gpus
    workers(monkeypatch, 2)
    assert not asked.visible and asked.growing == gpus * 2 and not list(tmp_path.iterdir())


def test_a_worker_that_comes_too_late_is_told(asked, monkeypatch):
    def late(*arguments):
        raise RuntimeError("Visible devices cannot be modified after being initialized")

    asked.gpus = ["a", "b"]
    monkeypatch.setattr(tf.config, "set_visible_devices", late)
    with pytest.warns(RuntimeWarning, match="no GPU of its own, as its TensorFlow has begun: Visible"):
        workers(monkeypatch, 1)


def test_threads_are_the_workers_share(asked, monkeypatch):
    workers(monkeypatch, 1)
    assert not asked.threads
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    workers(monkeypatch, 1)
    assert asked.threads == [3, 3]
    worker = types.SimpleNamespace(state=types.SimpleNamespace(nthreads=4))  # of Dask, with four tasks at a time
    monkeypatch.setitem(sys.modules, "distributed", types.SimpleNamespace(get_worker=lambda: worker))
    workers(monkeypatch, 1)
    assert asked.threads == [3, 3, 12, 12]


def test_nothing_is_settled_where_the_tasks_are_sent_from(asked):
    asked.gpus = ["a", "b"]
    assert work.run(divmod, [("a", (7, 2))], False, "tasks") == [(3, 1)]
    assert not asked.visible and not devices._settled


@pytest.mark.slow
def test_a_slot_of_a_killed_worker_is_free_again(tmp_path):
    pytest.importorskip("fcntl")
    command = [sys.executable, "-c", HOLDER, str(tmp_path)]
    root = pathlib.Path(__file__).parents[2]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=root)
    try:
        assert other.stdout.readline().strip() == "0"
        assert devices.first_free(tmp_path) == 1
    finally:
        other.kill()
        other.wait()
    assert devices.first_free(tmp_path) == 0
