"""A client of an exported model: NumPy in, NumPy out, over TensorFlow Serving's REST or gRPC API.

    with Client("grpc://127.0.0.1:8500", model="digits") as client:
        client.log_likelihood(x).mean()
        client.impute(x_with_nan, num_imputations=12, seed=3)

What does not fit a signature is refused before it is sent (`serving.arrays`); what only the model knows comes back as a
`ServerError` with the server's words. Over REST the environment's proxies are used, but for hosts in NO_PROXY.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.rows import rows_of
from tfdsmcmc.serving.arrays import array_of, arrays_of
from tfdsmcmc.serving.client.transport_grpc import GrpcTransport
from tfdsmcmc.serving.client.transport_rest import RestTransport
from tfdsmcmc.serving.client.transports import ServerError, address
from tfdsmcmc.supports import Binary, Real, checked_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.serving.arrays import Signature

_LONGEST_TIMEOUT = 1e6  # seconds: sockets count milliseconds in 32 bits


class Client:
    """Calls the functions of a served model.

    The served functions are pure: an answer depends on the model's version, the inputs and the seed alone, and nothing
    changes on the server. So a call that fails in passing (no connection, one that breaks off, HTTP 429, 502, 503 or
    504, gRPC UNAVAILABLE) is safely made again. An answer that comes too late is not asked for again.

    A batch goes to the server as it is, in one call: parts of it would get other draws under one seed. For batches
    larger than a server takes, use the methods of rows: there each row has a seed of its own, and the answers to the
    parts are those to the whole. Signatures are asked for once, at the first call. Use one client in each thread.

    In all methods x is (n, D), array-like; num_samples and num_imputations are positive integers; a seed is an integer
    in [0, 2⁶⁴) or two int32; seeds are n of them; context, (n, C), is of a model of rows given one. All raise a
    `ServerError` for a fault of the server, a call that it refuses, or no answer, and a ValueError for arguments that
    do not fit.

    Args:
      url: "http://HOST:PORT", "https://…" or "grpc://HOST:PORT", "grpcs://…" (TLS with the machine's certificates),
        with or without /v1/models/NAME and /versions/VERSION.
      model: the model's name, unless the URL has it.
      version: the model's version; None for the newest.
      timeout: seconds to wait for an answer, at most 10⁶; over REST, for each next piece of it.
      retries: how often a call is made again, after waits that double, the first of a tenth of a second, the longest of
        five.
      packed: whether rows and masks travel as bits, eight to a byte; for data of 0 and 1.

    Raises:
      ImportError: without the packages behind the URL's scheme.
      ValueError: for arguments that do not fit.
    """

    def __init__(
        self,
        url: str,
        model: str | None = None,
        version: int | None = None,
        timeout: float = 60.0,
        retries: int = 3,
        packed: bool = False,
    ):
        where = address(url, model, version)
        if float(checks.positive_number("timeout", timeout)) > _LONGEST_TIMEOUT:
            raise ValueError(f"timeout must be at most {_LONGEST_TIMEOUT:g} seconds. Received: timeout={timeout!r}")
        retries = checks.nonnegative_integer("retries", retries)
        self._packed = checks.boolean("packed", packed)
        way = GrpcTransport if where.scheme.startswith("grpc") else RestTransport
        self._transport, self._signatures = way(where, float(timeout), retries), None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections. May be called again; other calls are refused from then on."""
        if self._transport is not None:
            self._transport.close()
        self._transport = None

    @property
    def signatures(self) -> dict[str, Signature]:
        """The served signatures: dict from names to inputs and outputs, each a dict of `tf.TensorSpec`."""
        if self._transport is None:
            raise ValueError("The client is closed: make another one. Received: a call after close()")
        if self._signatures is None:
            self._signatures = self._transport.describe()
        return self._signatures

    def predict(self, signature: str, /, **inputs: ArrayLike) -> dict[str, np.ndarray]:
        """Calls any signature with array-likes for its inputs; returns a dict of arrays, by the outputs' names."""
        expected = self.signatures.get(signature) if isinstance(signature, str) else None
        if expected is None:
            raise ValueError(f"signature must be one of {sorted(self.signatures)}. Received: {signature!r}")
        arrays = arrays_of(signature, inputs, expected.inputs)
        found = self._transport.predict(signature, arrays, list(expected.outputs))
        try:
            return {name: array_of(name, found[name], spec) for name, spec in expected.outputs.items()}
        except (KeyError, TypeError, ValueError) as error:
            words = f"the answer does not have the outputs {sorted(expected.outputs)}: {error}"
            raise ServerError(self._transport.fine, words, self._transport.url) from None

    def log_likelihood(
        self, x: ArrayLike, num_samples: int = 1000, seed: Seed = 0, context: ArrayLike | None = None
    ) -> LogLikelihood:
        """Estimates of log p(x) by num_samples importance samples; each part is (n,)."""
        return _estimates(self._of_rows("log_likelihood", x, num_samples, seed, context))

    def sample(self, num_samples: int = 1, seed: Seed = 0, context: ArrayLike | None = None) -> np.ndarray:
        """Draws from the model, (num_samples, D)."""
        return self._call("sample", seed, context, num_samples=num_samples)["x"]

    def impute(
        self,
        x: ArrayLike,
        mask: ArrayLike | None = None,
        num_imputations: int = 1,
        seed: Seed = 0,
        context: ArrayLike | None = None,
    ) -> np.ndarray:
        """Draws of what is missing given what is observed, (num_imputations, n, D); observed entries as they are.

        The mask is (n, D) or (D,), True where an entry is observed; None for all that is not NaN. What it hides of x
        is not sent.
        """
        return self._of_gaps("impute", x, mask, seed, context, num_imputations=num_imputations)

    def encode(
        self, x: ArrayLike, num_samples: int = 1000, seed: Seed = 0, context: ArrayLike | None = None
    ) -> dict[str, np.ndarray]:
        """Posterior means of the latent units by num_samples importance samples: a dict of "z_1" (n, H_1), nearest to
        the data, to "z_L" (n, H_L), and "effective_sample_size" (n,)."""
        return self._of_rows("encode", x, num_samples, seed, context)

    def reconstruct(
        self, x: ArrayLike, num_samples: int = 1000, seed: Seed = 0, context: ArrayLike | None = None
    ) -> np.ndarray:
        """Posterior means of the data's own probabilities or means, (n, D), by num_samples importance samples."""
        return self._of_rows("reconstruct", x, num_samples, seed, context)["x"]

    def log_likelihood_rows(
        self, x: ArrayLike, num_samples: ArrayLike, seeds: ArrayLike, context: ArrayLike | None = None
    ) -> LogLikelihood:
        """As `log_likelihood` of each row by itself; num_samples is one for all rows, or n of them."""
        seeds = _seeds(seeds)
        counts = num_samples if np.iterable(num_samples) else np.full(len(seeds), num_samples)
        return _estimates(self._of_rows("log_likelihood_rows", x, counts, seeds, context))

    def sample_rows(self, seeds: ArrayLike, context: ArrayLike | None = None) -> np.ndarray:
        """One draw for each seed, (n, D)."""
        return self._call("sample_rows", _seeds(seeds), context)["x"]

    def impute_rows(
        self, x: ArrayLike, mask: ArrayLike | None, seeds: ArrayLike, context: ArrayLike | None = None
    ) -> np.ndarray:
        """As one imputation by `impute` of each row by itself, (n, D); mask as there, None included."""
        return self._of_gaps("impute_rows", x, mask, _seeds(seeds), context)

    def _of_rows(self, signature, x, num_samples, seed, context=None):
        x = checked_array("x", x, self._units(x), Binary()) if self._packed else x
        return self._call(signature, seed, context, x=x, num_samples=num_samples)

    def _of_gaps(self, signature, x, mask, seed, context=None, **others):
        rows = rows_of("x", x, self._units(x), Binary() if self._packed else Real(), mask)
        mask = np.ones(rows.values.shape, bool) if rows.complete else rows.observed
        x = np.where(mask, rows.values, np.float32(0))
        return self._call(signature, seed, context, x=x, mask=mask, **others)["x"]

    def _call(self, signature, seed, context=None, **inputs):
        if self._packed and "x" in inputs:
            signature += "_packed"
            data = {key: inputs[key].astype(bool) for key in ("x", "mask") if key in inputs}
            inputs |= {key: np.packbits(values, axis=1) for key, values in data.items()}
        given = {} if context is None else {"context": context}
        return self.predict(signature, **inputs, seed=_seed(seed), **given)

    def _units(self, x):
        """D, as the signatures tell it. Where all data are packed none does, and it is the data's own width."""
        specs = [s for one in self.signatures.values() for s in (one.inputs.get("x"), one.outputs.get("x")) if s]
        widths = {spec.shape[-1] for spec in specs if spec.dtype.is_floating and spec.shape.rank}
        try:
            return widths.pop() if len(widths) == 1 else checks.numbers(x).shape[-1]
        except (TypeError, ValueError, OverflowError, IndexError):
            return 0  # the check of rows refuses them


def _estimates(outputs):
    shared = outputs.pop("shared_standard_error", np.zeros(0))
    shared = shared[np.isfinite(shared)]  # of a row without probability it is not known
    return LogLikelihood(**outputs, shared_standard_error=float(shared.mean()) if shared.size else 0.0)


def _seed(seed):
    """An integer as the two int32 of `random.as_seed`; a pair as it is."""
    return random.as_seed(seed).numpy() if isinstance(seed, (int, np.integer)) else seed


def _seeds(seeds):
    """A seed for each row."""
    if not np.iterable(seeds):
        raise ValueError(f"seeds must have a seed for each row. Received: seeds={seeds!r}")
    return [_seed(seed) for seed in seeds]
