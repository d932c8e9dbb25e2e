"""The contract of a support: the values that the entries of a row may have.

A data layer has one, and so have the visible units of a Boltzmann machine. Whoever takes rows in, fills what is missing
or hands rows out asks it, and looks at no kind of layer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Seed, Shape


class Support:
    """Base class: a subclass defines `described`, `holds` and `noise`; the rest where it differs.

    It is a value: two with the same attributes are equal.

    Attributes:
      described: what each entry must be, in words.
      bits: whether all entries are zeros and ones: complete rows are kept as bytes then, and can be sent as bits.
      takes_bits: whether any zeros and ones are such values, so that rows of bits need no look.
      discrete: whether entries have finitely many values, of which `mode` tells the likeliest.
      filling: what a recognition network sees in place of a missing entry, a number or an array (D,).
    """

    described: str
    bits: bool = False
    takes_bits: bool = False
    discrete: bool = False
    filling: float | np.ndarray = 0.0

    def holds(self, x: Any, observed: Any = None) -> Any:
        """Which entries are such values, or missing: (…, D) booleans.

        Args:
          x: (…, D), an array of NumPy or a tensor.
          observed: (…, D) booleans of the same kind, False where an entry is missing; None if none is.
        """
        raise NotImplementedError(f"{type(self).__name__} must define holds(x, observed).")

    def noise(self, shape: Shape, seed: Seed) -> tf.Tensor:
        """Independent random values, (…, D), which a Markov chain has in the gaps at first."""
        raise NotImplementedError(f"{type(self).__name__} must define noise(shape, seed).")

    def mode(self, mean: np.ndarray) -> np.ndarray:
        """The likeliest values of entries with these means, (…, D); the means themselves where values are real."""
        return mean

    def whole(self, observed: np.ndarray) -> np.ndarray:
        """Which entries count as observed, (…, D) booleans: of those that are missing together all or none."""
        return observed

    def seen(self, x: tf.Tensor) -> tf.Tensor:
        """What a recognition network sees of values, (…, D) too; the values themselves unless they are of many sizes.

        Args:
          x: (…, D), with the filling where an entry is missing.
        """
        return x

    def check(self, name: str, x: np.ndarray, observed: np.ndarray | None = None) -> None:
        """Raises a ValueError for arrays (n, D) with other values; arguments are those of `holds`.

        Args:
          name: what to call the data in the error.
          x: see `holds`.
          observed: see `holds`.
        """
        wrong = ~self.holds(x, observed)
        if wrong.any():
            raise ValueError(
                f"{name} must be {self.described}. Received: {int(wrong.sum())} other entries, the first {x[wrong][0]}"
            )

    def check_width(self, name: str, width: int) -> None:
        """Raises a ValueError where no row of so many entries has such values."""

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"
