"""What this version of the package knows of its releases: their digests, and the cards of their models.

    released.json    {NAME: {"file": …, "sha256": …, "size": …, "unpacked": …}}
    cards/NAME.md    the card

`python -m experiments.pretrained` makes both.
"""

from __future__ import annotations

import json
import pathlib
from typing import NamedTuple

_HERE = pathlib.Path(__file__).parent


class Release(NamedTuple):
    """A file of a release.

    Attributes:
      name: by which it is loaded.
      file: its name, the beginning of the digest in it: files of several versions may lie side by side.
      sha256: of the file, hexadecimal digits.
      size: of the file, bytes.
      unpacked: bytes of the files in it, all together.
    """

    name: str
    file: str
    sha256: str
    size: int
    unpacked: int


def releases() -> dict[str, Release]:
    """The releases by name."""
    known = json.loads((_HERE / "released.json").read_text(encoding="utf-8"))
    return {name: Release(name, **about) for name, about in known.items()}


def release(name: str) -> Release:
    """The release of a name.

    Raises:
      ValueError: for a name that is none.
    """
    known = releases()
    if not isinstance(name, str) or name not in known:
        raise ValueError(f"The pretrained models are {sorted(known)}. Received: name={name!r}")
    return known[name]


def names() -> list[str]:
    """The names of the releases, sorted.

    Example:

    >>> import tfdsmcmc as ds
    >>> ds.pretrained.names()
    ['digits', 'letters', 'rbm']
    """
    return sorted(releases())


def card(name: str) -> str:
    """The card of a model, in Markdown: its data, settings, log-likelihoods with their errors, use and licence.

    Args:
      name: see `names`.

    Raises:
      ValueError: for a name that is none.

    Example:

    >>> import tfdsmcmc as ds
    >>> print(ds.pretrained.card("digits").splitlines()[0])
    # digits
    """
    return (_HERE / "cards" / f"{release(name).name}.md").read_text(encoding="utf-8")
