"""What a kernel is told of a run: one method takes them all, `StochasticGradientKernel.told`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import TensorLike


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


class ClimbsAgain(NamedTuple):
    """With its next step an optimizer that climbs goes to other weights, and climbs from there.

    Attributes:
      theta: list of arrays, θ there.
      phi: list of arrays, φ there, which a kernel knows nothing of.
      until: the update from which on it samples at the latest, an integer.
    """

    theta: Sequence[TensorLike]
    phi: Sequence[TensorLike]
    until: int


class GoesBackTo(NamedTuple):
    """With its next step an optimizer that climbs goes to the best weights of all its climbs, and the kernel samples.

    Attributes:
      theta: list of arrays, θ there.
      phi: list of arrays, φ there.
      log_likelihood: of the validation rows there.
    """

    theta: Sequence[TensorLike]
    phi: Sequence[TensorLike]
    log_likelihood: float


Event: TypeAlias = Planned | ClimbEnds | Validated | ClimbsAgain | GoesBackTo
