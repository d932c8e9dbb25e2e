"""What a kernel is told of a run: one method takes them all, `StochasticGradientKernel.told`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import tensorflow as tf


class Planned(NamedTuple):
    """A fit begins.

    Attributes:
      steps: how many updates it will make, an integer, or None where that is not known.
      epoch_steps: updates of an epoch, an integer, or None where that is not known.
      num_rows: N, an integer, or None where that is not known.
      looks: after which of its epochs validation looks, rising integers from 1 on; empty where it does not.
    """

    steps: int | None
    epoch_steps: int | None = None
    num_rows: int | None = None
    looks: Sequence[int] = ()


class ClimbEnds(NamedTuple):
    """A climb is to end now, or with the next step at the latest."""


class Validated(NamedTuple):
    """There was a look at validation data.

    Attributes:
      log_likelihood: the mean over the validation rows, a scalar tensor.
      epoch_steps: updates from one look to the next, of an epoch as a rule; None where that is not known.
      better: whether the present weights are the best so far whatever `log_likelihood` says, as a surer estimate does.
    """

    log_likelihood: tf.Tensor
    epoch_steps: int | None = None
    better: bool = False


Event: TypeAlias = Planned | ClimbEnds | Validated
