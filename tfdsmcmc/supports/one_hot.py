"""Categorical variables as groups of entries, one of them 1 and the others 0."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.supports.base import Support

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Shape


class OneHot(Support):
    """Groups of zeros and a one, side by side. All states of a variable are observed, or none.

    In place of a missing variable of q states a recognition network sees 1/q for each, or 1/(q + 1) with `none`.

    Args:
      groups: list of the numbers of states, each at least 2; D is their sum.
      none: whether a variable may have zeros alone too, one more state.

    Raises:
      ValueError: for no list of such numbers.
    """

    bits = discrete = True
    described = "one 1 and zeros in each group, all states of a variable observed or none"

    def __init__(self, groups: Sequence[int], none: bool = False):
        if not isinstance(groups, (list, tuple)) or not groups:
            raise ValueError(f"groups must be a list of numbers of states. Received: groups={groups!r}")
        self.groups: list[int] = [checks.positive_integer("groups", number) for number in groups]
        if min(self.groups) < 2:
            raise ValueError(f"groups must have two states or more each. Received: groups={groups!r}")
        self.none: bool = checks.boolean("none", none)
        if self.none:
            self.described = "at most one 1 in each group, all states of a variable observed or none"
        states = np.array(self.groups) + self.none
        self.filling: np.ndarray = np.repeat(1.0 / states, self.groups).astype(np.float32)
        # (D, groups), 1 where an entry is of a group
        self._members = np.repeat(np.eye(len(self.groups), dtype=np.float32), self.groups, 0)

    def holds(self, x: Any, observed: Any = None) -> Any:
        if isinstance(x, np.ndarray):
            return self._holds(x, observed, np.ndarray.astype, np.where)
        return self._holds(x, observed, tf.cast, tf.where)

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        uniform = random.open_uniform(shape, seed)
        drawn = tf.concat([_largest(part) for part in tf.split(uniform, self.groups, -1)], -1)
        if not self.none:
            return drawn
        # the largest of q numbers is below the one of a further state with probability 1/(q + 1)
        more = tf.repeat(random.open_uniform(tf.concat([shape[:-1], [len(self.groups)]], 0), random.fold(seed, 1)),
                         self.groups, -1)  # fmt: skip
        return tf.where(more < self.filling, 0.0, drawn)

    def mode(self, mean: np.ndarray) -> np.ndarray:
        parts = np.split(mean, np.cumsum(self.groups)[:-1], -1)
        modes = [np.eye(part.shape[-1], dtype=np.float32)[part.argmax(-1)] for part in parts]
        if self.none:
            modes = [mode * (part.max(-1) >= 1 - part.sum(-1))[..., np.newaxis] for mode, part in zip(modes, parts)]
        return np.concatenate(modes, -1)

    def whole(self, observed: np.ndarray) -> np.ndarray:
        parts = np.split(observed, np.cumsum(self.groups)[:-1], -1)
        return np.repeat(np.stack([part.all(-1) for part in parts], -1), self.groups, -1)

    def check_width(self, name: str, width: int) -> None:
        if width != sum(self.groups):
            raise ValueError(f"{name} must be the states of all groups, {sum(self.groups)}. Received: {name}={width}")

    def __repr__(self) -> str:
        return f"{type(self).__name__}(groups={self.groups}{', none=True' if self.none else ''})"

    def _right(self, ones):
        """Whether groups have as many ones as they may."""
        return (ones == 0) | (ones == 1) if self.none else ones == 1

    def _holds(self, x, observed, cast, where):
        """`holds` by the functions of NumPy or of TensorFlow."""
        members, sizes = self._members, np.float32(self.groups)
        good = (x == 0) | (x == 1)
        if observed is None:
            whole = self._right(cast(x, np.float32) @ members)
            known = True
        else:
            seen = cast(observed, np.float32) @ members
            ones = where(observed, cast(x, np.float32), np.float32(0)) @ members
            whole, known = where(seen == 0, True, (seen == sizes) & self._right(ones)), observed
            good = good | ~known
        # a group that is wrong is wrong at each of its entries
        return good & (cast(whole, np.float32) @ members.T > 0)


def _largest(values):
    """1 where a group's largest value is, 0 elsewhere."""
    return tf.one_hot(tf.argmax(values, -1), values.shape[-1])
