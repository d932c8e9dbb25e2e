"""What methods share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from tfdsmcmc._common import checks

if TYPE_CHECKING:
    from tfdsmcmc._common.types import LearningRate, OptimizerLike
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.proposals.base import Proposal


def triple(kernel: StochasticGradientKernel, latents: Latents, proposal: Proposal | None) -> dict[str, Any]:
    """Arguments of `compile`, a dict."""
    return {"kernel": kernel, "latents": latents, "proposal": proposal}


def adam(optimizer: OptimizerLike | None, learning_rate: LearningRate) -> OptimizerLike:
    """The optimizer; Adam of this learning rate, which is checked, where it is None."""
    learning_rate = checks.learning_rate(learning_rate)
    return keras.optimizers.Adam(learning_rate) if optimizer is None else optimizer


def check_as_published(as_published: object) -> None:
    """Raises a ValueError for what is no boolean."""
    if not isinstance(as_published, bool):
        raise ValueError(f"as_published must be True or False. Received: as_published={as_published!r}")


def given(value: Any, default: Any, published: Any, as_published: bool) -> Any:
    """A value, or what stands in its place where it is None."""
    check_as_published(as_published)
    return (published if as_published else default) if value is None else value
