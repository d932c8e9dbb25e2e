"""SavedModels that run without this package, a client for model servers, and a development server."""

from tfdsmcmc.serving.client import Client, ServerError
from tfdsmcmc.serving.saved_model import export, export_machines
from tfdsmcmc.serving.server import BadRequest, Predictions, make_server, serve

__all__ = ["BadRequest", "Client", "Predictions", "ServerError", "export", "export_machines", "make_server", "serve"]
