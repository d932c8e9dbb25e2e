"""Amounts, many of which may be 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape


class Amounts(Support):
    """[0, ∞)^D, as far as float32 has it.

    In place of what is missing a recognition network sees a typical amount, and of each amount y

        log (1 + y/typical) − log 2.

    Args:
      typical: list of D positive numbers, one for each entry.

    Raises:
      ValueError: for no list of such numbers.
    """

    described = "amounts, each entry 0 or more"
    takes_bits = True

    def __init__(self, typical: Sequence[float]):
        fits = isinstance(typical, (list, tuple)) and all(isinstance(number, (int, float)) for number in typical)
        if not fits or not typical or not all(0 < number < float("inf") for number in typical):
            raise ValueError(f"typical must be a list of positive numbers. Received: typical={typical!r}")
        self.typical: list[float] = [float(number) for number in typical]
        self.filling = np.array(self.typical, np.float32)

    def holds(self, x: Any, observed: Any = None) -> Any:
        found = (x >= 0) & (x < float("inf"))
        return found if observed is None else found | ~observed

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        """Exponential, with about the typical amounts as means."""
        return -self.filling * tf.math.log(random.open_uniform(shape, seed))

    def seen(self, x: tf.Tensor) -> tf.Tensor:
        return tf.math.log1p(x / self.filling) - np.log(np.float32(2.0))

    def check_width(self, name: str, width: int) -> None:
        if width != len(self.typical):
            raise ValueError(f"{name} must be the number of amounts, {len(self.typical)}. Received: {name}={width}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(typical={self.typical})"
