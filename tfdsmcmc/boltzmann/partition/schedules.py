"""The schedule of inverse temperatures that is published for Boltzmann machines, beside those of `annealing.schedules`.

Of 14,500 steps 500 go evenly from 0 to 0.5, 4,000 from 0.5 to 0.9 and 10,000 from 0.9 to 1, where the density changes
most; other numbers of steps are divided in these proportions.

Source: Salakhutdinov and Murray, ICML 2008, section 5.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from tfdsmcmc.annealing import schedules

BoltzmannScheduleName: TypeAlias = Literal["published", "sigmoid", "linear", "adaptive"]
BoltzmannSchedule: TypeAlias = BoltzmannScheduleName | Sequence[float] | np.ndarray

PUBLISHED_STEPS = 14_500
_ENDS = (0.0, 0.5, 0.9, 1.0)
_SHARES = (500, 4_000, 10_000)
NAMES: tuple[BoltzmannScheduleName, ...] = ("published", *schedules.NAMES)


def published(num_steps: int) -> np.ndarray:
    """β_0, …, β_T, (T + 1,) float64."""
    return np.interp(np.linspace(0, sum(_SHARES), num_steps + 1), np.cumsum((0, *_SHARES)), _ENDS)


def fixed(schedule: BoltzmannSchedule, num_steps: int) -> np.ndarray | None:
    """The schedule of a name or an array, (T + 1,) float32; None for "adaptive".

    Raises:
      ValueError: for another name, or an array that does not increase from 0 to 1.
    """
    if isinstance(schedule, str) and schedule == "published":
        return schedules.fixed(published(num_steps), num_steps)
    if isinstance(schedule, str) and schedule not in NAMES:
        raise ValueError(f"schedule is one of {list(NAMES)} or an array. Received: schedule={schedule!r}")
    return schedules.fixed(schedule, num_steps)
