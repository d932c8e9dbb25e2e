"""Models as SavedModels, and the files that a model server wants beside them."""

from tfdsmcmc.serving.saved_model.export import export, export_machines

__all__ = ["export", "export_machines"]
