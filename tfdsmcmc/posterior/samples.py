"""The samples of a folder as a sequence, each read from disk when it is asked for."""

from __future__ import annotations

import collections.abc
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, overload

from tfdsmcmc.posterior import store

if TYPE_CHECKING:
    import pathlib


class Samples(collections.abc.Sequence[store.Sample]):
    """Samples on disk.

    Args:
      paths: their files.
      chains: the number of the chain of each.

    Attributes:
      paths: as given, a list.
      chains: as given, a list.
    """

    def __init__(self, paths: Iterable[pathlib.Path], chains: Iterable[int]):
        self.paths: list[pathlib.Path] = list(paths)
        self.chains: list[int] = list(chains)

    def __len__(self) -> int:
        return len(self.paths)

    @overload
    def __getitem__(self, index: int) -> store.Sample: ...
    @overload
    def __getitem__(self, index: slice) -> Samples: ...
    def __getitem__(self, index: int | slice) -> store.Sample | Samples:
        if isinstance(index, slice):
            return Samples(self.paths[index], self.chains[index])
        return store.read_sample(self.paths[index])._replace(chain=self.chains[index])

    def take(self, indices: Iterable[int]) -> Samples:
        """The samples at a list of places."""
        return Samples([self.paths[i] for i in indices], [self.chains[i] for i in indices])


def chain_of(sample: object) -> int:
    """The number of a sample's chain; a sample that states none is of chain 0."""
    return int(getattr(sample, "chain", 0))


def cut(chains: Sequence[int], part: slice) -> list[int]:
    """The places, in rising order, of the draws that a slice leaves of each chain.

    Args:
      chains: the number of the chain of each sample.
      part: slice.

    Raises:
      ValueError: for a slice of anything but integers, or of the step 0.
    """
    try:
        part.indices(0)
    except (TypeError, ValueError):
        raise ValueError(f"A slice is of integers, and its step is not 0. Received: {part}") from None
    return sorted(i for places in places_of(chains).values() for i in places[part])


def places_of(chains: Sequence[int]) -> dict[int, list[int]]:
    """The places of each chain's samples, by the chain's number in rising order."""
    found: dict[int, list[int]] = {chain: [] for chain in sorted(set(chains))}
    for place, chain in enumerate(chains):
        found[chain].append(place)
    return found
