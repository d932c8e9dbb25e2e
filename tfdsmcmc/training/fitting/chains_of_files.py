"""How many chains a stored run has: it settles their number where `compile` has left that open."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import Any

import h5py
import keras
import numpy as np


def chains_in(store: Any) -> int | None:
    """C of the run among stored variables; None where there is none, or one that has made no step.

    Args:
      store: mapping from the names of a model's own variables to arrays, as of Keras' files.
    """
    names = set(store.keys())
    if "steps" not in names or int(np.asarray(store["steps"])) == 0:
        return None
    return len(store["weights_0"]) if "weights_0" in names else 1


def chains_of_backup(callbacks: Iterable[keras.callbacks.Callback]) -> int | None:
    """C of the run that a callback among these will restore when `fit` begins; None where none will.

    A file that cannot be read is left to the callback, which says so.

    Args:
      callbacks: list of callbacks, of which those that are `keras.callbacks.BackupAndRestore` are looked at.
    """
    for callback in callbacks:
        if isinstance(callback, keras.callbacks.BackupAndRestore):
            path = pathlib.Path(os.fspath(callback.backup_dir)) / "latest.weights.h5"
            try:
                with h5py.File(path, "r") as file:
                    return chains_in(file["vars"])
            except (OSError, KeyError):
                continue
    return None
