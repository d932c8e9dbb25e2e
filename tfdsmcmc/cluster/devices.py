"""A worker's share of its machine, settled before its TensorFlow starts: threads, and one GPU.

Threads: for each task at a time as many as OMP_NUM_THREADS, which joblib and Dask set in the processes that they start.
GPU: of n that are visible, number (slot mod n), where a worker's slot is the first that no other living process of the
machine has. A slot is a locked file, so that a killed worker's is free again. CUDA_VISIBLE_DEVICES says what is
visible, whoever set it: a worker that sees one GPU, or none, has nothing to choose.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pathlib
import sys
import tempfile
import threading
import warnings
from collections.abc import Sequence
from typing import Any

import tensorflow as tf

_SLOTS = 1024
_lock = threading.Lock()
_settled: list[int] = []  # the slot of this process, whose file stays open as long as it lives


def settle() -> None:
    """Takes this process's share, at its first call."""
    with _lock:
        if _settled:
            return
        _settled.append(-1)
        _share_cores(_threads())
        gpus = tf.config.list_physical_devices("GPU")
        if len(gpus) > 1:
            _settled[0] = first_free(_folder())
        _take_gpu(gpus, _settled[0])


def first_free(folder: str | os.PathLike[str]) -> int:
    """The lowest number whose file in a folder no living process has locked; it is this process's from now on.

    Where the system has no locks of files, the number of the process.

    Args:
      folder: of this machine; made if missing.
    """
    try:
        import fcntl
    except ImportError:
        return os.getpid()
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for slot in range(_SLOTS):
        descriptor = os.open(folder / str(slot), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
        except OSError:  # a disk without locks
            os.close(descriptor)
            break
        else:
            return slot  # and the file stays open
    return os.getpid()


def _take_gpu(gpus: Sequence[Any], slot: int) -> None:
    """Makes one GPU visible, and has TensorFlow ask for its memory as it needs it: workers may share it."""
    if not gpus:
        return
    own = gpus[slot % len(gpus)] if len(gpus) > 1 else gpus[0]
    try:
        if len(gpus) > 1:
            tf.config.set_visible_devices([own], "GPU")
        tf.config.experimental.set_memory_growth(own, True)
    except (RuntimeError, ValueError) as error:  # TensorFlow has begun already
        if len(gpus) > 1:
            warnings.warn(
                f"This worker has no GPU of its own, as its TensorFlow has begun: {error}", RuntimeWarning, stacklevel=4
            )


def _share_cores(threads: int) -> None:
    if threads:
        with contextlib.suppress(RuntimeError):  # TensorFlow has begun already
            tf.config.threading.set_intra_op_parallelism_threads(threads)
            tf.config.threading.set_inter_op_parallelism_threads(threads)


def _threads() -> int:
    """The threads of this process; 0 for what TensorFlow takes by itself."""
    share = os.environ.get("OMP_NUM_THREADS", "")
    return int(share) * _tasks_at_a_time() if share.isdigit() else 0


def _tasks_at_a_time() -> int:
    """How many tasks this process does side by side: as many as a worker of Dask has threads, else one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return 1
    try:
        return int(distributed.get_worker().state.nthreads)
    except (ValueError, AttributeError):  # no worker of Dask
        return 1


def _folder() -> pathlib.Path:
    """The folder of slots of all processes that see the same GPUs."""
    seen = [os.environ.get(name, "") for name in ("CUDA_VISIBLE_DEVICES", "SLURM_JOB_ID")]
    user = os.getuid() if hasattr(os, "getuid") else os.environ.get("USERNAME", "")
    digest = hashlib.sha256(repr(seen).encode()).hexdigest()[:8]
    return pathlib.Path(tempfile.gettempdir()) / f"tfdsmcmc-gpus-{user}" / digest
