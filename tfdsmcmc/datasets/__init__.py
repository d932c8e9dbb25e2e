"""Benchmark data of the density-estimation literature: find, download, binarize, pack; and rows beyond memory."""

from tfdsmcmc.datasets.finding import Dataset, Labels, load, names
from tfdsmcmc.datasets.grey_rows import GreyRows
from tfdsmcmc.datasets.mapped_rows import MappedRows
from tfdsmcmc.datasets.opening import open
from tfdsmcmc.datasets.packed import pack

__all__ = ["Dataset", "GreyRows", "Labels", "MappedRows", "load", "names", "open", "pack"]
