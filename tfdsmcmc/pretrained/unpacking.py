"""ZIP archives unpacked safely: what is in them is looked at before anything is written."""

from __future__ import annotations

import io
import pathlib
import stat
import zipfile
import zlib

_MOST = 10_000  # files


def unpack(content: bytes, folder: pathlib.Path, unpacked: int) -> dict[str, tuple[int, int]]:
    """Writes the files of an archive below a folder.

    Args:
      content: the archive.
      folder: made; nothing is there yet.
      unpacked: bytes that its files have in all.

    Returns:
      {name: (bytes, CRC-32)}.

    Raises:
      ValueError: for what is no whole archive, or has anything but regular files of relative names below the folder, a
        name twice, or more or fewer bytes. Where its directory says so, nothing is written.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check(entries, unpacked)
            for entry in entries:
                target = folder.joinpath(*entry.filename.split("/"))
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(archive.read(entry))  # no more bytes than the directory states, and of its CRC
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise ValueError(f"Not a whole ZIP archive ({error}). Received: {len(content):,} bytes") from error
    return {entry.filename: (entry.file_size, entry.CRC) for entry in entries}


def _check(entries, unpacked):
    """Raises a ValueError for an archive that is not to be unpacked."""
    if len(entries) > _MOST:
        raise ValueError(f"An archive of a release has at most {_MOST:,} files. Received: {len(entries):,}")
    seen = set()
    for entry in entries:
        name, kind = entry.filename, stat.S_IFMT(entry.external_attr >> 16)
        if not _is_plain(name):
            raise ValueError(f"An archive of a release has relative names of files alone. Received: {name!r}")
        if kind not in (0, stat.S_IFREG):
            raise ValueError(f"An archive of a release has regular files alone. Received: {name!r}, a link or the like")
        if name.lower() in seen:  # on a disk without cases the second would overwrite the first
            raise ValueError(f"An archive of a release has each name once. Received: {name!r} twice")
        seen.add(name.lower())
    size = sum(entry.file_size for entry in entries)
    if size != unpacked:
        raise ValueError(f"The archive is to unpack to {unpacked:,} bytes. Received: one of {size:,} bytes")


def _is_plain(name):
    """Whether a name is a/b/c, of parts that are names on every system."""
    parts = name.split("/")
    return all(part not in ("", ".", "..") and not set(part) & set('\\:*?"<>|\0') for part in parts)
