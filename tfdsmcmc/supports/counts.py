"""Counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape

LARGEST = 2**24  # float32 has all whole numbers up to it


class Counts(Support):
    """{0, 1, 2, …, 2²⁴}^D.

    In place of what is missing a recognition network sees a typical count, and of each count y

        log (c + y) − log (c + typical).

    Args:
      typical: list of D positive numbers, one for each entry.
      offsets: c, such a list too; None for 1 throughout.

    Raises:
      ValueError: for no list of such numbers, or offsets of another number of entries.
    """

    described = f"counts, each entry a whole number from 0 to {LARGEST:,}"
    takes_bits = True

    def __init__(self, typical: Sequence[float], offsets: Sequence[float] | None = None):
        self.typical: list[float] = _positive("typical", typical)
        self.offsets: list[float] = [1.0] * len(self.typical) if offsets is None else _positive("offsets", offsets)
        if len(self.offsets) != len(self.typical):
            raise ValueError(f"offsets must be {len(self.typical)}, as typical is. Received: {len(self.offsets)}")
        self.filling = np.array(self.typical, np.float32)

    def holds(self, x: Any, observed: Any = None) -> Any:
        whole = (x % 1 == 0) & (x >= 0) & (x <= LARGEST)
        return whole if observed is None else whole | ~observed

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        """Geometric, with about the typical counts as means, and at most the largest count."""
        drawn = tf.floor(-(self.filling + 0.5) * tf.math.log(random.open_uniform(shape, seed)))
        return tf.minimum(drawn, float(LARGEST))

    def mode(self, mean: np.ndarray) -> np.ndarray:
        """The whole numbers next to the means."""
        return np.rint(mean).astype(np.float32)

    def seen(self, x: tf.Tensor) -> tf.Tensor:
        offsets = np.array(self.offsets, np.float32)
        return tf.math.log(offsets + x) - np.log(offsets + self.filling)

    def check_width(self, name: str, width: int) -> None:
        if width != len(self.typical):
            raise ValueError(f"{name} must be the number of counts, {len(self.typical)}. Received: {name}={width}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(typical={self.typical}, offsets={self.offsets})"


def _positive(name, numbers):
    fits = isinstance(numbers, (list, tuple)) and all(isinstance(number, (int, float)) for number in numbers)
    if not fits or not numbers or not all(0 < number < LARGEST for number in numbers):
        raise ValueError(f"{name} must be a list of positive numbers. Received: {name}={numbers!r}")
    return [float(number) for number in numbers]
