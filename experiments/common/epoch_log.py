"""The log of a run, a line an epoch, and its end after some hours."""

import time

import keras

from experiments.common import files


class EpochLog(keras.callbacks.Callback):
    """Appends a line an epoch to a file, and stops after some hours of this call.

    Args:
      path: of the file, JSON lines.
      hours: after which learning stops, or None.
      unit: what an epoch is called.
      each: whether `seconds` are those of the epoch; else since learning began in this call.
    """

    def __init__(self, path, hours, unit="epoch", each=False):
        super().__init__()
        self.path, self.hours, self.unit, self.each = path, hours, unit, each

    def on_train_begin(self, logs=None):
        self._begun = time.monotonic()

    def on_epoch_begin(self, epoch, logs=None):
        self._epoch_begun = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        now = time.monotonic()
        seconds = round(now - self._epoch_begun, 2) if self.each else round(now - self._begun, 1)
        files.append(self.path, {self.unit: epoch + 1, **self.more(), "seconds": seconds, **logs})
        if self.hours is not None and now - self._begun > 3600 * self.hours:
            self.model.stop_training = True

    def more(self):
        """What else a line has."""
        return {}
