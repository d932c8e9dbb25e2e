"""How a warm start hears of validation data while a row of a table learns."""

import math

import keras


class Validation(keras.callbacks.Callback):
    """Tells a warm start what its weights are worth, which ends the climb where they no longer gain.

    Args:
      value: function of the model that returns the log-likelihood of validation rows, a number or None.
      rounds: after so many each.
    """

    def __init__(self, value, rounds):
        super().__init__()
        self.value, self.rounds = value, rounds

    def on_epoch_end(self, epoch, logs=None):
        if (epoch + 1) % self.rounds == 0 and not self.model.run.sampled:
            value = self.value(self.model)
            self.model.run.validated(-math.inf if value is None else value)
