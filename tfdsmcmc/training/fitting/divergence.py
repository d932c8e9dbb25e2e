"""Chains that cannot move: an epoch with updates left out is said, weights that do not move at all are an error.

An update is left out where its gradient or its result is not finite. Now and then that is harmless. A chain all of
whose updates of θ are left out, ten at least and for whole epochs, stays where it is for ever, and what looks like a
run is none. Where φ alone learns, the metric and the warning say what was left out.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs
    from tfdsmcmc.training.run import Run

_WORTH_SAYING = 0.1
_FEWEST = 10  # updates left out in a row, in whole epochs, that are no bad luck


class DivergedError(ArithmeticError):
    """A Markov chain over the weights did not move in whole epochs: no update of it was finite."""


class Watch:
    """Looks at the updates of the weights in each epoch of a run.

    Args:
      run: `Run`.
    """

    def __init__(self, run: Run):
        self._run = run
        self._before = self._stuck = None

    def begin(self) -> None:
        """At the beginning of an epoch."""
        self._before = self._counts()

    def end(self, logs: Logs | None, whole: bool = True) -> None:
        """At the end of an epoch.

        Args:
          logs: its metrics; `skipped_steps` among them is the fraction of all updates that were left out.
          whole: False for an epoch that a callback has broken off, which is no error whatever it moved.

        Raises:
          DivergedError: if a chain made no update in this epoch and, where it has few, in those before it.
        """
        before, after = self._before, self._counts()
        if after is not None:
            taken, skipped = (np.atleast_1d(now - then) for now, then in zip(after, before))
            # updates since the chain last moved, those of epochs in which it did not
            self._stuck = np.where(skipped == taken, taken + (0 if self._stuck is None else self._stuck), 0)
            if whole and (self._stuck >= _FEWEST).any():
                chains = np.flatnonzero(self._stuck >= _FEWEST)
                raise DivergedError(
                    "The weights did not move: in whole epochs no update was finite. Take a lower learning rate, a "
                    f"wider prior, or data in a smaller range. Received: {int(self._stuck[chains[0]])} updates of "
                    + ("the chain" if len(taken) == 1 else f"chain {', '.join(map(str, chains))}")
                )
        fraction = float((logs or {}).get("skipped_steps", 0.0))
        if fraction >= _WORTH_SAYING:
            warnings.warn(
                f"{fraction:.0%} of the epoch's updates were left out, as they were not finite. A lower learning rate, "
                "a wider prior or data in a smaller range may help.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _counts(self):
        counts = self._run.step.skipped(self._run.state)
        return None if counts is None else [np.asarray(part) for part in counts]
