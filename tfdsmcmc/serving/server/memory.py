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

import math
import threading

from tfdsmcmc.serving.arrays import BadRequest, has_rows

MOST = 2**30  # bytes
_NUMBER = 200  # bytes of one that is written
_SMALL = 2**20  # bytes of a body for which nobody waits

turn = threading.RLock()  # of large bodies and of large answers


def is_large(body):
    """Whether a body, bytes, is read when it is its turn."""
    return len(body) > _SMALL


def are_large(outputs):
    """Whether arrays by name are written when it is their turn."""
    return sum(array.size for array in outputs.values()) * _NUMBER > _SMALL


def check_body(body):
    """Raises a BadRequest for bytes whose objects would take too much memory."""
    brackets = body.count(b"[") + body.count(b"{")
    needed = len(body) * (2 if body.isascii() else 9) + 64 * body.count(b",") + 96 * brackets
    needed += 160 * body.count(b":")
    if needed > MOST:
        raise BadRequest(
            f"The body must take at most {MOST:,} bytes of memory when it is read: send fewer rows at a time. "
            f"Received: {len(body):,} bytes that may take {needed:,}"
        )


def check_inputs(name, signature, arrays):
    """Raises a BadRequest where the outputs of a signature, as far as their shapes tell, would be too many numbers.

    An output's axes of unknown length are taken for the rows of the inputs where they have rows, and for their count,
    the one whole number among them, where there are no rows or two such axes.

    Args:
      name: of the signature.
      signature: `arrays.Signature`.
      arrays: its inputs by name.
    """
    rows = [len(arrays[key]) for key, spec in signature.inputs.items() if has_rows(spec)][:1]
    counts = [int(array) for array in arrays.values() if array.ndim == 0 and array.dtype.kind in "iu"]
    lengths = [max(0, size) for size in (rows + counts if len(counts) == 1 else rows)]
    numbers = 0
    for spec in signature.outputs.values():
        shape = spec.shape.as_list() if spec.shape.rank is not None else []
        if shape.count(None) <= len(lengths):
            known = [size for size in shape if size is not None]
            numbers += math.prod(known) * math.prod(lengths[: shape.count(None)])
    _check_numbers(name, numbers)


def check_outputs(name, outputs):
    """Raises a BadRequest for arrays by name that are too many numbers."""
    _check_numbers(name, sum(array.size for array in outputs.values()))


def _check_numbers(name, numbers):
    if numbers * _NUMBER > MOST:
        raise BadRequest(
            f"The answer of {name} must be at most {MOST // _NUMBER:,} numbers, {MOST:,} bytes of memory when it "
            f"is written: ask for less at a time. Received: {numbers:,} numbers"
        )
