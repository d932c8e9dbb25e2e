"""A development server: one SavedModel over the REST API of TensorFlow Serving, and a page to try it.

    GET  /v1/models/NAME[/versions/V]             state of the versions
    GET  /v1/models/NAME[/versions/V]/metadata    signatures
    POST /v1/models/NAME[/versions/V]:predict     {"signature_name": …, "inputs": …} → {"outputs": …}
                                                  {"signature_name": …, "instances": …} → {"predictions": …}
    GET  /                                        the page
    GET  /manifest.json                           what was written about the model beside its graph

It is there to write and test clients against, and to look at a model: it batches nothing, limits nobody and trusts
whoever reaches it. Production asks for TensorFlow Serving, which takes the same requests and differs thus: without a
version policy it answers the highest version only, here every version in the folder is answered; it picks up versions
that are added while it runs; it passes over fields that it does not know, which are refused here; and it has labels of
versions and bodies in gzip.
"""

from __future__ import annotations

import contextlib
import html
import http.server
import logging
import pathlib
import socket

from tfdsmcmc import checks
from tfdsmcmc.serving.server.handler import Handler, is_loopback
from tfdsmcmc.serving.server.predictions import Predictions

_PAGE = pathlib.Path(__file__).parent / "page" / "index.html"


def make_server(path, host="127.0.0.1", port=8501):
    """A server that is bound but does not answer yet: `serve_forever` makes it, `shutdown` and `server_close` end it.

    Bound to a loopback address it refuses requests that name another host or come from another site's page, so that
    no web page can reach it by a name of its own.

    Args:
      path: a model's folder with its versions, or the folder of one version.
      host: address to listen at.
      port: 0 for any that is free; `server_address` then tells which.

    Returns:
      `http.server.ThreadingHTTPServer`.

    Raises:
      ValueError: where there is no SavedModel, for a host that is no name, or for a port out of range.
      OSError: for an address that is in use or not this machine's.
    """
    if not isinstance(host, str):
        raise ValueError(f"host must be a name or an address. Received: host={host!r}")
    port = checks.nonnegative_integer("port", port)
    if port > 65535:
        raise ValueError(f"port must be at most 65535. Received: port={port}")
    server = _bound(host, port)  # first, as loading takes its time
    try:
        server.accept(Predictions(path))
    except BaseException:
        server.server_close()
        raise
    return server


def serve(path, host="127.0.0.1", port=8501):
    """Serves a model until it is interrupted, and prints where.

    Args and errors are those of `make_server`.
    """
    server = make_server(path, host, port)
    try:
        print(f"Development server, not for production, of {server.predictions.name}: {server.url}", flush=True)
        server.serve_forever()
    except KeyboardInterrupt:
        print("\nended")
    finally:
        server.server_close()


def _bound(host, port):
    try:
        return _Server(host, port)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}, for host={host!r} and port={port}") from None
    except (TypeError, ValueError):  # no name at all, as one with a null character
        raise ValueError(f"host must be a name or an address. Received: host={host!r}") from None


class _Server(http.server.ThreadingHTTPServer):
    """A thread for each connection, all asking the same predictions."""

    request_queue_size = 128

    def __init__(self, host, port):
        self.open = set()
        if ":" in host:
            self.address_family = socket.AF_INET6
        super().__init__((host, port), Handler, bind_and_activate=False)
        try:
            self.server_bind()
        except BaseException:
            self.server_close()
            raise
        self.local = is_loopback(self.server_address[0])  # of what is bound: 127.1 is loopback too

    def accept(self, predictions):
        """Accepts connections, to be answered by these predictions."""
        self.predictions = predictions
        self.page = _PAGE.read_text(encoding="utf-8").replace("{{name}}", html.escape(predictions.name))
        self.server_activate()

    @property
    def url(self):
        host, port = self.server_address[:2]
        return f"http://{f'[{host}]' if ':' in host else host}:{port}/"

    def process_request(self, request, client_address):
        self.open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request):
        self.open.discard(request)
        super().shutdown_request(request)

    def server_close(self):
        """Ends kept connections too, whose threads would answer on."""
        super().server_close()
        for request in list(self.open):
            with contextlib.suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request, client_address):
        """Clients that go away are no error of the server."""
        logging.getLogger(__name__).debug("connection of %s lost", client_address, exc_info=True)
