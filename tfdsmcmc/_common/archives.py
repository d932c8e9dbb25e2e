"""Archives and files that would unpack to far more than they are, refused before anything is unpacked.

A few kilobytes of ZIP may unpack to all of the memory. What an honest archive of this package unpacks to is at most
some tens of times its size; so one is refused that unpacks to more than 1 GiB and to more than 100 times its size. A
reader of ZIP gives no entry more bytes than its directory states, so the directory can be relied on.
"""

from __future__ import annotations

import os
import zipfile

import numpy as np

_FREE, _RATIO = 2**30, 100  # bytes, and times the size, that any archive may unpack to


def check(path: str | os.PathLike[str]) -> None:
    """Looks at the directory of a ZIP archive, such as NAME.npz or NAME.keras; what is none is left to its reader.

    Raises:
      ValueError: for an archive that would unpack to far more than it is.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            unpacked = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return
    size = os.path.getsize(path)
    if unpacked > max(_FREE, _RATIO * size):
        raise ValueError(f"An archive that would unpack to {unpacked:,} bytes. Received: {path}, of {size:,} bytes")


def array(stored: np.lib.npyio.NpzFile, name: str) -> np.ndarray:
    """An array of an open .npz; NumPy hands out bytes where the entry is none.

    Raises:
      KeyError: where there is no entry of this name.
      ValueError: for one that is no array.
    """
    found = stored[name]
    if not isinstance(found, np.ndarray):
        raise ValueError(f"{name} is no array. Received: {len(found):,} bytes")
    return found
