"""Ways to a model server: its address, its faults, and when a call is repeated.

A transport has

    describe()                              → dict from a signature's name to `wire.Signature`
    predict(signature, inputs, outputs)     → dict of arrays
    close()

and raises `ServerError`. Every served function is a pure function of its inputs, seeds included: it changes nothing on
the server, and a call that is made twice gives the same answer twice. So whatever fails in passing may be repeated.
"""

from __future__ import annotations

import importlib
import re
import time
import urllib.parse
from typing import NamedTuple

from tfdsmcmc import checks

PASSING = (429, 502, 503, 504, "UNAVAILABLE")
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 5.0  # seconds
_LONGEST_TIMEOUT = 1e6  # seconds: sockets count milliseconds in 32 bits
_PATH = re.compile(r"(?P<prefix>.*?)(?:/v1/models/(?P<model>[^/:]+)(?:/versions/(?P<version>[0-9]{1,18}))?)?/?")


class ServerError(RuntimeError):
    """A server that refused a call, failed, gave no answer in time, or was not reached.

    Attributes:
      status: the HTTP status, an integer; or the name of a gRPC status, which REST borrows where there was no answer:
        "UNAVAILABLE" (not reached), "DEADLINE_EXCEEDED" (no answer in time) and "DATA_LOSS" (one that cannot be read).
      message: the server's own words, where it had any.
      url: where the call went.
    """

    def __init__(self, status, message, url):
        super().__init__(f"{url} answered {status}: {message}")
        self.status, self.message, self.url = status, message, url

    def __reduce__(self):
        return type(self), (self.status, self.message, self.url)


class Address(NamedTuple):
    """Where a model is served: scheme, host with port, path before /v1/models, the model's name and its version."""

    scheme: str
    host: str
    prefix: str
    model: str
    version: int | None


def address(url, model=None, version=None) -> Address:
    """Reads a URL such as "http://127.0.0.1:8501", which may go on with /v1/models/NAME and /versions/VERSION.

    Args:
      url: its scheme is http, https, grpc or grpcs.
      model: the model's name, unless the URL has it.
      version: the model's version; None for the one in the URL, or the newest.

    Raises:
      ValueError: for another URL, no model, or two different models or versions.
    """
    if not isinstance(url, str):
        raise ValueError(f"url must be a string. Received: url={url!r}")
    try:
        parts = urllib.parse.urlsplit(url)
        port = parts.port  # reading it checks it
        (parts.hostname or "").encode("idna")  # and this the length of each part of the name
    except ValueError as error:
        raise ValueError(f"url is no URL: {error}. Received: url={_without_user(url)!r}") from None
    remote = parts.scheme in ("grpc", "grpcs")
    if parts.scheme not in ("http", "https") and not remote or not parts.hostname or remote and port is None:
        raise ValueError(f"url must be http[s]://HOST[:PORT] or grpc[s]://HOST:PORT. Received: url={url!r}")
    if parts.query or parts.fragment or "@" in parts.netloc:
        raise ValueError(f"url must have no user, query or fragment. Received: url={_without_user(url)!r}")
    found = _PATH.fullmatch(parts.path)
    if remote and found["prefix"]:
        raise ValueError(f"A gRPC path is /v1/models/NAME or nothing. Received: url={url!r}")
    named = None if found["model"] is None else urllib.parse.unquote(found["model"])
    numbered = None if found["version"] is None else int(found["version"])
    version = None if version is None else checks.nonnegative_integer("version", version)
    if not isinstance(named if model is None else model, str) or "" in (named, model):
        raise ValueError(f"model must be a name, here or in the URL. Received: model={model!r}, url={url!r}")
    if None not in (named, model) and named != model or None not in (numbered, version) and numbered != version:
        raise ValueError(f"The URL names another one. Received: model={model!r}, version={version!r}, url={url!r}")
    version = numbered if version is None else version
    return Address(parts.scheme, parts.netloc, found["prefix"], model or named, version)


def seconds(timeout) -> float:
    """Returns a timeout as a float.

    Raises:
      ValueError: unless it is above 0 and at most 10⁶.
    """
    if float(checks.positive_number("timeout", timeout)) > _LONGEST_TIMEOUT:
        raise ValueError(f"timeout must be at most {_LONGEST_TIMEOUT:g} seconds. Received: timeout={timeout!r}")
    return float(timeout)


def optional(module):
    """Imports what only clients need.

    Raises:
      ImportError: if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"A client needs {package}: pip install tfdsmcmc[serving]. ({error})") from error


def repeated(call, retries):
    """Returns call(), made up to `retries` times again after faults that pass: `PASSING`.

    The waits between the calls double from a tenth of a second, up to five.
    """
    for attempt in range(retries):
        try:
            return call()
        except ServerError as error:
            if error.status not in PASSING:
                raise
        time.sleep(min(_FIRST_WAIT * 2**attempt, _LONGEST_WAIT))
    return call()


def late(timeout, url):
    """The error of a call without an answer in time."""
    return ServerError("DEADLINE_EXCEEDED", f"no answer within {timeout:g} seconds", url)


def _without_user(url):
    """What may be printed of a URL: no password."""
    return re.sub("//[^/?#]*@", "//", url)
