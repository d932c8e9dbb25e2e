"""The contract of a kind of column.

A kind is a value: what entries of a row a column takes, what they may be, and its law given parameters. Columns of one
likeness are worked on together, C of them along the last axis but one:

    value (…, C, entries)      parameters (…, C, parameters)      shared (C, shared)  →  log p (…, C)

The parameters of a row are what a layer computes from its parents; the shared ones are weights of the layer itself.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import tensorflow as tf
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Seed
    from tfdsmcmc.supports import Support


class Kind:
    """Base class: a subclass defines what follows the attributes, and its arguments in `get_config`.

    Attributes:
      word: its name in arguments of users, such as "count".
      entries: how many entries of a row the column takes.
      parameters: of its law, for each row.
      shared: parameters that all rows share.
    """

    word: str
    entries: int = 1
    parameters: int = 1
    shared: int = 0

    @property
    def likeness(self) -> Hashable:
        """What the equations depend on: columns of one likeness are worked on together."""
        return repr(self)

    @staticmethod
    def support_of(kinds: Sequence[Any]) -> Support:
        """The support of columns of one likeness, side by side."""
        raise NotImplementedError("A kind of column must define support_of(kinds).")

    def log_prob(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """log p(value), (…, C); finite for values of other kinds too, such as a filling.

        Args:
          value: (…, C, entries).
          parameters: (…, C, parameters); leading axes broadcast.
          shared: (…, C, shared).
        """
        raise NotImplementedError(f"{type(self).__name__} must define log_prob(value, parameters, shared).")

    def log_factor(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """log p(value) but for terms of the value and of what is shared alone, (…, C); arguments as there.

        Of ratios at one value and other parameters such terms drop out. By default it is log p itself.
        """
        return self.log_prob(value, parameters, shared)

    def draw(self, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        """A draw, (…, C, entries), one for each leading index of the parameters; no gradient passes through it."""
        raise NotImplementedError(f"{type(self).__name__} must define draw(parameters, shared, seed).")

    def moved(self, value: tf.Tensor, parameters: tf.Tensor, shared: tf.Tensor, seed: Seed) -> tf.Tensor:
        """The next state of a Markov chain that is reversible under the law, (…, C, entries); by default another draw.

        Metropolis moves propose it: its density drops out of their ratios.

        Args:
          value: (…, C, entries), in the support.
          parameters: (…, C, parameters).
          shared: (…, C, shared).
          seed: integer, or int32 tensor of shape (2,).
        """
        return self.draw(parameters, shared, seed)

    def mean(self, parameters: tf.Tensor, shared: tf.Tensor) -> tf.Tensor:
        """The mean of each entry, (…, C, entries): of a one among zeros its probability."""
        raise NotImplementedError(f"{type(self).__name__} must define mean(parameters, shared).")

    def fitted(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Parameters (parameters,) and shared ones (shared,) at which the law is about that of some values.

        They are where learning starts.

        Args:
          values: (n, entries), n at least 1.
        """
        return np.zeros(self.parameters, np.float32), np.zeros(self.shared, np.float32)

    def of_same_scale(self) -> Kind:
        """The kind with one scale for all rows of a column; itself where its scale is not of the row anyway."""
        return self

    def get_config(self) -> Config:
        """Every argument."""
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and repr(other) == repr(self)

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_config().items())
        return f"{type(self).__name__}({arguments})"
