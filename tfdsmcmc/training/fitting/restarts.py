"""Where a run goes on that was killed and restored by Keras' `BackupAndRestore`.

That callback keeps two files, the weights with the run in them, and the number of the epoch, and writes one after the
other. A kill between the two leaves a number that is not of the weights, or half a number. The run knows its epochs:

    number of the epoch = epochs of the run − its epochs before the fit + the number at which the fit was told to start
"""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs
    from tfdsmcmc.training.run import Run


class RestoredEpoch(keras.callbacks.Callback):
    """Lets `fit` go on with the epoch that follows those of the run, and plans anew what is left where that is another
    than it was. It stands behind the callback that restores.

    Args:
      run: `Run`, before anything is restored; it keeps what was before the fit, so that a backup has that too.
      initial_epoch: the number at which `fit` was told to start.
      plan: function of the number at which it starts.
    """

    def __init__(self, run: Run, initial_epoch: int, plan: Callable[[int], None]):
        super().__init__()
        self._run, self._steps, self._plan = run, int(run.steps), plan
        run.epochs_before.assign(int(run.epochs) - initial_epoch)

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self.model._initial_epoch = int(self._run.epochs) - int(self._run.epochs_before)
        if int(self._run.steps) != self._steps:
            self._plan(self.model._initial_epoch)


def mend_backups(callbacks: Iterable[keras.callbacks.Callback]) -> None:
    """Deletes what a kill in the middle of its writing has left of a backup's number of the epoch.

    Args:
      callbacks: list of callbacks, of which those that are `keras.callbacks.BackupAndRestore` are looked at.
    """
    for callback in callbacks:
        if isinstance(callback, keras.callbacks.BackupAndRestore):
            path = pathlib.Path(os.fspath(callback.backup_dir)) / "training_metadata.json"
            try:
                json.loads(path.read_text(encoding="utf-8"))["epoch"]
            except OSError:  # there is none
                continue
            except (ValueError, KeyError, TypeError):
                path.unlink()
