"""Ways to a model server: its address, its faults, and when a call is made again.

A transport has `url`, where calls go; `fine`, the status of an answer without a fault; `describe()`, which returns a
dict from names to `arrays.Signature`; `predict(signature, inputs, outputs)`, which returns a dict of the outputs of
these names, as they came; and `close()`. Faults are `ServerError`s.
"""

from __future__ import annotations

import contextlib
import re
import time
import urllib.parse
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from tfdsmcmc._common import checks

_T = TypeVar("_T")
FIRST_WAIT, LONGEST_WAIT = 0.1, 5.0  # seconds before a call is repeated
_PASSING = (429, 502, 503, 504, "UNAVAILABLE")
_URL = re.compile(
    r"(?P<scheme>https?|grpcs?)://(?P<host>(?P<name>[\w.-]+|\[[\w:.%]+\])(?::(?P<port>[0-9]{1,5}))?)"
    r"(?P<prefix>(?:/[^?#]*?)??)(?:/v1/models/(?P<model>[^/:?#]+)(?:/versions/(?P<version>[0-9]{1,19}))?)?/?"
)


class ServerError(RuntimeError):
    """A server that refused a call, failed, gave no answer in time, or was not reached.

    Attributes:
      status: the HTTP status, an integer; or the name of a gRPC status, which REST borrows where there was no answer:
        "UNAVAILABLE" (not reached), "DEADLINE_EXCEEDED" (no answer in time) and "DATA_LOSS" (one that cannot be read).
      message: the server's own words, where it had any.
      url: where the call went.
    """

    def __init__(self, status: int | str, message: str, url: str):
        super().__init__(f"{url} answered {status}: {message}")
        self.status: int | str = status
        self.message: str = message
        self.url: str = url

    def __reduce__(self) -> tuple[type[ServerError], tuple[int | str, str, str]]:
        return type(self), (self.status, self.message, self.url)


class Address(NamedTuple):
    """Where a model is served; `prefix` is the path before /v1/models."""

    scheme: str
    host: str
    prefix: str
    model: str
    version: int | None


def address(url: str, model: str | None = None, version: int | None = None) -> Address:
    """Reads a URL of the scheme http, https, grpc or grpcs, which may go on with /v1/models/NAME and /versions/VERSION.

    Raises:
      ValueError: for another URL, no model, or two different models or versions.
    """
    found = _URL.fullmatch(url) if isinstance(url, str) else None
    remote = found is not None and found["scheme"].startswith("grpc")
    if found is None or not _is_host(found["name"], found["port"]) or remote and (found["prefix"] or not found["port"]):
        known = "http[s]://HOST[:PORT][/PATH] or grpc[s]://HOST:PORT, with or without /v1/models/NAME/versions/VERSION"
        raise ValueError(f"url must be {known}. Received: url={without_user(url)!r}")
    named = found["model"] and urllib.parse.unquote(found["model"])
    numbered = found["version"] and int(found["version"])
    version = None if version is None else checks.nonnegative_integer("version", version)
    if not isinstance(named if model is None else model, str) or model == "":
        raise ValueError(f"model must be a name, here or in the URL. Received: model={model!r}, url={url!r}")
    if None not in (named, model) and named != model or None not in (numbered, version) and numbered != version:
        raise ValueError(f"The URL names another one. Received: model={model!r}, version={version!r}, url={url!r}")
    version = numbered if version is None else version
    return Address(found["scheme"], found["host"], found["prefix"], model or named, version)


def repeated(retries: int, call: Callable[..., _T], *arguments: Any) -> _T:
    """call(*arguments), made again up to `retries` times where a `ServerError` has the status of what may pass."""
    for attempt in range(retries):
        try:
            return call(*arguments)
        except ServerError as error:
            if error.status not in _PASSING:
                raise
        time.sleep(min(FIRST_WAIT * 2 ** min(attempt, 9), LONGEST_WAIT))
    return call(*arguments)


def late(timeout: float, url: str) -> ServerError:
    """The error of a call without an answer in time."""
    return ServerError("DEADLINE_EXCEEDED", f"no answer within {timeout:g} seconds", url)


def without_user(url: Any) -> Any:
    """What may be printed of a URL: no password."""
    return re.sub("//[^/?#]*@", "//", url) if isinstance(url, str) else url


def _is_host(name, port):
    """Whether a name can be looked up and a port be had."""
    with contextlib.suppress(UnicodeError):  # names have rules for their parts
        return bool(name.encode("idna")) and int(port or 0) < 2**16
