"""From a published original to a packed file in the Keras cache."""

from __future__ import annotations

import os
import pathlib
import tempfile

from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.datasets import packed
from tfdsmcmc.datasets.originals import ORIGINALS, verify
from tfdsmcmc.datasets.packed import SPLITS


def cache(kind: str = "datasets") -> pathlib.Path:
    """The folder of packed files inside the Keras cache; with `kind` "models" that of released models."""
    home = os.environ.get("KERAS_HOME") or pathlib.Path.home() / ".keras"
    return pathlib.Path(home) / kind / "tfdsmcmc"


def download(name: str) -> str:
    """Verifies and packs a known dataset.

    Its original files are taken from the folder originals/NAME of the cache where somebody has put them, otherwise
    downloaded from the first of its sources that answers. What a source that answers has must be right: wrong rows are
    never passed over for the next source. (A file without its published digest counts as no answer.) Downloaded files
    do not stay.

    Args:
      name: of a known dataset.

    Returns:
      The packed file's path, a string.

    Raises:
      ValueError: for files that are not the published ones; nothing is packed then.
      FileNotFoundError: where no source answers; one line that says what to put where.
    """
    original = ORIGINALS[name]
    folder = cache() / "originals" / name
    for source in original.sources:
        paths = [folder / _file_name(url) for url in source.urls]
        if all(path.is_file() for path in paths):
            return _pack(name, source.read(*paths))
    with tempfile.TemporaryDirectory() as temporary:
        return _pack(name, _from_network(name, folder, temporary))


def _from_network(name, folder, temporary):
    reasons = []
    for number, source in enumerate(ORIGINALS[name].sources):
        digests = source.file_digests or (None,) * len(source.urls)
        target = pathlib.Path(temporary) / str(number)
        target.mkdir()
        try:
            paths = [_fetch(url, target, digest) for url, digest in zip(source.urls, digests)]
        except Exception as error:  # whatever the network raises, the answer is the same
            reasons.append(reason_of(error))
        else:
            return source.read(*paths)
    files = " or ".join(", ".join(source.urls) for source in ORIGINALS[name].sources)
    raise FileNotFoundError(
        f"{name} cannot be downloaded ({'; '.join(reasons)}): put {name}.npz (made with datasets.pack) into data_dir, "
        f"$TFDSMCMC_DATA or {cache()}, or the original files, {files}, into {folder}"
    )


def _fetch(url, folder, digest):
    """Downloads a file with a progress bar; returns its path."""
    from keras.utils import get_file

    return get_file(_file_name(url), url, cache_dir=str(folder), cache_subdir="", file_hash=digest)


def _file_name(url):
    return url.rsplit("/", 1)[1]


def _pack(name, arrays):
    verify(name, arrays)
    return packed.pack(cache() / f"{name}.npz", *(arrays[split] for split in SPLITS), ORIGINALS[name].shape)
