"""The callbacks of a row of a table: what ends it, and which weights it keeps. See `recipes/table_row.py`."""

import json
import math
import time

import keras
import numpy as np

import tfdsmcmc as ds

_LOOKS = 10  # at the validation data, in a run
_SAMPLES = 50  # importance samples a row


class Budget(keras.callbacks.Callback):
    """Ends learning after some rounds or seconds, whichever come first, and the burn-in at half of either.

    Seconds are those of the rounds alone, of all calls together: compiling counts, backups and validation do not.

    Args:
      path: file that keeps the account from call to call.
      rounds: at most so many.
      limit: seconds.
      collector: `tfdsmcmc.posterior.Collector` whose burn-in is to be set, or None.
    """

    def __init__(self, path, rounds, limit, collector=None):
        super().__init__()
        self.path, self.rounds, self.limit, self.collector = path, rounds, limit, collector
        account = json.loads(path.read_text()) if path.exists() else {}
        self.seconds = account.get("seconds", 0.0)
        self.burn_in = account.get("burn_in", rounds // 2)
        self.over = account.get("over", False)
        self.validate = False  # whether the last round ended a tenth of the budget
        self._plan()

    def on_epoch_begin(self, epoch, logs=None):
        self._write()  # only now has the round before it been backed up
        self._begun = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        before = self._spent(epoch)
        self.seconds += time.monotonic() - self._begun
        spent = self._spent(epoch + 1)
        self.validate = int(_LOOKS * before) < int(_LOOKS * spent)
        if epoch + 1 < self.burn_in and 2 * self.seconds >= self.limit:
            self.burn_in = epoch + 1
            self._plan()
        if spent >= 1:
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        self.over = True
        self._write()

    def _spent(self, done):
        """The part of the budget that is spent, from 0 to 1."""
        return min(1.0, max(done / self.rounds, self.seconds / self.limit if self.limit else 1.0))

    def _plan(self):
        """Spreads the posterior samples over as many rounds as the burn-in has, or to the last."""
        if self.collector is not None:
            last = min(self.rounds, self.burn_in + max(self.burn_in, 1))
            spread = ds.posterior.last_part(last, self.collector.num_samples, burn_in=self.burn_in)
            self.collector.burn_in, self.collector.every = spread["burn_in"], spread["every"]

    def _write(self):
        account = {"seconds": self.seconds, "burn_in": self.burn_in, "over": self.over}
        ds.files.write_json(self.path, account)


class KeepBest(keras.callbacks.Callback):
    """Keeps the weights with the highest validation log-likelihood, of ten looks at even parts of the budget.

    Args:
      path: file of the weights and of what they are worth, .npz.
      x: rows to validate on.
      budget: `Budget` that tells when to look.
    """

    def __init__(self, path, x, budget):
        super().__init__()
        self.path, self.x, self.budget = path, x, budget
        self.value = -math.inf
        if path.exists():
            with np.load(path) as kept:
                self.value = float(kept["value"])

    def on_epoch_end(self, epoch, logs=None):
        if not self.budget.validate:
            return
        value = float(self.model.log_likelihood(self.x, _SAMPLES).mean())
        if value > self.value:
            self.value = value
            weights = {str(i): weight for i, weight in enumerate(self.model.get_weights())}
            with ds.files.replacing(self.path) as temporary:
                np.savez(temporary, value=value, **weights)
