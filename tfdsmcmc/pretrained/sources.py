"""The bytes of a release, from a folder or an address; they are the released ones, or there are none."""

from __future__ import annotations

import hashlib
import os
import pathlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.pretrained.catalogue import Release

SOURCE = "TFDSMCMC_PRETRAINED"  # of the environment
_SCHEMES = ("https://", "http://")
_SECONDS = 60.0  # that a server may be silent


def read(release: Release, source: FilePath | None) -> bytes:
    """The archive of a release, its digest verified.

    Args:
      release: `Release`.
      source: folder, or the address below which the file is; by default what the environment says.

    Raises:
      ValueError: where there is no source, no such file in it, or a file that is cut, longer, or another.
    """
    source = source_of(release, source)
    found = _from_address(release, str(source)) if is_address(source) else _from_folder(release, pathlib.Path(source))
    if len(found) < release.size:
        raise ValueError(
            f"The file is cut: {release.file} has {release.size:,} bytes; fetch it anew. "
            f"Received: {len(found):,} bytes from {source}"
        )
    digest = hashlib.sha256(found).hexdigest()
    if digest != release.sha256:
        raise ValueError(
            f"Not the released {release.file}, whose SHA-256 is {release.sha256}: nothing of it is unpacked. "
            f"Received: {'a longer file' if len(found) > release.size else digest} from {source}"
        )
    return found


def source_of(release: Release, source: FilePath | None) -> FilePath:
    """Where to look for a release.

    Raises:
      ValueError: where nothing says it, or says something else than a folder or an address.
    """
    given = source if source is not None else os.environ.get(SOURCE)
    if not given:
        raise ValueError(
            f"Say where {release.file} is, a folder or the address of one: load({release.name!r}, source=…), or "
            f"${SOURCE}. `python -m experiments.pretrained` of the repository makes such a folder, and "
            "`python -m experiments.pretrained.page --released` tells the package of it. "
            f"Received: source={source!r}"
        )
    odd = "\0" in str(given) or ("://" in str(given) and not is_address(given))
    if odd or not isinstance(given, (str, os.PathLike)):
        raise ValueError(f"source is a folder, or an address {' or '.join(_SCHEMES)}. Received: source={given!r}")
    return given


def is_address(source: FilePath) -> bool:
    """Whether a source is an address, not a folder."""
    return isinstance(source, str) and source.lower().startswith(_SCHEMES)


def _from_folder(release, folder):
    try:
        with open(folder / release.file, "rb") as file:
            return file.read(release.size + 1)
    except OSError as error:
        raise ValueError(
            f"The folder has no file {release.file} that can be read ({error.strerror}). "
            f"Received: source={str(folder)!r}"
        ) from None


def _from_address(release, address):
    import http.client
    import urllib.request

    url = f"{address.rstrip('/')}/{release.file}"
    try:
        with urllib.request.urlopen(url, timeout=_SECONDS) as answer:
            return answer.read(release.size + 1)
    except (OSError, ValueError, http.client.HTTPException) as error:
        raise ValueError(f"{url} cannot be had ({error}). Received: source={address!r}") from None
