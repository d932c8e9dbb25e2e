"""The epochs of a run, as Keras counts them off."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import keras

from tfdsmcmc.training.fitting.divergence import Watch

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.training.run import Run


class EpochCounter(keras.callbacks.Callback):
    """Counts completed epochs in the run, before any other callback sees the end of the epoch.

    Before the first epoch it lets a state that a callback has restored begin with the rows of this fit. Weights
    that do not move are an error, after an epoch that is not counted.

    Args:
      run: `Run`.
      source: of the rows, or None where they have no random access.
      num_rows: N.
      epochs_of_look: function from an epoch, counted from 1, with a look at validation rows after it to how many epochs
        are from the look before to this one.
    """

    def __init__(
        self, run: Run, source: RandomAccessSource | None, num_rows: float, epochs_of_look: Callable[[int], int]
    ):  # fmt: skip
        super().__init__()
        self.run, self._epochs_of_look = run, epochs_of_look
        self._source, self._num_rows, self._rows = source, num_rows, int(run.rows)
        self._watch = Watch(run)

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        self.run.num_rows.assign(float(self._num_rows))
        if int(self.run.rows) != self._rows:
            self.run.begin(self._source, self._num_rows)
        self._steps = int(self.run.steps)
        self._watch.begin()

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if int(self.run.steps) > self._steps:  # another callback may have stopped the run before its first step
            self._watch.end(logs, whole=not self.model.stop_training)
            if "val_log_likelihood" in (logs or {}):
                steps = (int(self.run.steps) - self._steps) * self._epochs_of_look(epoch + 1)
                self.run.validated(logs["val_log_likelihood"], steps, self._outdoes(logs))
            self.run.epochs.assign_add(1)

    def _outdoes(self, logs):
        return lambda theta, phi: self.model.outdoes(theta, phi, logs)
