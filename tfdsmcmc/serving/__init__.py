"""SavedModels that run without this package."""

from tfdsmcmc.serving.export import export

__all__ = ["export"]
