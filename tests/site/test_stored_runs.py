"""Every tutorial has a stored run of its code, without an error and small; the site has its outputs where it fits."""

import base64
import html
import io
import json
import os
import re
import types

import pytest

from tests.site import ROOT, extension

runs = extension("stored_runs")
command = extension("run_tutorials")
PAGES = runs.pages()
BUILT = os.environ.get("SITE")  # of `make docs`
each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)


def outputs(page):
    return [output for cell in runs.runs_of(runs.stored(page)) for output in cell["outputs"]]


def pictures(page):
    return [output["data"]["image/png"] for output in outputs(page) if "image/png" in output.get("data", {})]


@each_page
def test_a_stored_run_is_of_the_page(page):
    assert runs.misfit(page) is None
    assert runs.stored(page)["metadata"]["tfdsmcmc"]["version"]


@each_page
def test_outputs_are_whole_and_say_nothing_of_the_machine(page):
    found = outputs(page)
    assert {output["output_type"] for output in found} <= {"stream", "display_data", "execute_result"}
    warned = [output["text"] for output in found if output.get("name") == "stderr"]
    assert all(re.match(r"[A-Za-z_.]+: \w", line) for text in warned for line in text.splitlines())
    words = json.dumps([output.get("text") or {**output["data"], "image/png": ""} for output in found])
    assert not re.search(r" at 0x[0-9a-f]+|/tmp/|/home/|/root/|\\u001b", words)


@each_page
def test_pictures_are_small(page):
    found = [len(base64.b64decode(picture)) for picture in pictures(page)]
    assert len(found) >= 1 and max(found) <= 60_000


def test_stored_runs_are_small_and_of_pages():
    stored = list((runs.FOLDER / "outputs").iterdir())
    assert len(PAGES) >= 7 and sorted(stored) == sorted(map(runs.path_of, PAGES))
    assert sum(path.stat().st_size for path in stored) < 1_000_000


TEXT = "# A\n\nSome *words* on\n[it](b.md).\n\n"
TEXT += "```{code-cell}\n%matplotlib inline\nx = 1\n```\n\n```{code-cell}\nx\n```\n"


@pytest.fixture
def page(tmp_path, monkeypatch):
    """A page whose stored run is of its code, with the output 1 of its second cell."""
    package = tmp_path / "package"
    package.mkdir()
    (package / "module.py").write_text("x = 1\n")
    for module in (runs, command.stored_runs):
        monkeypatch.setattr(module, "FOLDER", tmp_path)
        monkeypatch.setattr(module, "PACKAGE", package)
    path = tmp_path / "short.md"
    path.write_text(TEXT)
    result = {"output_type": "execute_result", "execution_count": 2, "metadata": {}, "data": {"text/plain": "1"}}
    cells = [types.SimpleNamespace(source=code, outputs=[]) for code in runs.code_cells(TEXT)]
    cells[1].outputs = [{"output_type": "stream", "name": "stderr", "text": "log"}, result]
    runs.path_of(path).parent.mkdir()
    notebook = command.stripped(types.SimpleNamespace(cells=cells), path, "0.1", runs.source_digest())
    runs.path_of(path).write_text(json.dumps(notebook))
    return path


def test_a_run_fits_its_code_alone(page):
    assert runs.code_cells(TEXT) == ["%matplotlib inline\nx = 1", "x"]
    assert runs.misfit(page) is None
    page.write_text(TEXT.replace("words", "other words"))
    assert runs.misfit(page) is None
    page.write_text(TEXT.replace("\nx\n", "\nx + 1\n"))
    assert "short.md was run with other code, from its cell 2 on: run `make notebooks`" in runs.misfit(page)
    page.write_text(TEXT + "```{code-cell}\nx\n```\n")
    assert "from its cell 3 on" in runs.misfit(page)
    runs.path_of(page).unlink()
    assert "short.md has no stored run: run `make notebooks`" in runs.misfit(page)


def test_which_pages_are_run(page):
    assert command.chosen([], "0.1") == []
    assert command.chosen([], "0.2") == command.chosen(["short"], "0.1") == [page]
    page.write_text(TEXT.replace("x = 1", "x = 2"))
    assert command.chosen([], "0.1") == [page]
    with pytest.raises(ValueError, match="Tutorials are short. Received: long"):
        command.chosen(["long"], "0.1")


def test_runs_with_another_source_of_the_package_are_named_and_made_again(page):
    module, run = runs.PACKAGE / "module.py", runs.path_of(page)
    assert runs.of_other_source() is None and command.chosen([], "0.1") == []
    (runs.PACKAGE / "notes.md").write_text("no module")
    assert runs.of_other_source() is None
    module.rename(runs.PACKAGE / "renamed.py")
    assert "with another source of the package: short." in runs.of_other_source()
    assert command.chosen([], "0.1") == [page] and runs.misfit(page) is None
    (runs.PACKAGE / "renamed.py").rename(module)
    assert runs.of_other_source() is None
    module.write_text("x = 2\n")
    assert "with another source of the package: short." in runs.of_other_source()
    notebook = json.loads(run.read_text())
    del notebook["metadata"]["tfdsmcmc"]["source"]
    run.write_text(json.dumps(notebook))
    assert "were run with an unknown source: short." in runs.of_other_source()
    assert command.chosen([], "0.1") == [page] and runs.misfit(page) is None


def test_what_a_run_keeps(page):
    [first, second] = runs.runs_of(runs.stored(page))
    assert first["outputs"] == []
    assert second["outputs"] == [
        {"output_type": "execute_result", "execution_count": None, "metadata": {}, "data": {"text/plain": "1"}}
    ]


def test_prints_in_pieces_are_one_output(page):
    logs, warning = "I0000 00:00 a.cc:31] Log: it.\nWARNING: All\n", "/tmp/b_1/c.py:2: UserWarning: Heed this.\n  x\n"
    pieces = [("stdout", "a"), ("stderr", logs), ("stdout", "INFO:tensorflow:Written\nb\n")]
    pieces += [("stderr", logs + 2 * warning), ("stderr", warning)]
    outputs = [{"output_type": "stream", "name": name, "text": text} for name, text in pieces]
    cell = types.SimpleNamespace(source="x", outputs=outputs)
    [found] = runs.runs_of(command.stripped(types.SimpleNamespace(cells=[cell]), page, "0.1", "0"))
    assert [(output["name"], output["text"]) for output in found["outputs"]] == [
        ("stdout", "ab\n"), ("stderr", "UserWarning: Heed this.\n")
    ]  # fmt: skip


def test_a_picture_is_white_where_nothing_is_drawn():
    from PIL import Image

    drawn = Image.new("RGBA", (20, 10), (0, 0, 0, 0))
    drawn.putpixel((3, 4), (255, 0, 0, 255))
    file = io.BytesIO()
    drawn.save(file, "PNG")
    small = Image.open(io.BytesIO(base64.b64decode(command.small_png(base64.b64encode(file.getvalue()).decode()))))
    pixels = small.convert("RGB")
    assert small.size == (20, 10) and small.mode == "P"
    assert pixels.getpixel((3, 4)) == (255, 0, 0) and pixels.getpixel((0, 0)) == (255, 255, 255)


def test_the_words_before_a_picture():
    text = "# A\n\nOne.\n\nThe `b` of [c\nd](e.md) is **f**.\n\n    x = y\n\n## G\n"
    assert runs.last_paragraph(text) == "The b of c d is f."
    assert runs.last_paragraph("## A\n") == ""


def test_the_reader_gives_the_outputs_of_a_run_that_fits(page):
    pytest.importorskip("myst_nb")
    notebook = runs.read(TEXT, "short")
    assert [cell.outputs[0].data["text/plain"] for cell in notebook.cells[2:3]] == ["1"]
    assert notebook.cells[2].metadata.mystnb.image.alt == "Some words on it."
    assert "tfdsmcmc 0.1" in notebook.cells[3].source
    assert len(notebook.metadata.source_map) == len(notebook.cells) == 4
    notebook = runs.read(TEXT.replace("\nx\n", "\nx + 1\n"), "short")
    assert len(notebook.cells) == 3 and notebook.cells[2].outputs == []


@each_page
def test_two_readers_find_the_same_cells(page):
    core = pytest.importorskip("myst_nb.core.read")
    text = page.read_text(encoding="utf-8")
    cells = core.read_myst_markdown_notebook(text).cells
    assert [cell.source for cell in cells if cell.cell_type == "code"] == runs.code_cells(text)


@pytest.mark.skipif(not BUILT, reason="SITE is the folder of a site that was built")
@each_page
def test_the_site_has_the_outputs(page):
    built = (ROOT / BUILT / "tutorials" / f"{page.stem}.html").read_text(encoding="utf-8")
    shown = re.findall(r'<img alt="([^"]+)"[^>]* src="\.\./_images/[0-9a-f]{64}\.png"', built)
    assert len(shown) == len(pictures(page))
    assert not any("_images" in words for words in shown)
    words = html.unescape(re.sub(r"<[^>]*>", "", built))
    for output in outputs(page):
        if output["output_type"] == "stream":
            assert output["text"].strip() in words
    assert f"The outputs are of tfdsmcmc {runs.stored(page)['metadata']['tfdsmcmc']['version']}." in words
