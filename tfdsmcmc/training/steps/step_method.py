"""Methods that are a step of their own: no gradient, no kernel, no proposal.

Such a method is a value with a configuration, as kernels, latents and proposals are, and `compile(step=…)` takes it.
Of a model's networks and prior it makes the `Step` that a run advances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior


class StepMethod:
    """Base class: a subclass defines `step_for` and `get_config`, and is registered with Keras to be saved."""

    def step_for(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior) -> Step:
        """The step of one chain that learns a model.

        Args:
          generative: `GenerativeNetwork`, whose trainable weights are θ.
          recognition: `RecognitionNetwork`; its weights stand in `beside` of the step, so that each chain keeps its own
            when `refit_recognition` fits them.
          prior: `Prior` of θ.

        Raises:
          ValueError: for networks or a prior that the method cannot learn.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step_for(generative, recognition, prior).")

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)
