"""The tutorials run, cell after cell, and use the public names alone."""

import ast
import functools
import importlib.util
import pathlib

import matplotlib
import matplotlib.pyplot
import pytest

import tfdsmcmc as ds
from tests import pages

FOLDER = pathlib.Path(__file__).parents[1] / "docs" / "tutorials"
TUTORIALS = sorted(FOLDER.glob("*.md"))
QUICK = "boltzmann_machine"
NEEDED = {"serve": ["werkzeug", "urllib3"], "survey_table": ["statsmodels", "pandas"]}
LEFT = {"serve": "served/digits/1/saved_model.pb", "large_rows": "digits.npy"}


def read(page):
    return page.read_text(encoding="utf-8")


def code_of(page):
    """The syntax tree of all its cells."""
    return ast.parse("\n".join(pages.cells(read(page))))


def runs():
    for page in TUTORIALS:
        marks = [pytest.mark.slow] if page.stem == QUICK else [pytest.mark.compiled, pytest.mark.slow]
        yield pytest.param(page, marks=marks, id=page.stem)


@pytest.mark.parametrize("page", list(runs()))
def test_a_tutorial_runs(page, tmp_path, monkeypatch):
    """In an empty folder, with pictures that no window shows."""
    missing = [name for name in NEEDED.get(page.stem, []) if importlib.util.find_spec(name) is None]
    if missing:
        pytest.skip(f"needs {', '.join(missing)}")
    monkeypatch.chdir(tmp_path)
    matplotlib.use("agg")
    try:
        pages.run(pages.cells(read(page)), page.name)
    finally:
        matplotlib.pyplot.close("all")
    assert page.stem not in LEFT or (tmp_path / LEFT[page.stem]).is_file()


def test_the_tutorials_are_found():
    names = {page.stem for page in TUTORIALS}
    assert len(names) >= 7 and names >= {QUICK, *NEEDED, *LEFT}
    assert all(len(pages.cells(read(page))) >= 8 for page in TUTORIALS)


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_is_a_notebook(page):
    """By its front matter; with a title, and a last part on what to try."""
    text = read(page)
    found = pages.front_matter(text)
    assert found["file_format"] == "mystnb" and found["kernelspec.name"] == "python3"
    assert "\n# " in text and "\n## What to try next\n" in text
    assert "```python" not in text  # which would not be run


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_a_tutorial_has_public_names_alone(page):
    """Nothing with an underscore in front, no module behind the package; and what it names is there."""
    for node in ast.walk(code_of(page)):
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_") or node.attr == "__name__", ast.unparse(node)
            path = ast.unparse(node).split(".")
            if path[0] == "ds" and all(part.isidentifier() for part in path):
                assert functools.reduce(getattr, path[1:], ds) is not None
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("tfdsmcmc"), ast.unparse(node)
        if isinstance(node, ast.Import):
            assert not any(alias.name.startswith("tfdsmcmc.") for alias in node.names), ast.unparse(node)


def test_cells_are_found():
    text = "---\na: b\n---\n```{code-cell}\n%matplotlib inline\nx = 1\n```\n\n```python\ny\n```\n"
    text += "```{code-cell} ipython3\nz = 2\n```\n"
    assert pages.cells(text) == ["\nx = 1\n", "z = 2\n"]


def test_front_matter():
    assert pages.front_matter("---\na: b\nc:\n  d: e f\ng: 1\n---\n# h: i\n") == {"a": "b", "c.d": "e f", "g": "1"}
    assert pages.front_matter("# A page\n\na: b\n") == {}
