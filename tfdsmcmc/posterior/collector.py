"""The callback that collects posterior samples.

Whether an epoch ends with a sample depends on what was recorded at the ends of epochs alone: the number of steps, the
validation log-likelihood, and whether the weights were being sampled, not climbing before it. The records are kept
beside the samples, with the identity of the chain; a resumed run of that chain forgets what lies after its own step
and decides as an uninterrupted one would. A run of several chains over θ draws a sample of each of them at a time, and
has one identity; the validation values are those of chain 0.

The record is also what tells two runs in one folder: each finds it, whenever it writes, as it left it, or another run
has written there (`history`). What is there is read when a `fit` begins; from then on the end of an epoch costs the
same however many there were.

A run that is killed before its first backup begins anew. Where it begins as the run in the folder did, from the same
weights, seed and step, it makes the same epochs once more: at the end of each its record, with a checksum of the
weights in it, is compared with the one that is there, and nothing is written or deleted while they agree. It is the
chain of the folder from the first that does. What does not agree is of another run, and is refused where samples
would be lost, else forgotten. So are, with a warning, the records of a process that has ended before its first sample:
a run whose layers have no seeds begins elsewhere whenever it begins, and goes on for all that.
"""

from __future__ import annotations

import bisect
import collections
import contextlib
import json
import os
import pathlib
import warnings
from typing import TYPE_CHECKING

import keras

from tfdsmcmc import files
from tfdsmcmc._common import checks
from tfdsmcmc.posterior import choice, starts, store
from tfdsmcmc.posterior.averages import check_average, check_fit
from tfdsmcmc.posterior.history import Head, History
from tfdsmcmc.posterior.opening import load
from tfdsmcmc.posterior.timing import Timing, sampled

if TYPE_CHECKING:
    from tfdsmcmc._common.types import AverageChoice, FilePath, Logs

_ANOTHER_RUN = "Another run writes into this folder: give each a folder of its own. "
_HOT, _SETTLED = 2.0, 500  # kinetic temperature, and the minibatches of sampling before a thermostat is judged by it


class Collector(keras.callbacks.Callback):
    """Writes samples of θ and φ to disk once the chain has settled. The live chain is only read.

    It stands before callbacks that save the run, such as `BackupAndRestore`: a run that is killed between the two then
    repeats the epoch; the other way round it would go on without the sample.

    Args:
      path: folder for the samples; made if missing.
      num_samples: samples to collect, of each chain where the model has several.
      patience: collecting starts when the validation log-likelihood has settled over this many minibatches learnt
        from, and over five epochs at least: its slope, by least squares, is at most two standard errors. It starts at
        the latest for the second half of the epochs that `fit` has for the chain. Minibatches of an optimizer before
        the chain (`mcmc.WarmStart`) do not count. Each `fit` looks for it anew; samples of an earlier one stay, and
        count.
      burn_in: collecting starts after this many epochs since `compile` instead, whatever the validation, and not before
        the chain does.
      every: epochs from one sample to the next; by default as many as spread the samples over the rest of what `fit`
        has for the chain, 25 minibatches apart at least and 1,000 at most. `posterior.last_part` gives both for a
        run of known length.
      stop: whether training stops with the last sample.
      overwrite: whether the samples of another chain in the folder may be deleted. A run that is killed with samples
        and without a backup, and begins elsewhere whenever it begins (layers without seeds), needs it to be restarted
        unattended.
      average: what `posterior.load` averages the samples to where nothing else is said, of `averages.AVERAGES`; where
        no warm start has left its weights, it is what a name says without "start". "auto" lets the validation rows of
        `fit` choose at its end, where there are some and a recognition network learns along (`posterior.choice`). It
        takes some seconds, of wide networks a minute or more.

    Raises:
      ValueError: for counts out of range; when training starts, for a folder that holds another chain's samples, or
        without validation data where they decide; at the end of an epoch, for a folder that holds samples of a run
        that began as this one and went on otherwise.

    Warns:
      RuntimeWarning: once a `fit`, for a sample of a chain whose kinetic temperature is above 2 after 500 minibatches
        of sampling: noise of the gradient heats it faster than the kernel's friction cools it, and its weights scatter
        further than the posterior's do; and at the end of a `fit` whose epochs were too few for `num_samples`, with
        how many more it takes. A `fit` that another callback stopped earlier does not warn.

    Example:

    >>> import tfdsmcmc as ds
    >>> collector = ds.posterior.Collector("runs/digits", num_samples=50, patience=1000)
    """

    def __init__(
        self, path: FilePath, num_samples: int = 50, patience: int = 1000, burn_in: int | None = None,
        every: int | None = None, stop: bool = True, overwrite: bool = False, average: AverageChoice = "auto",
    ):  # fmt: skip
        super().__init__()
        if average != "auto":
            check_average(average)
        if not (isinstance(path, (str, os.PathLike)) and str(path)):
            raise ValueError(f"path is that of a folder. Received: path={path!r}")
        self.path: pathlib.Path = pathlib.Path(path)
        self.num_samples: int = checks.positive_integer("num_samples", num_samples)
        self.patience: int = checks.positive_integer("patience", patience)
        self.burn_in: int | None = None if burn_in is None else checks.nonnegative_integer("burn_in", burn_in)
        self.every: int | None = None if every is None else checks.positive_integer("every", every)
        self.stop: bool = checks.boolean("stop", stop)
        self.overwrite: bool = checks.boolean("overwrite", overwrite)
        self.average = average
        self._history = History(self.path)
        self._records = self._beginning = self._owner = self._writer = None
        self._ahead = collections.deque()  # the records of this run, begun earlier, that it has not come to again
        self._written, self._files = [], 0  # the steps of the folder's draws, in order, and how many files they are
        self._timing = Timing(self.num_samples, self.patience, self.burn_in, self.every)
        self._warned = self._has_start = False

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._records, self._warned = None, False
        if os.path.lexists(self.path) and not self.path.is_dir():
            found = "a link to nothing" if self.path.is_symlink() and not os.path.exists(self.path) else "a file"
            raise ValueError(f"The collector writes into a folder. Received: path={str(self.path)!r}, {found}")
        if self.average != "auto":
            check_fit(self.average, self.model)
        if self.burn_in is None and not self.model.validates:
            raise ValueError(
                "The collector waits for the validation log-likelihood: give fit validation_data, or the collector "
                "burn_in. Received: validation_data=None"
            )

    def on_epoch_begin(self, epoch: int, logs: Logs | None = None) -> None:
        if self._records is None:  # only now is the state of a resumed run in place
            run = self.model.run
            self._timing.begun = int(run.epochs_begun)
            self._timing.last_epoch = int(run.epochs_before) + (self.params or {}).get("epochs", 0)
            with files.locked(self.path) if self.path.exists() else contextlib.nullcontext():
                self._reconcile(int(run.steps), int(run.identity))
            self._timing.look_anew()
            if self.stop and self._draws() >= self.num_samples:
                self.model.stop_training = True

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        step = int(self.model.run.steps)
        self._timing.burn_in, self._timing.every = self.burn_in, self.every  # which callbacks may have set
        if self._records and self._records[-1][0] == step:  # the run was stopped before its first step
            return
        value = (logs or {}).get("val_log_likelihood")
        value = None if value is None else float(value)
        draw, run = store.draw_of(self.model), self.model.run
        self._records.append([step, int(run.epochs), value, run.sampled, store.checksum(draw)])
        self.path.mkdir(parents=True, exist_ok=True)
        with files.locked(self.path):
            if not self._repeats():
                self._write(draw)
        if self._ends_with_sample():
            self._warn_of_heat((logs or {}).get("kinetic_temperature"))
        if self.stop and self._draws() >= self.num_samples:
            self.model.stop_training = True

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self._records is None and self.path.is_dir():  # of a run that was finished but for its end
            with files.locked(self.path):
                self._reconcile(int(self.model.run.steps), int(self.model.run.identity))
        if not self._records:
            return
        self._warn_of_too_few()
        if not self._draws():
            return
        chosen = self._chosen()
        if chosen is not None:
            with files.locked(self.path):
                if self._history.is_as_left():
                    choice.write(self.path, chosen)

    def _chosen(self):
        """The `Choice` of an average at the end of a fit, or None."""
        model = self.model
        if self.average != "auto":
            return choice.Choice(self.average, {})
        if not (hasattr(model, "generative") and model.validates and model.run.step.phi_follows):
            return None
        try:
            return choice.choose(load(self.path), model, model.validation_source, model.run.seed)
        except Exception as error:  # the run is finished, whatever is wrong with an average of it
            warnings.warn(f"No average over the samples was chosen: {error}", RuntimeWarning, stacklevel=2)
            return None

    def _warn_of_too_few(self):
        kept, epochs = self._draws(), int(self.model.run.epochs)
        if kept >= self.num_samples or self._timing.last_epoch is None or epochs < self._timing.last_epoch:
            return
        more = self._timing.epochs_to_go(self._records, self.num_samples - kept)
        warnings.warn(
            f"The fit ended with {kept} of {self.num_samples} posterior samples: the others take about {more} more "
            f"epochs after these {epochs} (burn_in={self.burn_in}, every={self.every}).",
            RuntimeWarning,
            stacklevel=3,
        )

    def _warn_of_heat(self, temperature):
        settled = self._records[-1][0] - self._timing.first[0] >= _SETTLED
        if self._warned or not settled or temperature is None or not float(temperature) > _HOT:
            return
        self._warned = True
        warnings.warn(
            f"The chain is hotter than the posterior asks, v²/η is {float(temperature):.1f} and not 1: gradient noise "
            "heats it faster than its friction cools it, and posterior samples are too wide. Lower the kernel's "
            "learning rate, or the noise_tolerance of a warm start, or take larger minibatches.",
            RuntimeWarning,
            stacklevel=2,
        )

    def _repeats(self):
        """Whether the last record, and its sample, are in the folder already; what is there of another run goes."""
        if not self._ahead:
            return False
        known, last = self._ahead.popleft(), self._records[-1]
        has_sample = self._draws() > self._draws(before=last[0])
        if json.dumps(known) == json.dumps(last) and self._ends_with_sample() == has_sample:
            self.model.run.identity.assign(self._owner)
            return True
        if self._written and self._written[-1] >= last[0]:
            raise ValueError(
                "The folder holds samples of a run that began as this one and went on otherwise (with other rows, "
                "arguments, or on another machine); choose another one, or overwrite=True. "
                f"Received: path={str(self.path)!r}, which differs after {last[0]} steps"
            )
        if not files.is_gone(self._writer):
            raise ValueError(_ANOTHER_RUN + f"Received: path={str(self.path)!r}")
        self._history.warn_of_forgotten([known, *self._ahead])
        self._ahead.clear()
        self._find_starts(self._records[:-1])
        return False

    def _ends_with_sample(self):
        """Whether the last record is one that a sample belongs to."""
        return self._timing.is_due(self._records) and self._draws(before=self._records[-1][0]) < self.num_samples

    def _write(self, draw):
        """Adds to the folder what the end of an epoch adds."""
        if not self._history.is_as_left():
            raise ValueError(_ANOTHER_RUN + f"Received: path={str(self.path)!r}")
        if self._ends_with_sample():
            choice.forget(self.path)  # what fewer samples were best averaged to
            store.write_draw(self.path, draw)
            self._written.append(draw[0].step)
            self._files += len(draw)
            store.update_mean(self.path, draw, self._files)
        if self.model.run.sampled and not self._has_start:
            starts.write(self.path, starts.starts_of(self.model))
            self._has_start = True
        head = Head(int(self.model.run.identity), self._beginning, files.writer())
        self._history.add(head, self._records)

    def _draws(self, before=None):
        """The draws in the folder up to the present step, or before one, each of one sample of every chain."""
        end = int(self.model.run.steps) + 1 if before is None else before
        return bisect.bisect_left(self._written, end)

    def _reconcile(self, step, chain):
        """Sets the records of this chain up to `step`, and those that it will come to again, having begun anew.

        Deletes what an interrupted run of this chain left after them.
        """
        head, records = self._history.read()
        self._owner, self._beginning, self._writer = head
        files.remove_leftovers(self.path)
        paths, whole = store.written_paths(self.path), set(store.sample_paths(self.path))
        self._ahead.clear()
        if self._owner != chain:
            self._beginning = store.checksum(store.draw_of(self.model), step, *self.model.run.seed.numpy())
            if head.beginning == self._beginning and not self.overwrite:
                self._ahead.extend(records)
                step, records = max((record[0] for record in records), default=-1), []
            elif records and not paths and files.is_gone(self._writer) and not self.overwrite:
                self._history.warn_of_forgotten(records)
                records, step = [], -1
            elif (records or paths) and not self.overwrite:
                raise ValueError(
                    "The folder holds the samples of another chain; choose another one, or overwrite=True. A run that "
                    "begins anew goes on with its own samples where it begins with equal weights, as seeds give them. "
                    f"Received: path={str(self.path)!r}"
                )
            else:
                records, step = [], -1
        lost = [path for path in paths if store.step_of(path) > step or path not in whole]
        if lost or step < 0:
            choice.forget(self.path)
            store.delete(self.path, lost)
        kept = [store.step_of(path) for path in paths if store.step_of(path) <= step and path in whole]
        self._written, self._files = list(dict.fromkeys(kept)), len(kept)
        self._records = [record for record in records if record[0] <= step]
        self._find_starts([*self._records, *self._ahead])

    def _find_starts(self, records):
        """Whether the folder has the starts of the run of these records; those of another go, and parts of them."""
        self._has_start = any(map(sampled, records)) and starts.are_in(self.path)
        if not self._has_start:
            starts.delete(self.path)
