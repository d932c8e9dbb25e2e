"""How far a run is, in one line."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

import keras

from tfdsmcmc._common import checks

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs


class Progress(keras.callbacks.Callback):
    """One line for all epochs in place of Keras' one for each: for runs of hundreds of short epochs.

    Give `fit` verbose=0 besides. On a terminal the line is rewritten in place; where the output is a file or a pipe, a
    new one is written after each tenth of the run.

    Args:
      metrics: names of the metrics to show, those of them that the epoch has.
      parts: lines of a whole run where the output is no terminal.
      stream: where to write; by default what `sys.stdout` is when the run begins.

    Raises:
      ValueError: for another number of parts.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN 2", units=4)
    >>> model.compile("sgnht", jit_compile=False)
    >>> progress = ds.diagnostics.Progress(metrics=[], parts=2)
    >>> _ = model.fit(np.eye(4), epochs=4, verbose=0, callbacks=[progress])
    epoch 2 of 4, ... to go
    epoch 4 of 4, ...
    """

    def __init__(
        self,
        metrics: str | Iterable[str] = ("log_likelihood", "val_log_likelihood"),
        parts: int = 10,
        stream: TextIO | None = None,
    ):
        super().__init__()
        self.metrics: tuple[str, ...] = (metrics,) if isinstance(metrics, str) else tuple(metrics)
        self.parts: int = checks.positive_integer("parts", parts)
        self.stream = stream

    def on_train_begin(self, logs: Logs | None = None) -> None:
        self._stream = sys.stdout if self.stream is None else self.stream
        self._in_place = self._stream.isatty()
        self._begun = time.monotonic()
        self._first = None  # (epochs done, seconds) at the end of the first epoch, which compiles
        self._done, self._width, self._shown, self._line = 0, 0, None, ""
        if self._in_place:
            self._show("compiling")

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        seconds = time.monotonic() - self._begun
        before, self._done = self._done, epoch + 1
        if self._first is None:
            before, self._first = epoch, (self._done, seconds)
        self._line = self._words(seconds, logs or {})
        epochs = self.params["epochs"]
        if self._in_place or self._done * self.parts // epochs > before * self.parts // epochs:
            self._show(self._line)

    def on_train_end(self, logs: Logs | None = None) -> None:
        if self._line and self._shown != self._line:  # stopped between two lines
            self._show(self._line)
        if self._in_place:
            self._stream.write("\n")
            self._stream.flush()

    def _words(self, seconds, logs):
        done, epochs = self._done, self.params["epochs"]
        shown = [name for name in self.metrics if name in logs]
        values = [f"{_spoken(name, before)} {float(logs[name]):.2f}" for before, name in zip(["", *shown], shown)]
        words = [f"epoch {done} of {epochs}", *values, _clock(seconds)]
        since, at = self._first
        if since < done < epochs:
            words.append(f"{_clock((seconds - at) / (done - since) * (epochs - done))} to go")
        return ", ".join(words)

    def _show(self, line):
        self._shown = line
        if self._in_place:
            line = line[: shutil.get_terminal_size().columns - 1]  # a longer one would leave its beginning behind
            line, self._width = "\r" + line.ljust(self._width), len(line)
        self._stream.write(line if self._in_place else f"{line}\n")
        self._stream.flush()


def _spoken(name, before):
    """A metric's name in words; that of validation data is said shortly after the same of training data."""
    if name == f"val_{before}":
        return "validation"
    return name.replace("val_", "validation ", 1).replace("log_likelihood", "log-likelihood").replace("_", " ")


def _clock(seconds):
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{seconds:02d}" if hours else f"{minutes}:{seconds:02d}"
