"""Tables of numbers in files, with empty cells where an entry is missing.

    .csv    comma-separated, with or without a line of column names
    .npz    an array x (or one array of any name), and perhaps mask, True where an entry is observed

Missing is nan and, in a .csv, an empty cell, NA, N/A, <NA>, null or none.
"""

from __future__ import annotations

import csv
import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdsmcmc import files
from tfdsmcmc._common import archives

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

SUFFIXES: tuple[str, ...] = (".csv", ".npz")
_MISSING = ("", "na", "n/a", "<na>", "nan", "null", "none")


class Table(NamedTuple):
    """Rows of numbers.

    Attributes:
      x: (n, D) float64, nan where an entry is missing.
      mask: (n, D), True where an entry is observed; None for all that is not nan.
      header: the columns' names, a list; None without.
    """

    x: np.ndarray
    mask: np.ndarray | None
    header: list[str] | None

    @property
    def known(self) -> np.ndarray:
        """x with nan wherever it is not observed."""
        return self.x if self.mask is None else np.where(self.mask, self.x, np.nan)


def check_name(path: FilePath) -> pathlib.Path:
    """The path, if its name ends in one of the suffixes.

    Raises:
      ValueError: otherwise.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"The file's name must end in {' or '.join(SUFFIXES)}. Received: {path}")
    return path


def read(path: FilePath, header: bool | None = None) -> Table:
    """Reads a table.

    Args:
      path: its file.
      header: whether the first line of a .csv has the columns' names; None for True where it has words and no numbers,
        or the numbers 0, 1, …, as pandas writes them for columns without names.

    Raises:
      ValueError: for a file that is missing, damaged or no table of numbers, a first line of numbers and words, an
        .npz with a header, or one that would unpack to far more than it is.
    """
    path = check_name(path)
    if not path.is_file():
        raise ValueError(f"No such file. Received: {path}")
    if header is not None and path.suffix != ".csv":
        raise ValueError(f"Column names are of a .csv. Received: --{'' if header else 'no-'}header with {path}")
    return _read_npz(path) if path.suffix == ".npz" else _read_csv(path, header)


def write_csv(
    path: FilePath, x: np.ndarray, header: Sequence[str] | None, integers: bool, known: np.ndarray | None = None
) -> None:  # fmt: skip
    """Writes rows as a .csv; integers without a point, other numbers so that they are read back exactly.

    Args:
      path: of the file.
      x: (n, D), in float32.
      header: the columns' names, or None.
      integers: whether all entries are.
      known: (m, D) float64, for m rows after each other what to write in place of x, nan for none; or None.
    """
    known = np.full((1, 1), np.nan) if known is None else known

    def text(value, known):
        value = np.float32(value) if np.isnan(known) else known
        return str(round(value)) if integers else np.format_float_positional(value, trim="0")

    with files.replacing(path) as temporary, open(temporary, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if header:
            writer.writerow(header)
        for number, row in enumerate(x):
            writer.writerow([text(*pair) for pair in np.broadcast(row, known[number % len(known)])])


def write_npz(path: FilePath, **arrays: np.ndarray) -> None:
    """Writes arrays as an .npz."""
    with files.replacing(path) as temporary:
        np.savez_compressed(temporary, **arrays)


def _read_npz(path):
    archives.check(path)
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: archives.array(file, name) for name in file.files}
    except Exception as error:  # damaged files fail in many ways, down to the tokens of a header
        raise ValueError(f"Not a whole .npz file of numbers ({error}). Received: {path}") from error
    mask = arrays.pop("mask", None)
    x = arrays.get("x", next(iter(arrays.values())) if len(arrays) == 1 else None)
    if x is None or len(arrays) > 1:
        raise ValueError(
            "The file has an array x, or one array, and perhaps an array mask. "
            f"Received: {path} with {sorted([*arrays, *(['mask'] if mask is not None else [])])}"
        )
    if x.ndim != 2 or x.dtype.kind not in "biuf":
        raise ValueError(f"x must be a table of numbers. Received: {x.dtype} of shape {x.shape} in {path}")
    return Table(x.astype(np.float64), mask, None)


def _read_csv(path, header):
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = list(enumerate(csv.reader(file, strict=True), 1))
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"Not a .csv file ({error}). Received: {path}") from error
    width = max((len(row) for _, row in lines), default=0)
    # an empty line is an empty cell of a single column, and nothing else
    lines = [(number, row or [""]) for number, row in lines if row or width == 1]
    if width == 1 and lines and (";" in lines[0][1][0] or "\t" in lines[0][1][0]):
        raise ValueError(f"Cells are separated by commas. Received: {lines[0][1][0]!r} in {path}")
    names = lines.pop(0)[1] if lines and (_are_names(lines[0][1], path) if header is None else header) else None
    if not lines:
        raise ValueError(f"The table has no rows. Received: {path}")
    width = len(names or lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"Every line must have {width} cells. Received: {len(row)} in line {number} of {path}")
    return Table(np.array([[_number(cell, number, path) for cell in row] for number, row in lines]), None, names)


def are_places(cells: Sequence[str]) -> bool:
    """Whether cells are 0, 1, 2 and on, as Pandas writes the names of columns that have none."""
    return len(cells) > 2 and list(cells) == [str(i) for i in range(len(cells))]


def _are_names(cells, path):
    """Whether the cells of the first line are the columns' names."""
    if are_places(cells):
        return True
    words = [_is_word(cell) for cell in cells]
    numbers = [not word and cell.strip().lower() not in _MISSING for word, cell in zip(words, cells)]
    if any(words) and any(numbers):
        found = f"{cells[words.index(True)]!r} beside {cells[numbers.index(True)]!r} in {path}"
        raise ValueError(f"The first line has words and numbers; say --header or --no-header. Received: {found}")
    return any(words)


def _number(cell, line, path):
    if cell.strip().lower() in _MISSING:
        return np.nan
    if _is_word(cell):
        raise ValueError(f"A cell is a number or empty. Received: {cell!r} in line {line} of {path}")
    return float(cell)


def _is_word(cell):
    if cell.strip().lower() in _MISSING:
        return False
    try:
        float(cell)
    except ValueError:
        return True
    return "_" in cell  # which Python passes over: 2019_1 would be 20191
