"""The record of a run's epochs beside its samples: a line for each, added where the epoch ends.

    PATH/history.jsonl    {"chain": …, "beginning": …, "writer": …, "visit": …}
                          [step, epoch, validation log-likelihood, whether sampled, checksum of the weights]
                          …

The first line says whose record it is. The first epoch's end of a `fit` writes the file whole, under a temporary name
that is renamed: the records so far, without those after the step that the run goes on from. Each later end adds its
line and flushes it to the disk, which costs the same however many there are.

A kill leaves the last line whole, torn or out. A torn one is left out where the file is read, and gone with the next
whole file. A line that finds no room is taken back.

Two runs in one folder are told by the file's length and by its two ends, 512 bytes each: whoever writes looks whether
they are as it left them. The first line is within them, and each whole file has a `visit` of its own in it. What lies
between the ends is not read again.

Before, the whole record was one object, PATH/history.json. It is read where there is no other, and goes with the first
whole file.
"""

from __future__ import annotations

import json
import os
import pathlib
import secrets
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc import files

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

_BLOCK = 512  # bytes of each end that are looked at; the first line has fewer


class Head(NamedTuple):
    """Whose a record is.

    Attributes:
      chain: identity of the run, an integer; None where there is no record.
      beginning: checksum of what the run began with, or None.
      writer: the process that wrote last, as `files.writer` names it, or None.
    """

    chain: int | None = None
    beginning: str | None = None
    writer: str | None = None


class History:
    """The record in a folder. `read` comes first; whoever calls keeps others out by `files.locked`.

    Args:
      folder: of the samples; made by the first `add`, if missing.
    """

    def __init__(self, folder: FilePath):
        self._path = pathlib.Path(folder) / "history.jsonl"
        self._former = pathlib.Path(folder) / "history.json"
        self._seen, self._is_ours = None, False

    def read(self) -> tuple[Head, list[Any]]:
        """What the folder has.

        Returns:
          (`Head`, list of records), empty where there is none.

        Raises:
          ValueError: for a file that is none of these, other than by a torn last line.
        """
        path = self._present()
        content = None if path is None else path.read_bytes()
        self._seen, self._is_ours = None if path is None else _ends(path, content), False
        if path is None:
            return Head(), []
        try:
            head, records = _of_object(content) if path == self._former else _of_lines(content)
            found = Head(*(head.get(name) for name in Head._fields))
            if not all(isinstance(record, list) and len(record) >= 3 for record in records):
                raise ValueError("a record that is no list of three entries or more")
        except (ValueError, TypeError, AttributeError) as error:
            raise ValueError(f"The collector's history cannot be read ({error}). Received: {path}") from None
        return found, records

    def is_as_left(self) -> bool:
        """Whether the record is as it was read, or written, last."""
        path = self._present()
        return self._seen == (None if path is None else _ends(path))

    def add(self, head: Head, records: Sequence[Any]) -> None:
        """Adds the last record; the first time after `read`, writes all of them.

        Args:
          head: `Head`, looked at the first time alone.
          records: list of all records, the last one new.

        Raises:
          OSError: where the disk has no room; the file is as it was.
        """
        if self._is_ours and _is_plain(self._path):
            self._append(_line(records[-1]))
            return
        lines = [_line({**head._asdict(), "visit": secrets.token_hex(4)}), *map(_line, records)]
        content = b"".join(lines)
        with files.replacing(self._path) as temporary:
            temporary.write_bytes(content)
        self._former.unlink(missing_ok=True)
        self._seen, self._is_ours = _ends(self._path, content), True

    def warn_of_forgotten(self, records: Sequence[Any]) -> None:
        """Warns of records that are another run's, and that the present one does not go on from."""
        warnings.warn(
            f"The folder {self._path.parent} holds {len(records)} epochs of a run that ended before its first sample, "
            "and that this one does not go on from: they are forgotten.",
            stacklevel=3,
        )

    def _append(self, line):
        with open(self._path, "r+b", buffering=0) as file:
            size, left = file.seek(0, os.SEEK_END), line
            try:
                while left:
                    left = left[file.write(left) :]
                os.fsync(file.fileno())
            except BaseException:
                file.truncate(size)
                raise
        name, size, first, last = self._seen
        self._seen = name, size + len(line), (first + line)[:_BLOCK], (last + line)[-_BLOCK:]

    def _present(self):
        """The file that counts, or None; a link to nothing is none."""
        return next((path for path in (self._path, self._former) if path.exists()), None)


def _line(content):
    return json.dumps(content).encode() + b"\n"


def _of_lines(content):
    """(head, records) of lines; what a torn last one has is left out."""
    head, *lines = content.split(b"\n")[:-1] or [b""]
    records = []
    for i, line in enumerate(lines):
        try:
            records.append(json.loads(line))
        except ValueError:
            if i < len(lines) - 1:
                raise
    return json.loads(head), records


def _of_object(content):
    """(head, records) of one object."""
    stored = json.loads(content)
    return stored, stored.get("records", [])


def _ends(path, content=None):
    """(name, length, first bytes, last bytes) of a file, or of the content it has."""
    if content is not None:
        return path.name, len(content), content[:_BLOCK], content[-_BLOCK:]
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        first = file.read(_BLOCK)
        file.seek(max(0, size - _BLOCK))
        return path.name, size, first, file.read(_BLOCK)


def _is_plain(path):
    """Whether a file is a file of its own, and no link to one: what a link leads to is not written."""
    return not path.is_symlink() and path.stat().st_nlink == 1
