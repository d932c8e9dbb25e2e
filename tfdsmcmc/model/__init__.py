"""The Keras model: what it is (deep_generative_model), how it learns (learning), how it is kept (saving)."""

from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel
from tfdsmcmc.model.few_effective_samples import FewEffectiveSamples

__all__ = ["DeepGenerativeModel", "FewEffectiveSamples"]
