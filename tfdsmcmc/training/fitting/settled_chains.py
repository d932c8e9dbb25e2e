"""How many chains a run has, where `compile` leaves that open: told by its first fit, or by a run that is stored.

A number that depends on the plan is settled before the first step, once for the whole run. What is loaded into a run
that is open settles it too: the number is told from the file before its variables are looked at.
"""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import h5py
import keras
import numpy as np

from tfdsmcmc.training.fitting.saving import Saving

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.training.run import Run


class SettledChains(Saving):
    """The part of a model that settles how many chains there are; `_settle_chains` where a subclass leaves it open."""

    run: Run | None

    def _settle_chains(self, steps, stored=None):
        """Settles before the first step how many chains there are, where `compile` has left that open.

        Args:
          steps: that the first `fit` plans, or None where they are not known.
          stored: the number of chains of a stored run that takes this one's place, or None.
        """

    def load_weights(self, filepath: FilePath, **kwargs: Any) -> None:
        """Loads weights, and the run where the file holds one; a file that does not fit changes nothing."""
        run, settings = self.run, self._settings
        try:
            super().load_weights(filepath, **kwargs)
        except BaseException:
            self.run, self._settings = run, settings
            raise

    def load_own_variables(self, store: Any) -> None:
        stored = chains_in(store)
        if stored is not None and self.run is not None:
            self._settle_chains(None, stored)
        super().load_own_variables(store)


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
