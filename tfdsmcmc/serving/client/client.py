"""A client of an exported model: NumPy in, NumPy out, over TensorFlow Serving's REST or gRPC API.

    with Client("grpc://127.0.0.1:8500", model="digits") as client:
        client.log_likelihood(x).mean()
        client.impute(x_with_nan, num_imputations=12, seed=3)

Data are checked here, so that what cannot be right is refused before it is sent; what only the model knows comes back
as a `ServerError` with the server's words. Over REST the environment's proxies are used, but for hosts in NO_PROXY.

Tested with: this package's development server (REST), and a stand-in for the gRPC service on loopback, whose answers
are those of the SavedModel bit for bit; and with a TensorFlow Serving only if the environment variable TFS_URL names
one (tests/serving/client/test_client.py says how).
"""

from __future__ import annotations

import numpy as np

from tfdsmcmc import checks
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.rows import rows_of
from tfdsmcmc.serving.client import wire
from tfdsmcmc.serving.client.transport_grpc import GrpcTransport
from tfdsmcmc.serving.client.transport_rest import RestTransport
from tfdsmcmc.serving.client.transports import address, repeated, seconds


class Client:
    """Calls the functions of a served model.

    The served functions are pure: an answer depends on the model's version, the inputs and the seed alone, and nothing
    changes on the server. So a call that fails in passing (no connection, HTTP 429, 502, 503 or 504, gRPC UNAVAILABLE)
    is safely made again. An answer that comes too late is not asked for again.

    A batch goes to the server as it is, in one call: parts of it would get other draws under one seed. For batches
    larger than a server takes, use the methods of rows: there each row has a seed of its own, and the answers to the
    parts are those to the whole. Signatures are asked for once, at the first call. Use one client in each thread.

    Args:
      url: "http://HOST:PORT", "https://…" or "grpc://HOST:PORT", "grpcs://…" (TLS with the machine's certificates),
        with or without /v1/models/NAME and /versions/VERSION.
      model: the model's name, unless the URL has it.
      version: the model's version; None for the newest.
      timeout: seconds to wait for an answer, at most 10⁶; over REST, for each next piece of it.
      retries: how often a call is made again, after waits of 0.1, 0.2, 0.4, … seconds, at most 5 each.
      packed: whether rows and masks travel as bits, eight to a byte; for data of 0 and 1.

    Raises:
      ImportError: without the packages behind the URL's scheme.
      ValueError: for arguments that do not fit.
    """

    def __init__(self, url, model=None, version=None, timeout=60.0, retries=3, packed=False):
        where = address(url, model, version)
        timeout = seconds(timeout)
        self._retries = checks.nonnegative_integer("retries", retries)
        if not isinstance(packed, (bool, np.bool_)):
            raise ValueError(f"packed must be True or False. Received: packed={packed!r}")
        self._packed = bool(packed)
        self._transport = (GrpcTransport if where.scheme.startswith("grpc") else RestTransport)(where, timeout)
        self._signatures = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        """Closes the connections. May be called again; other calls are refused from then on."""
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    @property
    def signatures(self):
        """The served signatures: dict from names to `wire.Signature`."""
        if self._transport is None:
            raise ValueError("The client is closed: make another one. Received: a call after close()")
        if self._signatures is None:
            self._signatures = repeated(self._transport.describe, self._retries)
        return self._signatures

    def predict(self, signature, /, **inputs):
        """Calls any signature.

        Args:
          signature: its name.
          **inputs: array-likes, one for each input of the signature.

        Returns:
          dict of arrays, by the outputs' names.

        Raises:
          ServerError: for a fault of the server, a call that it refuses, or no answer.
          ValueError: for an unknown signature, other inputs than it has, or arrays that do not fit them.
        """
        expected = self._signature(signature)
        if set(inputs) != set(expected.inputs):
            raise ValueError(f"{signature} takes the inputs {sorted(expected.inputs)}. Received: {sorted(inputs)}")
        arrays = wire.fitted(inputs, expected.inputs)
        return repeated(lambda: self._transport.predict(signature, arrays, expected.outputs), self._retries)

    def log_likelihood(self, x, num_samples=1000, seed=0) -> LogLikelihood:
        """Importance sampling estimates of log p(x).

        Args:
          x: (n, D), array-like.
          num_samples: number of importance samples.
          seed: an integer, or two int32.

        Returns:
          `likelihood.LogLikelihood`, each part (n,).

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        return _log_likelihood(self._with_rows("log_likelihood", x, **_draws(num_samples, seed)))

    def sample(self, num_samples=1, seed=0):
        """Draws from the model.

        Args:
          num_samples: number of draws.
          seed: an integer, or two int32.

        Returns:
          (num_samples, D).

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        return self.predict("sample", **_draws(num_samples, seed))["x"]

    def impute(self, x, mask=None, num_imputations=1, seed=0):
        """Draws of what is missing given what is observed.

        Args:
          x: (n, D), array-like; what stands where the mask is False is not sent.
          mask: (n, D) or (D,), True where an entry is observed; None for all that is not NaN.
          num_imputations: number of draws for each row.
          seed: an integer, or two int32.

        Returns:
          (num_imputations, n, D), observed entries as they are.

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        draws = {"num_imputations": checks.positive_integer("num_imputations", num_imputations)}
        return self._with_gaps("impute", x, mask, **draws, seed=wire.seed_words(seed))["x"]

    def encode(self, x, num_samples=1000, seed=0) -> dict:
        """Posterior means of the latent units.

        Args:
          x: (n, D), array-like.
          num_samples: number of importance samples.
          seed: an integer, or two int32.

        Returns:
          dict of "z_1" (n, H_1), nearest to the data, to "z_L" (n, H_L), and "effective_sample_size" (n,).

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        return self._with_rows("encode", x, **_draws(num_samples, seed))

    def reconstruct(self, x, num_samples=1000, seed=0):
        """Posterior means of the data's own probabilities or means; arguments as `encode`, returns (n, D)."""
        return self._with_rows("reconstruct", x, **_draws(num_samples, seed))["x"]

    def log_likelihood_rows(self, x, num_samples, seeds) -> LogLikelihood:
        """As `log_likelihood` of each row by itself.

        Args:
          x: (n, D), array-like.
          num_samples: number of importance samples, an integer for all rows or n of them.
          seeds: n integers, or (n, 2) int32.

        Returns:
          `likelihood.LogLikelihood`, each part (n,).

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        seeds = wire.seeds_of_rows(seeds)
        counts = num_samples if np.iterable(num_samples) else np.full(len(seeds), num_samples)
        return _log_likelihood(self._with_rows("log_likelihood_rows", x, num_samples=counts, seed=seeds))

    def sample_rows(self, seeds):
        """One draw for each seed: n integers or (n, 2) int32; returns (n, D)."""
        return self.predict("sample_rows", seed=wire.seeds_of_rows(seeds))["x"]

    def impute_rows(self, x, mask, seeds):
        """As one imputation by `impute` of each row by itself.

        Args:
          x: (n, D), array-like.
          mask: as `impute`, None included.
          seeds: n integers, or (n, 2) int32.

        Returns:
          (n, D).

        Raises:
          ServerError: as `predict`.
          ValueError: for arguments that do not fit.
        """
        return self._with_gaps("impute_rows", x, mask, seed=wire.seeds_of_rows(seeds))["x"]

    def _with_rows(self, signature, x, **others):
        name, units = self._named(signature, x)
        return self._with_data(name, {"x": checks.rows("x", x, units, self._packed)}, others)

    def _with_gaps(self, signature, x, mask, **others):
        name, units = self._named(signature, x)
        rows = rows_of("x", x, units, self._packed, mask)
        mask = np.ones(rows.values.shape, bool) if rows.complete else rows.observed
        return self._with_data(name, {"x": np.where(mask, rows.values, np.float32(0)), "mask": mask}, others)

    def _with_data(self, name, data, others):
        if self._packed:
            data = {key: np.packbits(values.astype(bool), axis=1) for key, values in data.items()}
        return self.predict(name, **data, **others)

    def _named(self, signature, x):
        """The name by which a signature with data is called, which must be served, and the width of the data."""
        name = signature + "_packed" * self._packed
        self._signature(name)
        return name, wire.units(self.signatures, x, self._packed)

    def _signature(self, name):
        found = self.signatures.get(name) if isinstance(name, str) else None
        if found is None:
            raise ValueError(f"signature must be one of {sorted(self.signatures)}. Received: {name!r}")
        return found


def _draws(num_samples, seed):
    return {"num_samples": checks.positive_integer("num_samples", num_samples), "seed": wire.seed_words(seed)}


def _log_likelihood(answer):
    return LogLikelihood(answer["value"], answer["standard_error"], answer["effective_sample_size"])
