"""A development server: one SavedModel over the REST API of TensorFlow Serving, and a page to try it.

    GET  /v1/models/NAME[/versions/V]             state of the version
    GET  /v1/models/NAME[/versions/V]/metadata    {"metadata": {"signature_def": {"signature_def": {…}}}}, signatures
    POST /v1/models/NAME[/versions/V]:predict     {"signature_name": …, "inputs": {name: nested lists}} → {"outputs": a
                                                  dict, or the bare value of a single output}, or {"error": words}
    GET  /                                        the page
    GET  /manifest.json                           what was written about the model beside its graph

It is Werkzeug's server of an `application`, a thread for each request. It is there to write and test clients against,
and to look at a model: it batches nothing, limits nobody and trusts whoever reaches it. Production asks for TensorFlow
Serving, which takes the same requests, answers the newest version too, and has more: it picks up versions that are
added while it runs, and serves several by a policy; it takes "instances" row by row, labels of versions and bodies in
gzip; and it passes over fields that it does not know, which are refused here.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from tfdsmcmc._common import checks
from tfdsmcmc.serving.arrays import optional
from tfdsmcmc.serving.server.predictions import Predictions

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.serving.server.application import DevelopmentServer


def make_server(path: FilePath, host: str = "127.0.0.1", port: int = 8501) -> DevelopmentServer:
    """A server that is bound but does not answer yet: `serve_forever` makes it, `shutdown` and `server_close` end it.

    It says by `url` where it is, and by `predictions` what it serves.
    Bound to a loopback address it refuses requests that name another host or come from another site's page, so that
    no web page can reach it by a name of its own.

    Args:
      path: a model's folder, of whose versions the newest is served, or the folder of one version.
      host: address to listen at.
      port: 0 for any that is free.

    Raises:
      ImportError: without the package werkzeug.
      ValueError: where there is no SavedModel, for a host that is no name, or for a port out of range.
      OSError: for an address that is in use or not this machine's.
    """
    optional("werkzeug")
    from tfdsmcmc.serving.server import application

    port = checks.nonnegative_integer("port", port)
    if port > 65535:
        raise ValueError(f"port must be at most 65535. Received: port={port}")
    with _bound(host, port) as bound:  # first, as loading takes its time
        return application.DevelopmentServer(Predictions(path), bound)


def serve(path: FilePath, host: str = "127.0.0.1", port: int = 8501) -> None:
    """Serves a model until it is interrupted, and prints where; arguments and errors are those of `make_server`."""
    server = make_server(path, host, port)
    try:
        print(f"Development server, not for production, of {server.predictions.name}: {server.url}", flush=True)
        server.serve_forever()  # until an interrupt, at which it closes
    except KeyboardInterrupt:  # which came before it had begun
        server.server_close()
    print("\nended")


def _bound(host, port):
    """A socket that listens."""
    if host == "":  # to sockets all addresses
        raise ValueError("host must be a name or an address. Received: host=''")
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}, for host={host!r} and port={port}") from None
    except (TypeError, ValueError):  # no name at all, as one with a null character
        raise ValueError(f"host must be a name or an address. Received: host={host!r}") from None
