"""The draws of a posterior and the chains that they are of, and parts of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdsmcmc._common import checks
from tfdsmcmc.posterior.averages import check_average, parts_of
from tfdsmcmc.posterior.samples import Samples, chain_of, cut, places_of
from tfdsmcmc.rows.source import spread

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Average, FilePath
    from tfdsmcmc.posterior.store import Sample


class Draws:
    """Samples of the weights, cut by slices and by chains; a part is of the same class.

    Args:
      folder: where they are; None for samples in memory.
      samples: sequence of `store.Sample`, by step and then by chain.
      average: of `averages.AVERAGES`.
      starts: list of `store.Sample`, the best weights of the climbs of its warm starts, each chain's; empty for none.
    """

    samples: Sequence[Sample]
    average: Average
    __iter__ = None  # its parts are the samples

    def __init__(
        self,
        folder: FilePath | None,
        samples: Sequence[Sample],
        average: Average = "weights",
        starts: Sequence[Sample] = (),
    ):
        check_average(average)
        self._folder = folder
        self.samples = samples
        self.average = average
        self.starts: list[Sample] = list(starts)

    def __getitem__(self, index: slice) -> Self:
        if not isinstance(index, slice):
            raise ValueError(f"A posterior is cut by slices; samples[i] is one sample. Received: index={index!r}")
        return self._subset(cut(self.chain_numbers, index), f"the slice {index}")

    @property
    def chain_numbers(self) -> list[int]:
        """The number of the chain of each sample, a list."""
        if isinstance(self.samples, Samples):
            return self.samples.chains
        return [chain_of(sample) for sample in self.samples]

    @property
    def num_chains(self) -> int:
        """The number of chains that the samples are of."""
        return len(set(self.chain_numbers))

    def chain(self, number: int) -> Self:
        """The draws of one chain.

        Args:
          number: of the chain, counted from 0.

        Raises:
          ValueError: if there is no sample of it.
        """
        number = checks.nonnegative_integer("number", number)
        places = [i for i, found in enumerate(self.chain_numbers) if found == number]
        return self._subset(places, f"the number {number}, with samples of {sorted(set(self.chain_numbers))}")

    def thin(self, every: int) -> Self:
        """Every `every`-th draw of each chain, from the first on.

        Args:
          every: positive integer.

        Raises:
          ValueError: for another number.
        """
        return self[:: checks.positive_integer("every", every)]

    def thin_to(self, draws: int) -> Self:
        """At most so many draws of each chain, evenly spaced; all of a chain that has no more.

        Args:
          draws: positive integer.

        Raises:
          ValueError: for another number.
        """
        draws = checks.positive_integer("draws", draws)
        chains = places_of(self.chain_numbers).values()
        places = (own[i] for own in chains for i in spread(len(own), min(draws, len(own))))
        return self._subset(sorted(places), f"draws={draws}")

    def parts(self, average: Average) -> list[Self]:
        """For each component of an average a posterior with what the component is made of, and nothing else.

        Args:
          average: of `averages.AVERAGES`.

        Raises:
          ValueError: for another name.
        """
        check_average(average)
        average, with_start = parts_of(average)
        if with_start:
            return [*self.parts(average), *self.parts("start")]
        if average == "start":
            places, starts = [[0] for _ in self.starts], [[start] for start in self.starts]
        else:
            each = average == "draws"
            places = [[i] for i in range(len(self.samples))] if each else list(places_of(self.chain_numbers).values())
            starts = [[] for _ in places]
        parts = [self._subset(own, "a component") for own in places]
        for part, own in zip(parts, starts, strict=True):
            part.average, part.starts = average, own
        return parts

    def _subset(self, indices, what):
        if not indices:
            raise ValueError(f"A posterior has at least one sample. Received: {what}, which leaves none")
        samples = self.samples
        chosen = samples.take(indices) if isinstance(samples, Samples) else [samples[i] for i in indices]
        part = type(self)(self._folder, chosen, self.average)
        chains = set(part.chain_numbers)
        part.starts = [start for start in self.starts if start.chain in chains]
        return part
