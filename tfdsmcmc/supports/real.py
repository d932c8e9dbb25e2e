"""Real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdsmcmc import random
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Seed, Shape


class Real(Support):
    """ℝ^D, as far as float32 has it. In place of what is missing a recognition network sees 0."""

    described = "finite"
    takes_bits = True

    def holds(self, x: Any, observed: Any = None) -> Any:
        found = abs(x) < float("inf")
        return found if observed is None else found | ~observed

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        return random.normal(shape, seed)
