"""A posterior that brings a model of its architecture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.posterior import Posterior

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc.model import DeepGenerativeModel


class PretrainedPosterior(Posterior):
    """A `Posterior` as `pretrained.load` returns it.

    Parts of it, such as `posterior.chain(0)` and `posterior[-5:]`, have the same model.

    Attributes:
      model: `DeepGenerativeModel` of the samples' architecture, not compiled; its weights are the mean of the first
        chain's samples.
    """

    model: DeepGenerativeModel

    @classmethod
    def of(cls, posterior: Posterior, model: DeepGenerativeModel) -> Self:
        """A posterior together with a model.

        Raises:
          ValueError: for a model of another architecture.
        """
        posterior.check(model)
        found = cls(posterior._folder, posterior.samples, posterior.average, posterior.starts)
        found.model = model
        return found

    def _subset(self, indices, what):
        part = super()._subset(indices, what)
        part.model = self.model
        return part
