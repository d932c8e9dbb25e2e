"""What the development server answers to a request: an application for Werkzeug.

    200   answers of `answers`, the page and the manifest
    400   what the model cannot answer, what would take too much memory (`memory`), and a body that is not all sent
    403   names of another host or site, where the server listens to this machine alone
    404   paths, models and versions that there are not
    405   methods that a path does not have
    413   bodies above 64 MiB
    500   failures of the server, which are logged
    503   versions that cannot be loaded, such as one that was deleted meanwhile

Errors are {"error": words}. A request of which nothing arrives for `PATIENCE` seconds counts as not all sent.

Source: the RESTful API of TensorFlow Serving, https://www.tensorflow.org/tfx/serving/api_rest. NaN and infinities are
written as the literals NaN, Infinity and -Infinity, and read as such, as they are there.
"""

from __future__ import annotations

import html
import ipaddress
import json
import logging
import pathlib
import urllib.parse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from werkzeug import exceptions
from werkzeug.routing import BaseConverter, Map, Rule
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
from werkzeug.wrappers import Request, Response

from tfdsmcmc.serving.arrays import BadRequest
from tfdsmcmc.serving.server import answers
from tfdsmcmc.serving.server.version import Unavailable

if TYPE_CHECKING:
    from tfdsmcmc.serving.server.predictions import Predictions

PATIENCE = 5  # seconds without a byte of a request
_LIMIT = 64 * 2**20  # bytes of a request's body
_SLOW = 60  # seconds that an answer may take to be received
_PAGE = pathlib.Path(__file__).parent / "page" / "index.html"
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class _Name(BaseConverter):
    regex = "[^/:]+"
    to_python = staticmethod(urllib.parse.unquote)  # only now: a name may have a : or / itself


class _Number(BaseConverter):
    regex = "[0-9]{1,18}"
    to_python = staticmethod(int)


_ROUTES = Map(
    [
        *(Rule(path, endpoint="page", methods=["GET"]) for path in ("/", "/index.html")),
        Rule("/manifest.json", endpoint="manifest", methods=["GET"]),
        *(
            Rule(f"/v1/models/<name:name>{version}{verb}", endpoint=endpoint, methods=[method])
            for version in ("", "/versions/<number:version>")
            for verb, endpoint, method in (
                ("", "status", "GET"),
                ("/metadata", "metadata", "GET"),
                (":predict", "predict", "POST"),
            )
        ),
    ],
    converters={"name": _Name, "number": _Number},
    merge_slashes=False,
)


class Application:
    """A WSGI application, with a method for each endpoint of the routes.

    Args:
      predictions: `Predictions`.
      local: whether requests must name this machine.
    """

    def __init__(self, predictions: Predictions, local: bool):
        self._predictions, self._local = predictions, local
        self._text = _PAGE.read_text(encoding="utf-8").replace("{{name}}", html.escape(predictions.name))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        try:
            response = self._answer(request)
        except exceptions.HTTPException as fault:
            words = fault.description
            received = "" if "Received: " in words else f" Received: {request.method} {_path(request)[:99]}"
            response = _error(fault, words + received)
        except BadRequest as fault:
            response = _error(exceptions.BadRequest(), str(fault))
        except Unavailable as fault:
            response = _error(exceptions.ServiceUnavailable(), str(fault))
        except Exception as error:
            logging.getLogger(__name__).exception("%s %s", request.method, _path(request))
            response = _error(exceptions.InternalServerError(), f"The server failed: {type(error).__name__}")
        response.headers.update(_HEADERS)
        return response(environ, start_response)

    def _answer(self, request):
        named = [*(f"//{host}" for host in request.headers.getlist("Host")), *request.headers.getlist("Origin")]
        if self._local and not all(map(is_loopback, named)):
            raise exceptions.Forbidden("This development server answers to this machine's own names alone.")
        endpoint, found = _ROUTES.bind("").match(_path(request), request.method)
        if found.pop("name", self._predictions.name) != self._predictions.name:
            raise exceptions.NotFound(f"The model is {self._predictions.name}.")
        if found.get("version") not in (None, *self._predictions.versions):
            raise exceptions.NotFound(f"The versions are {list(self._predictions.versions)}.")
        return getattr(self, endpoint)(request, **found)

    def page(self, request: Request) -> Response:
        return Response(self._text, mimetype="text/html")

    def manifest(self, request: Request) -> Response:
        manifest = self._predictions.version().load().manifest
        if manifest is None:
            raise exceptions.NotFound("The model has no manifest.")
        return _json(json.dumps(manifest))

    def status(self, request: Request, version: int | None = None) -> Response:
        return _json(json.dumps(answers.status(self._predictions, version)))

    def metadata(self, request: Request, version: int | None = None) -> Response:
        return _json(json.dumps(answers.metadata(self._predictions, version)))

    def predict(self, request: Request, version: int | None = None) -> Response:
        return _json(answers.predict(self._predictions, _body(request), version))


class _Handler(WSGIRequestHandler):
    """Says nothing of requests that were answered."""

    timeout = PATIENCE
    disable_nagle_algorithm = True

    def log(self, type, message, *args):
        logging.getLogger(__name__).debug(message, *args)


def server(app: Application, host: str, port: int, descriptor: int) -> ThreadedWSGIServer:
    """Werkzeug's server at a socket that listens, given by its file descriptor."""
    return ThreadedWSGIServer(host, port, app, _Handler, fd=descriptor)


def is_loopback(url: str) -> bool:
    """Whether the host of a URL, as a browser would take it, is of this machine alone."""
    try:
        host = urllib.parse.urlsplit(url).hostname or ""
        if host == "localhost":
            return True
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _path(request):
    """The path as it was sent, without a query."""
    return request.environ.get("RAW_URI", request.path).partition("?")[0].partition("#")[0]


def _body(request):
    """All bytes of the body."""
    request.max_content_length = _LIMIT
    try:
        return request.get_data()
    except exceptions.RequestEntityTooLarge:
        words = f"The body must be at most {_LIMIT} bytes. Received: {request.content_length or 'more'} bytes"
        raise exceptions.RequestEntityTooLarge(words) from None
    except exceptions.ClientDisconnected:
        words = f"The body must be as long as its Content-Length says, without a pause of {PATIENCE} seconds"
        raise exceptions.BadRequest(f"{words}. Received: less") from None
    finally:
        request.environ["werkzeug.socket"].settimeout(_SLOW)


def _json(text):
    return Response(text, mimetype="application/json")


def _error(fault, words):
    """The response of a fault, with words in JSON."""
    response = fault.get_response()
    response.data, response.mimetype = json.dumps({"error": words}), "application/json"
    return response
