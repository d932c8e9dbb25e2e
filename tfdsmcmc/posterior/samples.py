"""The samples of a folder as a sequence, each read from disk when it is asked for."""

from __future__ import annotations

import collections.abc

from tfdsmcmc.posterior import store


class Samples(collections.abc.Sequence):
    """Samples on disk.

    Args:
      paths: their files.
      chains: the number of the chain of each.
      label: of the network given which they are, for samples with biases for each label; None as they are kept.

    Attributes:
      paths: as given, a list.
      chains: as given, a list.
      label: as given.
    """

    def __init__(self, paths, chains, label=None):
        self.paths = list(paths)
        self.chains = list(chains)
        self.label = label

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Samples(self.paths[index], self.chains[index], self.label)
        sample = store.read_sample(self.paths[index])
        return sample if self.label is None else sample.given_label(self.label)

    def take(self, indices):
        """The samples at a list of places."""
        return Samples([self.paths[i] for i in indices], [self.chains[i] for i in indices], self.label)

    def given_label(self, label):
        """The samples of the network given a label."""
        return Samples(self.paths, self.chains, label)


def chain_of(sample):
    """The number of a sample's chain; a sample that states none is of chain 0."""
    return int(getattr(sample, "chain", 0))


def cut(chains, part):
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
    draws = [[i for i, number in enumerate(chains) if number == chain] for chain in set(chains)]
    return sorted(i for places in draws for i in places[part])
