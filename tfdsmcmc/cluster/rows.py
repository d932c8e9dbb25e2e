"""Rows by a name that every worker can open: a dataset, a file, or an array that travels."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

from tfdsmcmc import datasets

if TYPE_CHECKING:
    from tfdsmcmc.rows.from_users import RowsLike

_SPLITS = ("train", "valid", "test", "train_and_valid")


def is_file(rows: str | pathlib.Path) -> bool:
    """Whether a name is the path of a file, and not a dataset that a folder beside has the name of."""
    path = pathlib.Path(rows)
    return bool(path.suffix) and path.exists()


def opened(rows: RowsLike | str, split: str = "train") -> Any:
    """The rows that a name stands for.

    Args:
      rows: a dataset's name, "digits", or with its split, "digits:test"; the path of a file that `datasets.open` maps;
        or rows as `fit` takes them, which travel to each worker.
      split: of a dataset where the name has none.

    Raises:
      ValueError: for a split that there is not, or a name that nothing is known of.
    """
    if not isinstance(rows, (str, pathlib.Path)):
        return rows
    if is_file(rows):
        return datasets.open(pathlib.Path(rows))
    name, _, own = str(rows).partition(":")
    split = own or split
    if split not in _SPLITS:
        raise ValueError(f"A split is one of {list(_SPLITS)}. Received: rows={str(rows)!r}")
    return getattr(datasets.load(name), split)
