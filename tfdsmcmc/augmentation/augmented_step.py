"""What the steps by Pólya-Gamma augmentation share: the networks that they learn, labels, and where a chain starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc import random
from tfdsmcmc.augmentation.labels import LabelledTop
from tfdsmcmc.augmentation.networks_with_augmentation import check_network
from tfdsmcmc.training.starts import fresh_weights
from tfdsmcmc.training.step import Step

if TYPE_CHECKING:
    import keras
    import numpy as np

    from tfdsmcmc.augmentation.labels import Labels
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.types import Seed


class AugmentedStep(Step):
    """Base class of these steps.

    Args:
      generative: `GenerativeNetwork` of layers SBN and DARN.
      recognition: `RecognitionNetwork`, which does not learn.
      labels: (array (N,), how many labels there may be), or None.

    Attributes:
      top: `LabelledTop`, or None without labels.
    """

    top: LabelledTop | None
    generative: GenerativeNetwork
    recognition: RecognitionNetwork

    def __init__(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, labels: Labels | None):
        check_network(generative)
        self.generative, self.recognition = generative, recognition
        self.top: LabelledTop | None = None if labels is None else LabelledTop(generative.layers[0], *labels)
        self.sampled_beside: tuple[str, ...] = () if labels is None else ("label_biases",)

    @property
    def beside(self) -> list[keras.Variable]:
        return list(self.recognition.trainable_variables)

    def check_rows(self, rows: RandomAccessSource) -> None:
        if self.top is not None:
            self.top.check_rows(rows)

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        theta = fresh_weights(self.generative, seed)
        return [*theta, *fresh_weights(self.recognition, random.stream(seed, "recognition network"))]
