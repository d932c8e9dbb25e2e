"""Which weights a diagnostic is about: "sbn_2/kernel[3, 4]" is a pattern of names and a place in the weight."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import keras
    from numpy.typing import ArrayLike

_INDEX = re.compile(r"(?P<pattern>.*?)\[(?P<index>\s*-?\d+\s*(,\s*-?\d+\s*)*)\]")


class Selection(NamedTuple):
    """A weight, or the part of it at an index.

    Attributes:
      name: of the weight.
      number: which of the trainable weights it is.
      index: tuple of integers, its first axes; empty for the whole weight.
      shape: of the part; empty for one entry.
    """

    name: str
    number: int
    index: tuple[int, ...]
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        """The name, with the index where there is one."""
        return f"{self.name}[{', '.join(map(str, self.index))}]" if self.index else self.name

    def of(self, theta: Sequence[ArrayLike]) -> np.ndarray:
        """The part of a list of weights."""
        return np.asarray(theta[self.number])[self.index]

    def entries(self) -> Iterator[Selection]:
        """The `Selection` of each entry."""
        for rest in np.ndindex(*self.shape):
            yield Selection(self.name, self.number, self.index + rest, ())


def select(named_weights: Sequence[tuple[str, keras.Variable]], patterns: str | Sequence[str]) -> list[Selection]:
    """The weights that patterns choose; none twice, those without entries left out.

    Args:
      named_weights: pairs (name, variable), as `GenerativeNetwork.named_weights`.
      patterns: list of strings, or one: a regular expression that is searched in the names, as those of priors are;
        integers in brackets behind it are an index into the weight.

    Raises:
      ValueError: for a pattern that is found in no name, an index out of range, brackets that may be an index or a
        class of characters, or what is no pattern.
    """
    found = {}
    try:
        patterns = [patterns] if isinstance(patterns, str) else list(patterns)
    except TypeError:
        raise ValueError(f"Patterns of weight names are strings, in a list. Received: {patterns!r}") from None
    for text in patterns:
        for selection in _of_pattern(named_weights, text):
            found[selection.label] = selection
    return [selection for selection in found.values() if np.prod(selection.shape)]


def _may_be_a_class(text, pattern, named_weights):
    """Whether a pattern with an index is found in a name as it stands, its brackets a class of characters; not where
    what stands before the index is a name."""
    names = [name for name, _ in named_weights]
    return pattern not in names and any(re.search(text, name) for name in names)


def _of_pattern(named_weights, text):
    if not isinstance(text, str):
        raise ValueError(f"A pattern of weight names is a string. Received: {text!r}")
    match = _INDEX.fullmatch(text)
    pattern = match["pattern"] if match else text
    index = tuple(int(part) for part in match["index"].split(",")) if match else ()
    try:
        matching = [i for i, (name, _) in enumerate(named_weights) if re.search(pattern, name)]
    except re.error as error:
        raise ValueError(f"Patterns of weight names are regular expressions ({error}). Received: {text!r}") from None
    if match and len(index) == 1 and min(index) >= 0 and _may_be_a_class(text, pattern, named_weights):
        raise ValueError(
            "Brackets at the end are an index, and here a class of characters too; write such as (0|1) for that, and "
            f"for an index the whole name before it. Received: {text!r}"
        )
    if not matching:
        names = [name for name, _ in named_weights]
        raise ValueError(f"A pattern must be found in a weight's name; they are {names}. Received: {text!r}")
    for i in matching:
        name, shape = named_weights[i][0], tuple(named_weights[i][1].shape)
        if len(index) > len(shape) or any(not -size <= place < size for place, size in zip(index, shape)):
            raise ValueError(f"The index must be one into {name!r} of shape {shape}. Received: {text!r}")
        place = tuple(part % size for part, size in zip(index, shape))
        yield Selection(name, i, place, shape[len(index) :])
