"""Entries of several kinds in one row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.concatenating import in_order
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape


class SideBySide(Support):
    """A product of supports, each of some entries of a row.

    Args:
      parts: list of pairs (support, places), where the places are the entries that have it; each of 0, …, D − 1 once.

    Raises:
      ValueError: where they are not.
    """

    described = "of the kinds of its columns, all entries of a column observed or none"

    def __init__(self, parts: Sequence[tuple[Support, Sequence[int]]]):
        self.parts: list[tuple[Support, list[int]]] = [(support, [int(i) for i in places]) for support, places in parts]
        order = [i for _, places in self.parts for i in places]
        if sorted(order) != list(range(len(order))) or not order:
            raise ValueError(f"Each entry must stand in one part. Received: parts={self.parts!r}")
        for support, places in self.parts:
            support.check_width("the width of a part", len(places))
        self.units: int = len(order)
        self.takes_bits = all(support.takes_bits for support, _ in self.parts)
        self.discrete = all(support.discrete for support, _ in self.parts)
        self._back = np.argsort(order)
        fillings = [np.broadcast_to(np.float32(support.filling), len(places)) for support, places in self.parts]
        self.filling: np.ndarray = np.concatenate(fillings)[self._back]

    def holds(self, x: Any, observed: Any = None) -> Any:
        if observed is None:
            return self._of_parts(lambda support, part: support.holds(part), x)
        return self._of_parts(lambda support, *pair: support.holds(*pair), x, observed)

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        leading, drawn = tf.cast(shape, tf.int32)[:-1], []
        for number, (support, places) in enumerate(self.parts):
            part = support.noise(tf.concat([leading, [len(places)]], 0), random.fold(seed, number))
            drawn.append(tf.ensure_shape(part, [*[None] * (part.shape.rank - 1), len(places)]))
        return in_order(drawn, self._back)

    def mode(self, mean: np.ndarray) -> np.ndarray:
        return self._of_parts(lambda support, part: support.mode(part).astype(np.float32), mean)

    def whole(self, observed: np.ndarray) -> np.ndarray:
        return self._of_parts(lambda support, part: support.whole(part), observed)

    def seen(self, x: tf.Tensor) -> tf.Tensor:
        if all(type(support).seen is Support.seen for support, _ in self.parts):
            return x
        return self._of_parts(lambda support, part: support.seen(part), tf.cast(x, tf.float32))

    def check_width(self, name: str, width: int) -> None:
        if width != self.units:
            raise ValueError(f"{name} must be the entries of all columns, {self.units}. Received: {name}={width}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.parts})"

    def _of_parts(self, function: Callable[..., Any], *arrays: Any) -> Any:
        """The results of a function of each support and its entries of the arrays, put together again."""
        if isinstance(arrays[0], np.ndarray):
            found = [function(s, *(a[..., places] for a in arrays)) for s, places in self.parts]
            return np.concatenate(found, -1)[..., self._back]
        found = [function(s, *(tf.gather(a, places, axis=-1) for a in arrays)) for s, places in self.parts]
        return tf.gather(tf.concat(found, -1), self._back, axis=-1)
