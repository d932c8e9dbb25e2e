"""The requests of one connection to the development server, and what is answered to them.

    200   answers of `serving.answers`, the page and the manifest
    400   what the model cannot answer, what would take too much memory (`memory`), and what is no request
    403   names of another host or site, where the server listens to this machine alone
    404   paths, models and versions that there are not
    405   methods that a path does not have
    413   bodies above 64 MiB
    500   failures of the server, which are logged
    503   versions that cannot be loaded, such as one that was deleted meanwhile

Errors are {"error": words}. A connection is kept but where the rest of a request cannot be told from the next one.

Source: the RESTful API of TensorFlow Serving, https://www.tensorflow.org/tfx/serving/api_rest. NaN and infinities are
written as the literals NaN, Infinity and -Infinity, and read as such, as they are there.
"""

from __future__ import annotations

import contextlib
import http.server
import ipaddress
import json
import logging
import re
import time
import urllib.parse

from tfdsmcmc.serving.server import answers
from tfdsmcmc.serving.server.predictions import BadRequest
from tfdsmcmc.serving.server.version import Unavailable

_LIMIT = 64 * 2**20  # bytes of a request's body
_PATIENCE = 60  # seconds without a byte before a connection is closed
_LINGER = 5  # seconds for a body that is not read
_MODEL = re.compile(r"/v1/models/([^/:]+)(?:/versions/([0-9]{1,18}))?(/metadata|:[a-z]+)?")
_HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
}


class _Fault(Exception):
    """An answer that is an error: a status and words."""


class Handler(http.server.BaseHTTPRequestHandler):
    """The requests of one connection."""

    protocol_version = "HTTP/1.1"
    server_version = "tfdsmcmc-development"
    timeout = _PATIENCE
    disable_nagle_algorithm = True

    def do_GET(self):
        self._answer(self._get)

    def do_POST(self):
        self._answer(self._post)

    def _refuse(self):
        self._answer(self._other)

    do_HEAD = do_GET
    do_PUT = do_DELETE = do_PATCH = do_OPTIONS = _refuse

    def _answer(self, action):
        """Reads the whole request, so that the connection can be used again, acts on it and answers."""
        self._unread = 0
        try:
            body = self._body()
            self._check_origin()
            status, content = 200, _content(action(re.split("[?#]", self.path)[0], body))
        except _Fault as fault:
            status, content = fault.args[0], _content({"error": fault.args[1]})
        except BadRequest as fault:
            status, content = 400, _content({"error": str(fault)})
        except Unavailable as fault:
            status, content = 503, _content({"error": str(fault)})
        except ConnectionError:
            raise
        except Exception as error:
            logging.getLogger(__name__).exception("%s %s", self.command, self.path)
            status, content = 500, _content({"error": f"The server failed: {type(error).__name__}"})
        self._send(status, *content)
        self._discard(self._unread)

    def _body(self):
        length = self.headers.get("Content-Length", "0")
        if "Transfer-Encoding" in self.headers or not re.fullmatch("[0-9]{1,18}", length):
            self.close_connection = True
            raise _Fault(400, f"A body needs a Content-Length. Received: {length[:60]}")
        length = int(length)
        if length > _LIMIT:
            self.close_connection, self._unread = True, length
            raise _Fault(413, f"The body must be at most {_LIMIT} bytes. Received: {length} bytes")
        try:
            body = self.rfile.read(length)
        except TimeoutError:
            body = b""
        if len(body) < length:
            self.close_connection = True
            raise _Fault(400, f"The body must have the {length} bytes of its Content-Length. Received: fewer")
        return body

    def _discard(self, length):
        """Reads on for some seconds: a client that is still sending would otherwise not see the answer."""
        end = time.monotonic() + _LINGER
        self.connection.settimeout(_LINGER if length else _PATIENCE)
        with contextlib.suppress(OSError):
            while length > 0 and time.monotonic() < end and (part := self.rfile.read1(min(length, 2**20))):
                length -= len(part)

    def _check_origin(self):
        host, origin = self.headers.get("Host"), self.headers.get("Origin")
        for name, url in ((host, f"//{host}"), (origin, origin)) if self.server.local else ():
            if name is not None and not is_loopback(_hostname(url)):
                raise _Fault(403, f"This development server answers to this machine's own names. Received: {name[:60]}")

    def _get(self, path, body):
        predictions = self.server.predictions
        if path in ("/", "/index.html"):
            return self.server.page
        if path == "/manifest.json":
            if (manifest := predictions.version().load().manifest) is None:
                raise _Fault(404, "The model has no manifest. Received: /manifest.json")
            return manifest
        version, verb = self._model(path)
        if verb == "/metadata":
            return answers.metadata(predictions, version)
        if verb:
            raise _Fault(405, f"Send {verb} by POST. Received: {self.command}")
        return answers.status(predictions, version)

    def _post(self, path, body):
        plain = path in ("/", "/index.html", "/manifest.json")
        version, verb = (None, None) if plain else self._model(path)
        if verb in (None, "/metadata"):
            raise _Fault(405, f"Ask for {path[:99]} by GET. Received: {self.command}")
        if verb != ":predict":
            raise _Fault(404, f"This development server answers :predict alone. Received: {verb[:60]}")
        return answers.predict(self.server.predictions, body, version)

    def _other(self, path, body):
        raise _Fault(405, f"Methods are GET, HEAD and POST. Received: {self.command}")

    def _model(self, path):
        """The version and what is asked of it."""
        match, predictions = _MODEL.fullmatch(path), self.server.predictions
        if not match:
            known = "/v1/models/" + urllib.parse.quote(predictions.name, safe="")
            raise _Fault(404, f"There is {known}, /metadata and :predict after it, and /. Received: {path[:99]}")
        name, version, verb = match.groups()
        name = urllib.parse.unquote(name)  # only now: it may have a : or / itself
        if name != predictions.name:
            raise _Fault(404, f"The model is {predictions.name}. Received: {name[:60]}")
        if version is not None and int(version) not in predictions.versions:
            raise _Fault(404, f"The versions are {list(predictions.versions)}. Received: {version}")
        return version and int(version), verb

    def _send(self, status, kind, body):
        self.send_response(status)
        headers = {"Content-Type": kind, "Content-Length": len(body)} | _HEADERS
        headers |= {"Allow": "GET, HEAD, POST"} if status == 405 else {}
        headers |= {"Connection": "close"} if self.close_connection else {}
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def send_error(self, code, message=None, explain=None):
        """Requests that are no HTTP, in the same form as other errors."""
        self.close_connection, self.request_version = True, self.protocol_version
        words = f"The request must be HTTP: {message or code}. Received: {self.requestline[:60]!r}"
        self._send(405 if code == 501 else 400, *_content({"error": words}))

    def log_message(self, format, *args):
        """Says nothing of requests that were answered."""


def _hostname(url):
    """The host that a browser would take from "scheme://host:port"; "" where there is none."""
    try:
        return urllib.parse.urlsplit(url).hostname or ""
    except ValueError:
        return ""


def is_loopback(host):
    """Whether a host's name or address is of this machine alone."""
    if host.lower() == "localhost":
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback


def _content(answer):
    """The type and the bytes of an answer: a page, or an object in JSON, which may be written already."""
    if isinstance(answer, bytes):
        return "application/json", answer
    if isinstance(answer, str):
        return "text/html; charset=utf-8", answer.encode()
    return "application/json", json.dumps(answer).encode()
