"""What the steps by Pólya-Gamma augmentation share: the networks that they learn, and where a chain starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc import random
from tfdsmcmc.augmentation.shared.networks_with_augmentation import check_network
from tfdsmcmc.training.steps.starts import fresh_weights
from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    import keras
    import numpy as np

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork


class AugmentedStep(Step):
    """Base class of these steps.

    Args:
      generative: `GenerativeNetwork` of layers SBN and DARN.
      recognition: `RecognitionNetwork`, which does not learn.
    """

    generative: GenerativeNetwork
    recognition: RecognitionNetwork

    def __init__(self, generative: GenerativeNetwork, recognition: RecognitionNetwork):
        check_network(generative)
        self.generative, self.recognition = generative, recognition

    @property
    def beside(self) -> list[keras.Variable]:
        return list(self.recognition.trainable_variables)

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        theta = fresh_weights(self.generative, seed)
        return [*theta, *fresh_weights(self.recognition, random.stream(seed, "recognition network"))]
