"""Tables of numbers in files, with empty cells where an entry is missing.

.csv    comma-separated, with or without a line of column names; a missing entry is an empty cell, NA or nan
.npz    an array x (or one array of any name), with nan where an entry is missing, and perhaps mask, True = observed
"""

from __future__ import annotations

import csv
import os
import pathlib
import zipfile
from typing import NamedTuple

import numpy as np

SUFFIXES = (".csv", ".npz")
_MISSING = ("", "na", "nan")


class Table(NamedTuple):
    """Rows of numbers.

    Attributes:
      x: (n, D) float64, nan where an entry is missing.
      mask: (n, D), True where an entry is observed; None for all that is not nan.
      header: the columns' names, a list; None without.
    """

    x: np.ndarray
    mask: np.ndarray | None
    header: list | None


def check_name(path):
    """The path, if its name ends in one of the suffixes.

    Raises:
      ValueError: otherwise.
    """
    path = pathlib.Path(path)
    if path.suffix not in SUFFIXES:
        raise ValueError(f"The file's name must end in {' or '.join(SUFFIXES)}. Received: {path}")
    return path


def read(path) -> Table:
    """Reads a table.

    Raises:
      ValueError: for a file that is missing, damaged or no table of numbers.
    """
    path = check_name(path)
    if not path.is_file():
        raise ValueError(f"No such file. Received: {path}")
    return _read_npz(path) if path.suffix == ".npz" else _read_csv(path)


def write_csv(path, x, header, integers):
    """Writes rows (n, D) as a .csv; integers without a point, other numbers so that they are read back exactly."""
    text = (lambda v: str(int(v))) if integers else (lambda v: np.format_float_positional(np.float32(v), trim="0"))

    def write(temporary):
        with open(temporary, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, lineterminator="\n")
            if header:
                writer.writerow(header)
            writer.writerows([text(value) for value in row] for row in x)

    _replace(path, write)


def write_npz(path, **arrays):
    """Writes arrays as an .npz."""
    _replace(path, lambda temporary: np.savez_compressed(temporary, **arrays))


def _replace(path, write):
    """Writes to a temporary name and renames."""
    path = pathlib.Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        write(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read_npz(path):
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"Not a whole .npz file of numbers ({error}). Received: {path}") from error
    mask = arrays.pop("mask", None)
    x = arrays.get("x", next(iter(arrays.values())) if len(arrays) == 1 else None)
    if x is None:
        raise ValueError(f"The file has an array x, or one array. Received: {path} with {sorted(arrays)}")
    if x.ndim != 2 or x.dtype.kind not in "biuf":
        raise ValueError(f"x must be a table of numbers. Received: {x.dtype} of shape {x.shape} in {path}")
    return Table(x.astype(np.float64), mask, None)


def _read_csv(path):
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            lines = [(number, row) for number, row in enumerate(csv.reader(file, strict=True), 1) if row]
    except (UnicodeDecodeError, csv.Error) as error:
        raise ValueError(f"Not a .csv file ({error}). Received: {path}") from error
    header = None
    if lines and any(_is_word(cell) for cell in lines[0][1]):
        header = lines.pop(0)[1]
    if not lines:
        raise ValueError(f"The table has no rows. Received: {path}")
    width = len(header or lines[0][1])
    for number, row in lines:
        if len(row) != width:
            raise ValueError(f"Every line must have {width} cells. Received: {len(row)} in line {number} of {path}")
    return Table(np.array([[_number(cell, number, path) for cell in row] for number, row in lines]), None, header)


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
    return False
