"""Runs tutorials and stores their outputs: `make notebooks`.

Without names it runs those whose stored run is of other code, or of another version or source of the package; with
names, those.
A page runs by itself in an empty folder. Of what it writes to stderr warnings are kept, and logs of TensorFlow are not.
"""

from __future__ import annotations

import base64
import io
import json
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(pathlib.Path(__file__).parent)]

import stored_runs  # noqa: E402

CELL = 3600  # seconds after which a cell is taken to hang
SHARP = "--InlineBackend.figure_format=retina"  # pictures of twice as many pixels as they are wide on the page
LOG = re.compile(r"^INFO:(tensorflow|absl):.*\n", re.MULTILINE)  # notebooks have it on stdout
WARNING = re.compile(r"^\S+:\d+: ([A-Za-z_.]+: .*)$", re.MULTILINE)  # the file and its line in front


def chosen(names: list[str], version: str) -> list[pathlib.Path]:
    """The pages to run: those named, or else those without a run of their code by this version and source.

    Raises:
      ValueError: for a name that no tutorial has.
    """
    pages = {page.stem: page for page in stored_runs.pages()}
    unknown = sorted(set(names) - set(pages))
    if unknown:
        raise ValueError(f"Tutorials are {', '.join(pages)}. Received: {', '.join(unknown)}")
    return [pages[name] for name in names] or [page for page in pages.values() if not _is_current(page, version)]


def _is_current(page, version):
    if stored_runs.misfit(page) is not None:
        return False
    about = {"version": version, "source": stored_runs.source_digest()}
    return stored_runs.stored(page)["metadata"]["tfdsmcmc"] == about


def run(page: pathlib.Path):
    """The notebook of a page's code cells, run in an empty folder.

    Raises:
      nbclient.exceptions.CellExecutionError: where a cell raises.
    """
    import nbclient
    import nbformat

    cells = [nbformat.v4.new_code_cell(code) for code in stored_runs.code_cells(page.read_text(encoding="utf-8"))]
    notebook = nbformat.v4.new_notebook(cells=cells)
    with tempfile.TemporaryDirectory() as folder:
        client = nbclient.NotebookClient(notebook, timeout=CELL, kernel_name="python3", extra_arguments=[SHARP])
        client.execute(cwd=folder)
    return notebook


def stripped(notebook, page: pathlib.Path, version: str, source: str) -> dict:
    """A run as it is stored: outputs and code, without what differs from one run to the next by itself.

    `version` and `source` are those of the package that it was run with.
    """
    head = {"cell_type": "markdown", "id": "head", "metadata": {}}
    head["source"] = f"Outputs of [{page.name}](../{page.name}), made by `make notebooks`."
    cells = [
        {
            "cell_type": "code",
            "execution_count": None,
            "id": f"cell-{number}",
            "metadata": {},
            "outputs": _stripped_outputs(cell.outputs),
            "source": cell.source,
        }
        for number, cell in enumerate(notebook.cells, 1)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "tfdsmcmc": {"version": version, "source": source}}
    return {"cells": [head, *cells], "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def _stripped_outputs(outputs):
    found, warned = [], {}
    for output in json.loads(json.dumps(outputs)):
        if output["output_type"] == "stream":
            if output["name"] == "stderr":
                new = [words for words in dict.fromkeys(WARNING.findall(output["text"])) if words not in warned]
                warned.update(dict.fromkeys(new))
                output["text"] = "".join(f"{words}\n" for words in new)
            output["text"] = LOG.sub("", output["text"])
            if not output["text"]:
                continue
            if found and found[-1].get("name") == output["name"]:  # a cell prints in pieces, as long as it takes
                found[-1]["text"] += output["text"]
                continue
        if "execution_count" in output:
            output["execution_count"] = None
        output.get("data", {}).pop("text/latex", None)  # beside HTML
        if "image/png" in output.get("data", {}):
            output["data"]["image/png"] = small_png(output["data"]["image/png"])
            output["metadata"].get("image/png", {}).pop("height", None)  # a narrow page makes it less, as the width
        found.append(output)
    return found


def small_png(encoded: str) -> str:
    """A picture in base64 on white, in at most 256 colours, without words on the program that drew it."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(encoded))).convert("RGBA")
    white = Image.new("RGBA", picture.size, "white")
    whole = Image.alpha_composite(white, picture).convert("RGB")
    found = io.BytesIO()
    whole.quantize(256, dither=Image.Dither.NONE).save(found, "PNG", optimize=True)
    return base64.b64encode(found.getvalue()).decode()


def store(notebook: dict, page: pathlib.Path) -> None:
    """Writes a run where the site looks for it."""
    import nbformat

    from tfdsmcmc import files

    nbformat.validate(nbformat.from_dict(notebook))
    with files.replacing(stored_runs.path_of(page)) as temporary:
        temporary.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def main(names: list[str]) -> int:
    """Runs pages one after the other; the exit status is 1 where one of them failed, and the others are stored."""
    from nbclient.exceptions import CellExecutionError

    import tfdsmcmc

    # the kernel is to have this checkout
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH"))))
    failed = False
    for page in chosen(names, tfdsmcmc.__version__):
        print(f"{page.stem} …", flush=True)
        source = stored_runs.source_digest()  # before the run, which takes minutes
        try:
            notebook = run(page)
        except CellExecutionError as error:
            print(error, file=sys.stderr)
            failed = True
            continue
        store(stripped(notebook, page, tfdsmcmc.__version__, source), page)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
