"""TensorFlow Serving's REST API, in its columnar form: requests and answers as `server.development_server` has them.

A float32 is written with the digits of the float64 of the same value, and read back as the nearest float32: no bit is
lost either way. NaN and infinities are the literals NaN, Infinity and -Infinity, both ways; null is none of them.

Source: tensorflow.org/tfx/serving/api_rest.
"""

from __future__ import annotations

import json
import urllib.parse
import urllib.request
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any

from google.protobuf import json_format
from tensorflow.core.protobuf import meta_graph_pb2

from tfdsmcmc.serving.arrays import optional, signatures_of
from tfdsmcmc.serving.client.transports import ServerError, late, repeated, without_user

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc.serving.arrays import Signature
    from tfdsmcmc.serving.client.transports import Address


class RestTransport:
    """Calls over HTTP on kept connections; a ValueError for a proxy in the environment that has no URL."""

    fine = 200

    def __init__(self, address: Address, timeout: float, retries: int):
        self._errors = optional("urllib3").exceptions
        self._timeout, self._retries = timeout, retries
        self._pool = _pool(address)
        version = "" if address.version is None else f"/versions/{address.version}"
        model = urllib.parse.quote(address.model, safe="")
        self.url: str = f"{address.scheme}://{address.host}{address.prefix}/v1/models/{model}{version}"

    def describe(self) -> dict[str, Signature]:
        url = self.url + "/metadata"
        answer = self._answer("GET", url)
        try:
            found = answer["metadata"]["signature_def"]["signature_def"].items()
            kind = meta_graph_pb2.SignatureDef
            return signatures_of({n: json_format.ParseDict(d, kind(), ignore_unknown_fields=True) for n, d in found})
        except (AttributeError, KeyError, TypeError, ValueError, json_format.ParseError):
            raise ServerError(self.fine, "the answer describes no signatures", url) from None

    def predict(self, signature: str, inputs: Mapping[str, np.ndarray], outputs: Collection[str]) -> Any:
        columns = {name: array.tolist() for name, array in inputs.items()}
        request = {"signature_name": signature, "inputs": columns}
        answer = self._answer("POST", self.url + ":predict", json.dumps(request, separators=(",", ":")).encode())
        found = answer.get("outputs")
        return dict.fromkeys(outputs, found) if len(outputs) == 1 and "outputs" in answer else found

    def close(self) -> None:
        self._pool.clear()

    def _answer(self, method, url, body=None):
        return repeated(self._retries, self._answer_at_once, method, url, body)

    def _answer_at_once(self, method, url, body):
        headers = {} if body is None else {"Content-Type": "application/json"}
        how = {"timeout": self._timeout, "retries": False, "redirect": False}  # a POST would arrive as a GET
        try:
            response = self._pool.request(method, url, body=body, headers=headers, **how)
        except self._errors.ReadTimeoutError:
            raise late(self._timeout, url) from None
        except self._errors.DecodeError as error:
            raise ServerError("DATA_LOSS", f"the answer cannot be read: {error}", url) from error
        except self._errors.HTTPError as error:
            raise ServerError("UNAVAILABLE", f"no connection: {error}", url) from error
        try:
            answer = json.loads(response.data)
        except (ValueError, RecursionError):
            answer = None
        if response.status != self.fine:  # what the server calls an error, else the start of whatever it sent
            words = str(answer["error"]) if isinstance(answer, dict) and "error" in answer else None
            sent = response.data[:200].decode(errors="replace")
            raise ServerError(response.status, words or sent or response.reason, url)
        if not isinstance(answer, dict):
            raise ServerError(self.fine, "the answer is no JSON object", url)
        return answer


def _pool(address):
    """Connections, by way of the environment's proxy where it has one for this host."""
    urllib3 = optional("urllib3")
    proxy = urllib.request.getproxies().get(address.scheme)
    if not proxy or urllib.request.proxy_bypass(address.host):
        return urllib3.PoolManager()
    try:
        found = urllib3.util.parse_url(proxy if "://" in proxy else f"http://{proxy}")
    except urllib3.exceptions.LocationParseError:
        found = urllib3.util.Url()
    if not found.host or found.scheme not in ("http", "https"):
        raise ValueError(f"A proxy in the environment must have a URL. Received: {without_user(proxy)!r}")
    headers = urllib3.make_headers(proxy_basic_auth=found.auth) if found.auth else None
    return urllib3.ProxyManager(found._replace(auth=None).url, proxy_headers=headers)
