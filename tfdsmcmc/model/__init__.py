"""The Keras model: what it is (deep_generative_model), how it learns (learning), how it is kept (saving)."""

from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel

__all__ = ["DeepGenerativeModel"]
