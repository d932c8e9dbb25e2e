"""What the development server answers to a request: an application for Werkzeug.

    200   answers of the API, columns alone, with the fields at their defaults; the page and the manifest
    400   what the model cannot answer, and a body that is not all sent, or stops for `PATIENCE` seconds
    403   names of another host or site, where the server listens to this machine alone
    404   paths, models and versions that there are not; 405 methods that a path does not have
    413   bodies above 64 MiB
    500   failures of the server, which are logged

Errors are {"error": words}. NaN and infinities are the literals NaN, Infinity and -Infinity, written and read.

Source: the RESTful API of TensorFlow Serving, https://www.tensorflow.org/tfx/serving/api_rest, and its messages
GetModelStatusResponse and GetModelMetadataResponse.
"""

from __future__ import annotations

import html
import ipaddress
import json
import logging
import pathlib
import re
import urllib.parse
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from werkzeug import exceptions
from werkzeug.serving import ThreadedWSGIServer, WSGIRequestHandler
from werkzeug.wrappers import Request, Response

from tfdsmcmc.serving.arrays import BadRequest

if TYPE_CHECKING:
    import socket

    from tfdsmcmc.serving.server.predictions import Predictions

PATIENCE = 5  # seconds without a byte of a request
MOST = 2**22  # numbers of an answer: Python's objects and text of each take some 200 bytes
_LIMIT = 64 * 2**20  # bytes of a request's body
_SLOW = 60  # seconds that an answer may take to be received
_PAGE = pathlib.Path(__file__).parent / "page" / "index.html"
# of a path as it was sent: a name may have a : or / itself, as %3A or %2F
_MODEL = re.compile(r"/v1/models/([^/:]+)(?:/versions/([0-9]{1,19}))?(|/metadata|:predict)")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class Application:
    """A WSGI application that answers by `predictions`; where it is `local`, requests must name this machine."""

    def __init__(self, predictions: Predictions, local: bool):
        self._predictions, self._local = predictions, local
        self._page = _PAGE.read_text(encoding="utf-8").replace("{{name}}", html.escape(predictions.name))

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        request = Request(environ)
        path = environ.get("RAW_URI", request.path).partition("?")[0].partition("#")[0]
        try:
            response = self._answer(request, path)
        except exceptions.HTTPException as fault:
            received = "" if "Received: " in fault.description else f" Received: {request.method} {path[:99]}"
            response = _json({"error": fault.description + received}, fault.code)
        except BadRequest as fault:
            response = _json({"error": str(fault)}, 400)
        except Exception as error:
            logging.getLogger(__name__).exception("%s %s", request.method, path)
            response = _json({"error": f"The server failed: {type(error).__name__}"}, 500)
        response.headers.update(_HEADERS)
        return response(environ, start_response)

    def _answer(self, request, path):
        named = [*(f"//{host}" for host in request.headers.getlist("Host")), *request.headers.getlist("Origin")]
        if self._local and not all(map(is_loopback, named)):
            raise exceptions.Forbidden("This development server answers to this machine's own names alone.")
        found, served = _MODEL.fullmatch(path), self._predictions
        if not found and path not in ("/", "/index.html", "/manifest.json"):
            raise exceptions.NotFound
        if request.method not in (["POST"] if path.endswith(":predict") else ["GET", "HEAD"]):
            raise exceptions.MethodNotAllowed
        if not found and path != "/manifest.json":
            return Response(self._page, mimetype="text/html")
        if not found:
            if served.manifest is None:
                raise exceptions.NotFound("The model has no manifest.")
            return _json(served.manifest)
        name, version, verb = found.groups()
        if urllib.parse.unquote(name) != served.name or version and int(version) != served.version:
            raise exceptions.NotFound(f"The model is {served.name}, in the version {served.version}.")
        if verb == ":predict":
            return _json(predict(served, _body(request)))
        return _json((metadata if verb else status)(served))


def status(predictions: Predictions) -> dict[str, Any]:
    """The state of the version."""
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    return {"model_version_status": [{"version": str(predictions.version)} | fine]}


def metadata(predictions: Predictions) -> dict[str, Any]:
    """The signatures, as their file had them when it was loaded."""
    as_it_is = {"preserving_proto_field_name": True, "always_print_fields_with_no_presence": True}
    found = {name: json_format.MessageToDict(one, **as_it_is) for name, one in predictions.definitions.items()}
    return {
        "model_spec": {"name": predictions.name, "signature_name": "", "version": str(predictions.version)},
        "metadata": {"signature_def": {"signature_def": found}},
    }


def predict(predictions: Predictions, body: bytes) -> dict[str, Any]:
    """The answer to the body of a prediction, in columns.

    Raises:
      BadRequest: for what is no such object, and as `Predictions.predict`.
    """
    try:
        request = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise BadRequest(f"The body must be JSON: {str(error)[:99]}. Received: {len(body)} bytes") from None
    if not isinstance(request, dict) or "inputs" not in request or set(request) - {"inputs", "signature_name"}:
        found = sorted(request) if isinstance(request, dict) else type(request).__name__
        words = 'The body must be an object with "inputs", and "signature_name" unless it is the default'
        raise BadRequest(f"{words}. Received: {str(found)[:99]}")
    name = request.get("signature_name", "serving_default")
    outputs = predictions.predict(name, request["inputs"], MOST)
    lists = {key: value.tolist() for key, value in outputs.items()}
    return {"outputs": next(iter(lists.values())) if len(lists) == 1 else lists}


class _Handler(WSGIRequestHandler):
    """Says nothing of requests that were answered."""

    timeout = PATIENCE
    disable_nagle_algorithm = True

    def log(self, type, message, *args):
        logging.getLogger(__name__).debug(message, *args)


class DevelopmentServer(ThreadedWSGIServer):
    """Werkzeug's server of `predictions` at a socket that listens; `url` says where."""

    def __init__(self, predictions: Predictions, bound: socket.socket):
        host, port = bound.getsockname()[:2]
        self.predictions: Predictions = predictions
        self.url: str = f"http://{f'[{host}]' if ':' in host else host}:{port}/"
        app = Application(predictions, local=is_loopback(self.url))
        super().__init__(host, port, app, _Handler, fd=bound.fileno())


def is_loopback(url: str) -> bool:
    """Whether the host of a URL, as a browser would take it, is of this machine alone."""
    try:
        host = urllib.parse.urlsplit(url).hostname or ""
        address = ipaddress.ip_address("127.0.0.1" if host == "localhost" else host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


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


def _json(found, status=200):
    return Response(json.dumps(found), status, mimetype="application/json")
