"""How much memory a request may take while it is read from JSON or written in it.

In Python's objects a byte of JSON may become thirty. So their memory is bounded before there are any, from the commas
and brackets of a body, and from the shapes of an answer:

    read       bytes·(2, or 9 where they are not all ASCII) + 64·commas + 96·brackets that open + 160·colons
    written    200·numbers

are each at most `MOST`. A number takes up to 60 bytes when it is read (an object, its places in a list and in three
arrays) and 200 when it is written (an object, its text alone, in the whole and in bytes); an empty list or object has
88, and a name in an object up to 160 with its place there. Large bodies are read, and large answers written, one at a
time; what is small waits for nobody.
"""

from __future__ import annotations

import contextlib
import math
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tfdsmcmc.serving.arrays import BadRequest, has_rows

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc.serving.arrays import Signature

MOST = 2**30  # bytes
_NUMBER = 200  # bytes of one that is written
_SMALL = 2**20  # bytes for which nobody waits

turn: contextlib.AbstractContextManager[bool] = threading.RLock()  # of large bodies and of large answers


def reading(body: bytes) -> contextlib.AbstractContextManager[Any]:
    """The context in which a body, bytes, is read and answered.

    Raises:
      BadRequest: where its objects would take too much memory.
    """
    brackets = body.count(b"[") + body.count(b"{")
    needed = len(body) * (2 if body.isascii() else 9) + 64 * body.count(b",") + 96 * brackets
    needed += 160 * body.count(b":")
    if needed > MOST:
        raise BadRequest(
            f"The body must take at most {MOST:,} bytes of memory when it is read: send fewer rows at a time. "
            f"Received: {len(body):,} bytes that may take {needed:,}"
        )
    return turn if len(body) > _SMALL else contextlib.nullcontext()


def writing(name: str, outputs: Mapping[str, np.ndarray]) -> contextlib.AbstractContextManager[Any]:
    """The context in which the outputs of a signature, arrays by name, are written.

    Raises:
      BadRequest: for too many numbers.
    """
    return _writing(name, sum(array.size for array in outputs.values()))


def check_inputs(name: str, signature: Signature, arrays: Mapping[str, np.ndarray]) -> None:
    """Refuses inputs whose outputs, as far as their shapes tell, would be too many numbers.

    An output's axes of unknown length are taken for the rows of the inputs where they have rows, and for their count,
    the one whole number among them, where there are no rows or two such axes.

    Args:
      name: of the signature.
      signature: `arrays.Signature`.
      arrays: its inputs by name.

    Raises:
      BadRequest: for too many numbers.
    """
    rows = [len(arrays[key]) for key, spec in signature.inputs.items() if has_rows(spec)][:1]
    counts = [int(array) for array in arrays.values() if array.ndim == 0 and array.dtype.kind in "iu"]
    lengths = [max(0, size) for size in (rows + counts if len(counts) == 1 else rows)]
    shapes = [spec.shape.as_list() for spec in signature.outputs.values() if spec.shape.rank is not None]
    told = [shape for shape in shapes if shape.count(None) <= len(lengths)]
    known = [math.prod(size for size in shape if size is not None) for shape in told]
    _writing(name, sum(size * math.prod(lengths[: shape.count(None)]) for size, shape in zip(known, told)))


def _writing(name, numbers):
    if numbers * _NUMBER > MOST:
        raise BadRequest(
            f"The answer of {name} must be at most {MOST // _NUMBER:,} numbers, {MOST:,} bytes of memory when it "
            f"is written: ask for less at a time. Received: {numbers:,} numbers"
        )
    return turn if numbers * _NUMBER > _SMALL else contextlib.nullcontext()
