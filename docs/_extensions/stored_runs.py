"""Tutorials with the outputs of their stored runs.

    tutorials/NAME.md              words and code, a notebook in Markdown
    tutorials/outputs/NAME.ipynb   its code cells as they were run, with their outputs, by `make notebooks`

The site has the words and the code of the page, and the outputs of the run where its cells have the code of the page.
Any other run is a warning of the build, which `make docs` takes for an error. A run with another source of the package
is only said, as all of them take minutes. The paragraph before a picture describes it to those who do not see it.
"""

from __future__ import annotations

import hashlib
import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "tutorials"
PACKAGE = FOLDER.parents[1] / "tfdsmcmc"
_CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```[^\S\n]*$", re.MULTILINE | re.DOTALL)


def pages() -> list[pathlib.Path]:
    """The tutorials, by name."""
    return sorted(FOLDER.glob("*.md"))


def path_of(page: pathlib.Path) -> pathlib.Path:
    """Where the run of a page is stored."""
    return page.parent / "outputs" / f"{page.stem}.ipynb"


def code_cells(text: str) -> list[str]:
    """The code of the cells of a page, in order."""
    return [code.rstrip("\n") for code in _CELL.findall(text)]


def stored(page: pathlib.Path) -> dict | None:
    """The stored run of a page, a notebook as JSON has it; None where there is none."""
    path = path_of(page)
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None


def runs_of(notebook: dict) -> list[dict]:
    """The code cells of a stored run, each with `source` and `outputs`."""
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    return [{"source": "".join(cell["source"]), "outputs": cell["outputs"]} for cell in cells]


def misfit(page: pathlib.Path) -> str | None:
    """Why the stored run of a page is not of its code; None where it is."""
    notebook = stored(page)
    if notebook is None:
        return f"{page.name} has no stored run: run `make notebooks`"
    ran, code = [cell["source"] for cell in runs_of(notebook)], code_cells(page.read_text(encoding="utf-8"))
    if ran == code:
        return None
    first = next((place for place, (old, new) in enumerate(zip(ran, code)) if old != new), min(len(ran), len(code)))
    return f"{page.name} was run with other code, from its cell {first + 1} on: run `make notebooks`"


def source_digest() -> str:
    """The SHA-256 of the modules of the package, names and content."""
    found = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        content = path.read_bytes()
        found.update(f"{path.relative_to(PACKAGE).as_posix()} {len(content)}\n".encode() + content)
    return found.hexdigest()


def source_of(page: pathlib.Path) -> str | None:
    """The `source_digest` that a page was run with; None where its run does not say."""
    notebook = stored(page)
    return None if notebook is None else notebook["metadata"]["tfdsmcmc"].get("source")


def of_other_source() -> str | None:
    """A line that names the pages whose runs are not of the present source of the package; None without any."""
    now, sources = source_digest(), {page.stem: source_of(page) for page in pages() if stored(page)}
    parts = {
        "with another source of the package": [name for name, source in sources.items() if source not in (None, now)],
        "with an unknown source": [name for name, source in sources.items() if source is None],
    }
    said = "; ".join(f"{how}: {', '.join(names)}" for how, names in parts.items() if names)
    return f"Tutorials that were run {said}. `make notebooks` runs them again." if said else None


def read(text: str, name: str):
    """The notebook of a tutorial's text, with the outputs of its stored run: a reader of `nb_custom_formats`."""
    import nbformat
    from myst_nb.core.read import read_myst_markdown_notebook

    notebook = read_myst_markdown_notebook(text, add_source_map=True)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    run = stored(FOLDER / f"{name}.md")
    if run is None or [cell["source"] for cell in runs_of(run)] != [cell.source.rstrip("\n") for cell in cells]:
        return notebook
    for cell, ran in zip(cells, runs_of(run)):
        cell.outputs = nbformat.from_dict(ran["outputs"])
    _describe_pictures(notebook.cells)
    version = run["metadata"]["tfdsmcmc"]["version"]
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"*The outputs are of tfdsmcmc {version}.*"))
    notebook.metadata["source_map"].append(text.count("\n"))
    return notebook


def last_paragraph(text: str) -> str:
    """The last paragraph of Markdown without its marks; equations and headings are none."""
    paragraphs = [part for part in re.split(r"\n\s*\n", text) if part.strip() and not part.startswith(("    ", "#"))]
    words = re.sub(r"\[([^\]]*)\]\([^)]*\)|[`*]", lambda match: match[1] or "", paragraphs[-1] if paragraphs else "")
    return " ".join(words.split())


def _describe_pictures(cells):
    words = ""
    for cell in cells:
        if cell.cell_type == "markdown":
            words = last_paragraph(cell.source) or words
        elif words:
            cell.metadata["mystnb"] = {"image": {"alt": words}}


def _depend(app, docname, source):
    """A page is made anew when its stored run changes."""
    page = pathlib.Path(app.env.doc2path(docname))
    if page.parent == FOLDER:
        app.env.note_dependency(str(path_of(page)))


def _check(app):
    """At each build: a page that has not changed is not read again, and would be silent."""
    from sphinx.util import logging

    for found in filter(None, map(misfit, pages())):
        logging.getLogger(__name__).warning(found)
    if other := of_other_source():
        print(other, file=sys.stderr)  # `make docs` shows nothing less than a warning


def setup(app):
    app.connect("builder-inited", _check)
    app.connect("source-read", _depend)
    return {"parallel_read_safe": True}
