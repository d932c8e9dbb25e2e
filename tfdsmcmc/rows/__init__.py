"""Rows of data, whatever they come from and whether or not entries are missing."""

from tfdsmcmc.rows.array_source import ArraySource, kept
from tfdsmcmc.rows.context import Context
from tfdsmcmc.rows.context_source import ContextSource
from tfdsmcmc.rows.dataset_source import DatasetSource
from tfdsmcmc.rows.file_source import FileSource
from tfdsmcmc.rows.from_users import complete_rows, rows_in_memory, rows_of, source_of
from tfdsmcmc.rows.groups import groups
from tfdsmcmc.rows.redrawn_source import RedrawnSource
from tfdsmcmc.rows.rows import Rows, as_rows, mean_over_rows
from tfdsmcmc.rows.shard import Shard
from tfdsmcmc.rows.source import RandomAccessSource, Source
from tfdsmcmc.rows.weighted_source import WeightedSource, weighted

__all__ = [
    "ArraySource",
    "Context",
    "ContextSource",
    "DatasetSource",
    "FileSource",
    "RandomAccessSource",
    "RedrawnSource",
    "Rows",
    "Shard",
    "Source",
    "WeightedSource",
    "as_rows",
    "complete_rows",
    "groups",
    "kept",
    "mean_over_rows",
    "rows_in_memory",
    "rows_of",
    "source_of",
    "weighted",
]
