"""Zeros and ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape


class Binary(Support):
    """{0, 1}^D. In place of what is missing a recognition network sees ½."""

    described = "binary, each entry 0 or 1"
    bits = takes_bits = discrete = True
    filling = 0.5

    def holds(self, x: Any, observed: Any = None) -> Any:
        found = (x == 0) | (x == 1)
        return found if observed is None else found | ~observed

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        return random.bernoulli(tf.zeros(shape), seed)

    def mode(self, mean: np.ndarray) -> np.ndarray:
        return (mean > 0.5).astype(np.float32)
