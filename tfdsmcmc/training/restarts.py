"""Where a run goes on that was killed and restored by Keras' `BackupAndRestore`.

That callback keeps two files, the weights with the run in them, and the number of the epoch, and writes one after the
other. A kill between the two leaves a number that is not of the weights, or half a number. The run knows its epochs.
"""

from __future__ import annotations

import json
import os
import pathlib

import keras


class RestoredEpoch(keras.callbacks.Callback):
    """Lets `fit` go on with the epoch that follows those of the run. It stands behind the callback that restores.

    Args:
      run: `Run`, before anything is restored.
      initial_epoch: the epoch at which `fit` was told to start.
    """

    def __init__(self, run, initial_epoch):
        super().__init__()
        self._run, self._offset, self._before = run, initial_epoch - int(run.epochs), int(run.epochs)

    def on_train_begin(self, logs=None):
        epochs = int(self._run.epochs)
        self.model._initial_epoch = None if epochs == self._before else self._offset + epochs


def mend_backups(callbacks):
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
