"""A client of model servers, over REST and gRPC."""

from tfdsmcmc.serving.client.client import Client
from tfdsmcmc.serving.client.transports import ServerError

__all__ = ["Client", "ServerError"]
