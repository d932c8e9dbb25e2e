"""What an optimizer had learnt at several moments of one run."""

import time

import keras
import numpy as np


class Marks(keras.callbacks.Callback):
    """Keeps the weights that were best on validation rows so far, at marks of processor time; ends at the last."""

    def __init__(self, marks):
        super().__init__()
        self.marks, self.begun = list(marks), time.process_time()
        self.best, self.weights, self.kept, self.updates = -np.inf, None, [], []

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_log_likelihood"] > self.best:
            self.best, self.weights = logs["val_log_likelihood"], self.model.get_weights()
        while self.marks and time.process_time() - self.begun >= self.marks[0]:
            self.kept.append((self.marks.pop(0), self.weights))
            self.updates.append(int(self.model.run.steps))
        self.model.stop_training = not self.marks

    def at(self, seconds):
        """The weights at the last mark that is not later; (mark, weights)."""
        return max((part for part in self.kept if part[0] <= seconds), default=self.kept[0], key=lambda part: part[0])
