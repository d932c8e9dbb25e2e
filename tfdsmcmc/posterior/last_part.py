"""Which epochs of a run end with one of its M posterior samples: some of the last part, evenly.

Of n epochs, two rules. A collector is told two integers, which a run that is resumed, or made longer, still follows:

    every = max(1, ⌊n/M⌋),    burn_in = epochs − M·every,    samples after epochs burn_in + 1 + m·every,  m = 0 … M−1

and where the whole run is one call, in which nothing is resumed, the last epoch is among them and fractions are spread:

    samples after epochs  epochs − ⌊m·n/M⌋,  m = 0 … M−1
"""

from __future__ import annotations

import math
from typing import TypedDict

from tfdsmcmc._common import checks


class LastPart(TypedDict):
    """Arguments of `Collector`.

    Attributes:
      burn_in: epochs before the first sample.
      every: epochs from one sample to the next.
    """

    burn_in: int
    every: int


def last_part(epochs: int, num_samples: int, share: float = 0.5, burn_in: int | None = None) -> LastPart:
    """The arguments of `Collector` that spread samples over the last part of a run.

    Args:
      epochs: of the run.
      num_samples: M.
      share: of the epochs that are the last part, between 0 and 1: n = ⌊share · epochs⌋. What the samples leave over at
        its beginning is burn-in, and a part of fewer than M epochs grows to M.
      burn_in: the epochs before the last part, in place of `share`: n = epochs − burn_in. What the samples leave over
        is at the end then, and a part of fewer than M epochs has fewer samples.

    Returns:
      {"burn_in": …, "every": …}.

    Raises:
      ValueError: for counts or a share out of range, or more samples than epochs.

    Example:

    >>> import tfdsmcmc as ds
    >>> ds.posterior.last_part(epochs=500, num_samples=50)
    {'burn_in': 250, 'every': 5}
    >>> collector = ds.posterior.Collector("runs/digits", num_samples=50, **ds.posterior.last_part(500, 50))
    """
    epochs = checks.positive_integer("epochs", epochs)
    num_samples = checks.positive_integer("num_samples", num_samples)
    if burn_in is not None:
        burn_in = checks.nonnegative_integer("burn_in", burn_in)
        if burn_in >= epochs:
            raise ValueError(f"burn_in must be below epochs={epochs}. Received: burn_in={burn_in}")
        return {"burn_in": burn_in, "every": max(1, (epochs - burn_in) // num_samples)}
    if not 0 <= checks.nonnegative_number("share", share) <= 1:
        raise ValueError(f"share must be between 0 and 1. Received: share={share!r}")
    if num_samples > epochs:
        raise ValueError(f"num_samples must be at most epochs={epochs}. Received: num_samples={num_samples}")
    every = max(1, math.floor(round(share * epochs, 6)) // num_samples)
    return {"burn_in": epochs - num_samples * every, "every": every}


def last_epochs(epochs: int, num_samples: int) -> list[int]:
    """The epochs of the second half after which a run in one call is sampled, counted from 0, the last one first.

    Args:
      epochs: of the run.
      num_samples: M, at most half of the epochs, rounded up; 0 for none.

    Raises:
      ValueError: for counts out of range.
    """
    half = math.ceil(checks.positive_integer("epochs", epochs) / 2)
    if checks.nonnegative_integer("num_samples", num_samples) > half:
        raise ValueError(f"num_samples must be at most half of epochs={epochs}. Received: num_samples={num_samples}")
    return [epochs - 1 - m * half // num_samples for m in range(num_samples)]
