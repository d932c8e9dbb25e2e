"""The budget of a row of a table: what ends its climb, and its learning (`experiments.method_table.row`)."""

import time

import keras

from experiments.common import files

_LOOKS = (0.01, 0.02, 0.05, *(tenth / 10 for tenth in range(1, 11)))  # parts of a budget


class Budget(keras.callbacks.Callback):
    """Ends learning after some rounds or seconds, whichever come first, and the burn-in at a part of either.

    With the burn-in ends the climb of a warm start: the rest of the budget is sampling, whatever a round takes, and at
    least one round is. Posterior samples are spread over as many rounds as are left by the time that a round of
    sampling took, the first that did not compile. Seconds are those of the rounds alone, of all calls together:
    backups, validation and compiling do not count, so that the first round of a call counts as much as the second, once
    that has been made.

    Args:
      path: file that keeps the account from call to call.
      rounds: at most so many.
      limit: seconds.
      collector: `tfdsmcmc.posterior.Collector` whose burn-in and interval are to be set, or None.
      share: part of the budget that is burn-in, between 0 and 1.
    """

    def __init__(self, path, rounds, limit, collector=None, share=0.5):
        super().__init__()
        self.path, self.rounds, self.limit, self.collector, self.share = path, rounds, limit, collector, share
        account = files.read_json(path) if path.exists() else {}
        self.seconds = account.get("seconds", 0.0)
        self.burn_in = account.get("burn_in", int(share * rounds))
        self.every = account.get("every")  # None until a round of sampling has been timed
        self.over = account.get("over", False)
        self._compiling = True  # the first round of this call has not been counted
        self._first = None  # its seconds, where it was the last
        self.validate = False  # whether a look at validation data is due after the last round
        self._tell()

    def on_epoch_begin(self, epoch, logs=None):
        self._write()  # only now has the round before it been backed up
        self._begun = time.monotonic()

    def on_epoch_end(self, epoch, logs=None):
        before, took = self._spent(epoch), time.monotonic() - self._begun
        self._count(took)
        spent = self._spent(epoch + 1)
        self.validate = any(before < part <= spent for part in _LOOKS)
        if epoch + 1 < self.burn_in and self.seconds >= self.share * self.limit:
            self.burn_in = epoch + 1
        if epoch + 1 == self.burn_in:  # in whole rounds
            self.model.run.end_climb()
        if epoch >= self.burn_in and self.collector is not None and self.every is None and self._first is None:
            by_time = int((self.limit - self.seconds) / max(took, 1e-9))
            rounds = 1 + max(0, min(self.rounds - epoch - 1, by_time))
            self.every = max(1, rounds // self.collector.num_samples)
        self._tell()
        sampled = self.collector is None or epoch >= self.burn_in
        if spent >= 1 and (sampled or epoch + 1 >= self.rounds):
            self.model.stop_training = True

    def on_train_end(self, logs=None):
        self.seconds += self._first or 0.0  # there was but one round
        self.over = True
        self._write()

    def _count(self, seconds):
        """Adds the seconds of a round, and with the second of a call as many for the first."""
        if self._compiling:
            self._compiling, self._first = False, seconds
        else:
            self.seconds += seconds if self._first is None else 2 * seconds
            self._first = None

    def _spent(self, done):
        """The part of the budget that is spent, from 0 to 1."""
        return min(1.0, max(done / self.rounds, self.seconds / self.limit))

    def _tell(self):
        if self.collector is not None:
            self.collector.burn_in, self.collector.every = self.burn_in, self.every or 1

    def _write(self):
        account = {"seconds": self.seconds, "burn_in": self.burn_in, "every": self.every, "over": self.over}
        files.write_json(self.path, account)
