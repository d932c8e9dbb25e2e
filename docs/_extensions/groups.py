"""Groups of pages: a pattern of a toctree that finds no page is left out, and so is a group without a page."""

from __future__ import annotations

import pathlib
import re

_TOCTREE = re.compile(r"^```\{toctree\}\n(.*?)^```\n?", re.MULTILINE | re.DOTALL)


def without_empty(text: str, folder: pathlib.Path) -> str:
    """The text of a page in a folder, its toctrees without what finds nothing there."""

    def kept(match):
        lines = match[1].split("\n")
        entries = [line for line in lines if line and not line.startswith(":")]
        empty = {entry for entry in entries if "*" in entry and not any(folder.glob(f"{entry}.*"))}
        if empty == set(entries):
            return ""
        return "```{toctree}\n" + "\n".join(line for line in lines if line not in empty) + "```\n"

    return _TOCTREE.sub(kept, text)


def _read(app, docname, source):
    path = pathlib.Path(app.env.doc2path(docname))
    if path.suffix == ".md":
        source[0] = without_empty(source[0], path.parent)


def setup(app):
    app.connect("source-read", _read)
    return {"parallel_read_safe": True}
