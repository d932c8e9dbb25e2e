"""The examples of the docstrings and of the README run, and print what they say."""

import doctest
import importlib
import pathlib
import pkgutil
import re

import pytest

import tfdsmcmc

MODULES = sorted(
    module.name
    for module in pkgutil.walk_packages(tfdsmcmc.__path__, "tfdsmcmc.")
    if not module.name.endswith("__main__")
)
README = pathlib.Path(__file__).parents[1] / "README.md"


def readme_blocks(text, slow=True):
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


@pytest.mark.parametrize("slow", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_readme_runs(tmp_path, monkeypatch, slow):
    """Its blocks in one namespace, one after the other, in an empty folder."""
    if not README.exists():
        pytest.skip("there is no README")
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "readme"}
    for number, code in enumerate(readme_blocks(README.read_text(encoding="utf-8"), slow)):
        exec(compile(code, f"README.md, block {number}", "exec"), namespace)
    left = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()}
    assert {"runs/readme/model.keras", "runs/readme/samples.png", "runs/readme/served/1/saved_model.pb"} <= left


def test_blocks_are_found_and_skipped():
    text = "a\n```python\nx = 1\n```\n<!-- not run -->\n```python\n1 / 0\n```\n"
    text += "```bash\nls\n```\n\n```python\ny = 2\n```\n"
    assert readme_blocks(text) == ["x = 1\n", "y = 2\n"]
    assert readme_blocks("<!-- slow -->\n" + text[2:], slow=False) == ["y = 2\n"]
