"""Real numbers that are skewed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import yeo_johnson
from tfdsmcmc.supports.real import Real

_FARTHEST = 30.0


class Skewed(Real):
    """ℝ^D, as far as float32 has it. A network sees ψ(y) of each entry, from −30 to 30, and 0 of what is missing.

    Args:
      powers: list of D numbers from 0 to 2, the λ of each entry; see `columns.Skewed`.

    Raises:
      ValueError: for no list of such numbers.
    """

    def __init__(self, powers: Sequence[float]):
        fits = isinstance(powers, (list, tuple)) and all(isinstance(number, (int, float)) for number in powers)
        if not fits or not powers or not all(0 <= number <= 2 for number in powers):
            raise ValueError(f"powers must be a list of numbers from 0 to 2. Received: powers={powers!r}")
        self.powers: list[float] = [float(number) for number in powers]

    def seen(self, x: tf.Tensor) -> tf.Tensor:
        seen = yeo_johnson.transformed(x, np.array(self.powers, np.float32))
        return tf.clip_by_value(seen, -_FARTHEST, _FARTHEST)

    def check_width(self, name: str, width: int) -> None:
        if width != len(self.powers):
            raise ValueError(f"{name} must be the number of powers, {len(self.powers)}. Received: {name}={width}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(powers={self.powers})"
