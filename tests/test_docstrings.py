"""The examples of the docstrings, of the README and of the documentation run, and print what they say."""

import doctest
import importlib
import pkgutil
import re

import pytest

import tfdsmcmc
from tests import commands, pages

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tfdsmcmc.__path__, "tfdsmcmc.")
    if not module.name.endswith("__main__")
)
PAGES = [path for path in commands.PAGES if path.suffix == ".md"]
KEPT = ("model.keras", "samples.png", "served/1/saved_model.pb")
LEFT = {"docs/five_minutes.md": {f"runs/five/{name}" for name in KEPT}}


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


def name_of(page):
    """Its path from the top of the project."""
    return page.relative_to(commands.ROOT).as_posix()


def runs():
    """A test for each page with blocks: those that are not slow and, where some are, all of them as a slow test."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        quick, all_of_them = (len(python_blocks(text, slow)) for slow in (False, True))
        if quick:
            yield pytest.param(page, False, id=name_of(page))
        if all_of_them > quick:
            # XLA would take most of the time: what newcomers type first has it, the others run op by op
            marks = [pytest.mark.slow, *[pytest.mark.compiled] * (name_of(page) in LEFT)]
            yield pytest.param(page, True, marks=marks, id=f"{name_of(page)}, all")


@pytest.mark.parametrize(("page", "slow"), list(runs()))
def test_a_page_runs(page, slow, tmp_path, monkeypatch):
    """Its blocks in one namespace, one after the other, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    pages.run(python_blocks(page.read_text(encoding="utf-8"), slow), page.name)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert not slow or LEFT.get(name_of(page), set()) <= left


def test_the_pages_with_examples_are_found():
    found = {(name_of(param.values[0]), param.values[1]) for param in runs()}
    assert found >= {("README.md", False), ("docs/five_minutes.md", True), ("docs/how_to/own_parts.md", False)}
    assert {page for page, _ in found} >= LEFT.keys()
    # a page that shows how, or what a word means, has something to type
    shown = {name_of(page) for page in PAGES if page.parent.name in ("how_to", "concepts")}
    assert len(shown) > 15 and shown - {page for page, _ in found} <= {"docs/how_to/several_machines.md"}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
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
