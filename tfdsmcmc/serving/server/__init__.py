"""A development server of SavedModels."""

from tfdsmcmc.serving.arrays import BadRequest
from tfdsmcmc.serving.server.development_server import make_server, serve
from tfdsmcmc.serving.server.predictions import Predictions

__all__ = ["BadRequest", "Predictions", "make_server", "serve"]
