"""Spins, −1 and 1."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape


class Spin(Support):
    """{−1, 1}^D. In place of what is missing a recognition network sees 0."""

    described = "spins, each entry −1 or 1"
    discrete = True

    def holds(self, x: Any, observed: Any = None) -> Any:
        found = abs(x) == 1
        return found if observed is None else found | ~observed

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        return 2.0 * random.bernoulli(tf.zeros(shape), seed) - 1.0

    def mode(self, mean: np.ndarray) -> np.ndarray:
        return np.where(mean > 0, np.float32(1), np.float32(-1))
