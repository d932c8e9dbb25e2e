"""What ends a run of the study, or its climb, and which weights of an optimizer count."""

import time

import keras
import numpy as np


class Best(keras.callbacks.Callback):
    """Keeps the weights of the epoch with the best validation log-likelihood, and sets them at the end."""

    def on_train_begin(self, logs=None):
        self.best, self.weights, self.at = -np.inf, None, 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_log_likelihood"] > self.best:
            self.best, self.weights, self.at = logs["val_log_likelihood"], self.model.get_weights(), epoch + 1

    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)


class Until(keras.callbacks.Callback):
    """Ends learning after so many seconds of processor time."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.process_time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.process_time() >= self.end:
            self.model.stop_training = True


class Climb(keras.callbacks.Callback):
    """Ends the climb of a warm start after so many seconds of processor time."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.process_time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.process_time() >= self.end:
            self.model.run.end_climb()
