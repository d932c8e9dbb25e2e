"""What the steps by Pólya-Gamma augmentation share: the networks that they learn, labels, and where a chain starts."""

from __future__ import annotations

from tfdsmcmc import random
from tfdsmcmc.augmentation.labels import LabelledTop
from tfdsmcmc.augmentation.networks_with_augmentation import check_network
from tfdsmcmc.training.starts import fresh_weights
from tfdsmcmc.training.step import Step


class AugmentedStep(Step):
    """Base class of these steps.

    Args:
      generative: `GenerativeNetwork` of layers SBN and DARN.
      recognition: `RecognitionNetwork`, which does not learn.
      labels: (array (N,), how many labels there may be), or None.

    Attributes:
      top: `LabelledTop`, or None without labels.
    """

    def __init__(self, generative, recognition, labels):
        check_network(generative)
        self.generative, self.recognition = generative, recognition
        self.top = None if labels is None else LabelledTop(generative.layers[0], *labels)
        self.sampled_beside = () if labels is None else ("label_biases",)

    @property
    def beside(self):
        return list(self.recognition.trainable_variables)

    def check_rows(self, rows):
        if self.top is not None:
            self.top.check_rows(rows)

    def fresh_weights(self, seed):
        theta = fresh_weights(self.generative, seed)
        return [*theta, *fresh_weights(self.recognition, random.stream(seed, "recognition network"))]
