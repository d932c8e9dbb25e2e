"""Schedules of inverse temperatures 0 = β_0 < β_1 < … < β_T = 1.

    linear      β_t = t/T
    sigmoid     β_t = (s_t − s_0)/(s_T − s_0),    s_t = σ(4 (2t/T − 1)): small steps near both ends

Source: Grosse, Ghahramani and Adams, "Sandwiching the marginal likelihood using bidirectional Monte Carlo",
arXiv:1511.02543 (2015), section 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

ScheduleName: TypeAlias = Literal["sigmoid", "linear", "adaptive"]
Schedule: TypeAlias = ScheduleName | Sequence[float] | np.ndarray  # an `ArrayLike` may be any string

_STEEPNESS = 4.0
NAMES: tuple[ScheduleName, ...] = ("sigmoid", "linear", "adaptive")


def linear(num_steps: int) -> np.ndarray:
    """β_0, …, β_T, (T + 1,)."""
    return np.linspace(0.0, 1.0, num_steps + 1)


def sigmoid(num_steps: int) -> np.ndarray:
    """β_0, …, β_T, (T + 1,)."""
    s = 1.0 / (1.0 + np.exp(-_STEEPNESS * (2.0 * linear(num_steps) - 1.0)))
    return (s - s[0]) / (s[-1] - s[0])


def fixed(schedule: Schedule, num_steps: int) -> np.ndarray | None:
    """The schedule of a name or an array, (T + 1,) float32; None for "adaptive".

    Args:
      schedule: a name, or an array of β whose length decides in place of `num_steps`.
      num_steps: T.

    Raises:
      ValueError: for another name, or an array that does not increase from 0 to 1.
    """
    if isinstance(schedule, str) or schedule is None:
        if schedule not in NAMES:
            raise ValueError(f"schedule is one of {list(NAMES)} or an array. Received: schedule={schedule!r}")
        return None if schedule == "adaptive" else _checked({"linear": linear, "sigmoid": sigmoid}[schedule](num_steps))
    return _checked(schedule)


def _checked(schedule):
    try:
        betas = np.asarray(schedule, np.float32)
    except (TypeError, ValueError):
        betas = np.zeros([0], np.float32)
    ends = betas.ndim == 1 and len(betas) > 1 and betas[0] == 0 and betas[-1] == 1
    if not ends or not np.all(np.diff(betas) > 0):
        raise ValueError(f"A schedule increases from 0 to 1, in steps that float32 tells apart. Received: {schedule!r}")
    return betas
