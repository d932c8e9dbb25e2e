"""TensorFlow Serving's REST API, in its columnar form.

    GET  …/v1/models/NAME[/versions/V]/metadata   → {"metadata": {"signature_def": {"signature_def": {…}}}}
    POST …/v1/models/NAME[/versions/V]:predict    {"signature_name": …, "inputs": {name: nested lists}}
                                                  → {"outputs": a dict, or the bare value of a single output}
    a fault                                       → {"error": words}

A float32 is written with the digits of the float64 of the same value, and read back as the nearest float32: no bit is
lost either way. NaN is no JSON and is never sent; servers do answer with the literals NaN, Infinity and -Infinity, and
null is none of them.

Source: tensorflow.org/tfx/serving/api_rest.
"""

from __future__ import annotations

import json
import urllib.parse

from tfdsmcmc.serving.client import wire
from tfdsmcmc.serving.client.transports import ServerError, late, optional


class RestTransport:
    """Calls over HTTP on kept connections.

    Args:
      address: `transports.Address`.
      timeout: seconds to wait for a connection, and for each next piece of an answer.

    Raises:
      ImportError: without the package requests.
      ValueError: for an address that is none of HTTP.
    """

    def __init__(self, address, timeout):
        self._requests, self._urllib3 = optional("requests"), optional("urllib3")
        self._session = self._requests.Session()
        self._timeout = timeout
        version = "" if address.version is None else f"/versions/{address.version}"
        model = urllib.parse.quote(address.model, safe="")
        self.url = f"{address.scheme}://{address.host}{address.prefix}/v1/models/{model}{version}"
        try:
            self._requests.Request("GET", self.url).prepare()
        except self._requests.exceptions.RequestException as error:
            raise ValueError(f"url is no URL: {error}. Received: url={self.url!r}") from None

    def describe(self):
        """The model's signatures: dict from names to `wire.Signature`."""
        url = self.url + "/metadata"
        answer = self._answer("GET", url)
        try:
            return wire.signatures(answer["metadata"]["signature_def"]["signature_def"])
        except (KeyError, TypeError, ValueError):
            raise ServerError(200, "the answer describes no signatures", url) from None

    def predict(self, signature, inputs, outputs):
        """Calls a signature.

        Args:
          signature: its name.
          inputs: dict of arrays.
          outputs: dict of `wire.Tensor`, what the signature returns.

        Returns:
          dict of arrays.

        Raises:
          ServerError: for a fault, and an answer that is not as the signature has it.
        """
        columns = {name: array.tolist() for name, array in inputs.items()}
        request = {"signature_name": signature, "inputs": columns}
        url = self.url + ":predict"
        answer = self._answer("POST", url, json.dumps(request, allow_nan=False, separators=(",", ":")).encode())
        try:
            found = answer["outputs"]
            if len(outputs) == 1:
                found = dict.fromkeys(outputs, found)
            return wire.answered(found, outputs)
        except (KeyError, TypeError, ValueError) as error:
            words = f"the answer does not have the outputs {sorted(outputs)}: {error}"
            raise ServerError(200, words, url) from None

    def close(self):
        """Closes the connections."""
        self._session.close()

    def _answer(self, method, url, body=None):
        headers = {} if body is None else {"Content-Type": "application/json"}
        exceptions = self._requests.exceptions
        try:
            # a redirected POST would arrive as a GET
            response = self._session.request(
                method, url, data=body, headers=headers, timeout=self._timeout, allow_redirects=False
            )
        except exceptions.ReadTimeout:
            raise late(self._timeout, url) from None
        except (exceptions.ConnectionError, exceptions.ChunkedEncodingError) as error:
            if isinstance(error.args[0], self._urllib3.exceptions.ReadTimeoutError):  # in the midst of an answer
                raise late(self._timeout, url) from None
            raise ServerError("UNAVAILABLE", f"no connection: {error}", url) from error
        except exceptions.InvalidURL as error:  # that of the server was checked before
            raise ValueError(f"A proxy in the environment must have a URL. Received: {error}") from None
        except (exceptions.RequestException, self._urllib3.exceptions.HTTPError) as error:
            raise ServerError("DATA_LOSS", f"the answer cannot be read: {error}", url) from error
        try:
            answer = json.loads(response.content)
        except (ValueError, RecursionError):
            answer = None
        if response.status_code != 200:
            raise ServerError(response.status_code, _words(answer, response), url)
        if not isinstance(answer, dict):
            raise ServerError(200, "the answer is no JSON object", url)
        return answer


def _words(answer, response):
    """The server's words about a fault: what it calls an error, else the start of whatever it sent."""
    if isinstance(answer, dict) and "error" in answer:
        return str(answer["error"])
    return response.text[:200] or response.reason
