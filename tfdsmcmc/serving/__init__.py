"""SavedModels that run without this package, a client for model servers, and a development server."""

from tfdsmcmc.serving.client import Client
from tfdsmcmc.serving.export import export
from tfdsmcmc.serving.predictions import BadRequest, Predictions
from tfdsmcmc.serving.server import make_server, serve
from tfdsmcmc.serving.transports import ServerError

__all__ = ["BadRequest", "Client", "Predictions", "ServerError", "export", "make_server", "serve"]
