"""Processes that were forked from one in which TensorFlow had been at work: its threads are not in them, and it hangs.

A copy of a process by `os.fork`, or by `multiprocessing` with the start method "fork", has the memory of the first one
and none of its other threads, which the first program to run would wait for without end. So a process notes that it
has used TensorFlow, and a copy that was made after that is told where it would hang.
"""

from __future__ import annotations

import os

_state = {"used": False, "copied": False}


def check() -> None:
    """Notes that TensorFlow is at work.

    Raises:
      RuntimeError: in a process that was forked from one in which it had been.
    """
    if _state["copied"]:
        raise RuntimeError(
            "TensorFlow hangs in a process that was forked from one that had used it: start processes by "
            'multiprocessing.get_context("spawn") or "forkserver". '
            f"Received: process {os.getpid()}, forked from {os.getppid()}"
        )
    _state["used"] = True


def _in_a_copy():
    _state["copied"] = _state["used"]


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_in_a_copy)
