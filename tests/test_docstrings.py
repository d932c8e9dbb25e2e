"""The examples of the docstrings, of the README and of the documentation run, and print what they say."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest

import tfdsmcmc
from tests import pages

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tfdsmcmc.__path__, "tfdsmcmc.")
    if not module.name.endswith("__main__")
)
ROOT = pathlib.Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
LEFT = {"README.md": {"runs/readme/model.keras", "runs/readme/samples.png", "runs/readme/served/1/saved_model.pb"}}


def python_blocks(text, slow=True):
    """The blocks ```python of a text, but those after a line <!-- not run -->, or <!-- slow --> unless `slow`."""
    pattern = re.compile(r"(?:<!-- ([a-z ]+) -->[^\S\n]*\n)?^```python[^\S\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [code for mark, code in pattern.findall(text) if mark != "not run" and (slow or mark != "slow")]


@pytest.mark.parametrize("name", MODULES)
def test_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    options = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    assert doctest.testmod(importlib.import_module(name), optionflags=options).failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    found = [test for name in MODULES for test in finder.find(importlib.import_module(name)) if test.examples]
    assert len(found) >= 8


def runs():
    """A test for each page with blocks: those that are not slow and, where some are, all of them as a slow test."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        quick, all_of_them = (len(python_blocks(text, slow)) for slow in (False, True))
        if quick:
            yield pytest.param(page, False, id=page.name)
        if all_of_them > quick:
            yield pytest.param(page, True, marks=(pytest.mark.slow, pytest.mark.compiled), id=f"{page.name}, all")


@pytest.mark.parametrize(("page", "slow"), list(runs()))
def test_a_page_runs(page, slow, tmp_path, monkeypatch):
    """Its blocks in one namespace, one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    pages.run(python_blocks(page.read_text(encoding="utf-8"), slow), page.name)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert not slow or LEFT.get(page.name, set()) <= left


def test_the_pages_with_examples_are_found():
    assert {(param.values[0].name, param.values[1]) for param in runs()} >= {
        ("README.md", False), ("guide.md", False), ("guide.md", True)
    }  # fmt: skip


@pytest.mark.parametrize("page", [*PAGES, ROOT / "saved_models" / "README.md", ROOT / "CONTRIBUTING.md"], ids=str)
def test_links_lead_somewhere(page):
    """Links and pictures of a page that are files here, and headings where they name one."""
    prose = re.sub(r"^(```.*?^```|    .*?)$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"(?<=\]\()[^)\s]+(?=\))|(?<=src=\")[^\"]+", prose):
        path, _, heading = target.partition("#")
        if "://" not in target:
            found = page.parent / path if path else page
            assert found.exists(), f"{target} of {page.name}"
            assert not heading or heading in headings(found.read_text(encoding="utf-8")), f"{target} of {page.name}"


def headings(text):
    """What GitHub calls the headings of a text in links."""
    titles = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_blocks_are_found_and_skipped():
    text = "a\n```python\nx = 1\n```\n<!-- not run -->\n```python\n1 / 0\n```\n"
    text += "```bash\nls\n```\n\n```python\ny = 2\n```\n"
    assert python_blocks(text) == ["x = 1\n", "y = 2\n"]
    assert python_blocks("<!-- slow -->\n" + text[2:], slow=False) == ["y = 2\n"]
