"""Benchmark data of the density-estimation literature: find, download, binarize, pack."""

from tfdsmcmc.datasets.finding import Dataset, load, names
from tfdsmcmc.datasets.packed import pack

__all__ = ["Dataset", "load", "names", "pack"]
