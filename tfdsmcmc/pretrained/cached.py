"""Unpacked releases in a cache: a folder for each digest, whole or not there.

    CACHE/SHA256/                 the files of the archive
    CACHE/SHA256/contents.json    their names, bytes and CRC-32, by which each load sees that they are as they were
"""

from __future__ import annotations

import json
import os
import pathlib
import zlib
from typing import TYPE_CHECKING

from tfdsmcmc import files
from tfdsmcmc.datasets import downloading
from tfdsmcmc.pretrained import sources, unpacking

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.pretrained.catalogue import Release

_CONTENTS = "contents.json"


def folder_of(release: Release, source: FilePath | None, cache: FilePath | None) -> pathlib.Path:
    """The folder with the files of a release, fetched and unpacked unless it is there.

    Args:
      release: `Release`.
      source: as `load` takes it.
      cache: folder; by default one in the Keras cache.

    Raises:
      ValueError: as `load`.
    """
    if cache is not None and (not isinstance(cache, (str, os.PathLike)) or "\0" in str(cache)):
        raise ValueError(f"cache is a folder. Received: cache={cache!r}")
    folder = pathlib.Path(downloading.cache("models") if cache is None else cache) / release.sha256
    try:
        if not _is_there(folder):
            with files.claimed(folder, wait=True):  # another process may have been quicker
                if not _is_there(folder):
                    _fill(folder, release, source)
        _check(folder)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ValueError(
            f"The cache cannot be used ({reason}); pass cache=…, a folder to write to. Received: cache={folder.parent}"
        ) from error
    return folder


def _is_there(folder):
    return (folder / _CONTENTS).exists()


def _fill(folder, release, source):
    if folder.is_dir() and any(folder.iterdir()):  # a claim that failed may have removed it
        raise _damaged(folder, f"no {_CONTENTS}")
    try:
        content = sources.read(release, source)
        with files.replacing(folder) as temporary:
            temporary.mkdir()
            contents = unpacking.unpack(content, temporary, release.unpacked)
            files.write_json(temporary / _CONTENTS, contents)
    except BaseException:
        _remove_empty(folder)  # which the claim has made
        raise


def _remove_empty(folder):
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _check(folder):
    """Raises a ValueError for a folder whose files are not those that were unpacked."""
    try:
        contents = json.loads((folder / _CONTENTS).read_text(encoding="utf-8"))
        known = {name: (int(size), int(crc)) for name, (size, crc) in contents.items()}
    except (ValueError, TypeError, AttributeError, IsADirectoryError) as error:
        raise _damaged(folder, f"{_CONTENTS} cannot be read") from error
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    if others := sorted(name for name in found - {*known, _CONTENTS} if not pathlib.Path(name).name.startswith(".")):
        raise _damaged(folder, f"{others[0]} is not of it")
    for name, expected in known.items():
        try:
            content = (folder / name).read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            raise _damaged(folder, f"no file {name}") from None
        if (len(content), zlib.crc32(content)) != expected:
            raise _damaged(folder, f"{name} is cut or has changed")


def _damaged(folder, what):
    return ValueError(
        f"A release in the cache is not as it was unpacked ({what}): delete its folder, and it is unpacked anew. "
        f"Received: {folder}"
    )
