"""Each command says what it is, and each that documentation names is there with the options that are named."""

import importlib
import re

import pytest

from tests.commands import PACKAGES, PAGES, ROOT, commands, modules, named

HELD = {name: path for package in PACKAGES for name, path in commands(package).items()}
CALLED = [name for name in HELD if name.startswith(("experiments", "stress"))]


@pytest.mark.parametrize("name", CALLED)
def test_a_command_has_help(name, capsys):
    """It begins with the docstring, which has the command."""
    path = HELD[name]
    module = importlib.import_module(name + ".__main__" * (path.stem == "__main__"))
    with pytest.raises(SystemExit) as ended:
        module.main(["--help"])
    said = capsys.readouterr().out
    assert ended.value.code == 0 and said.startswith(f"usage: python -m {name}")
    assert f"    python -m {name}" in module.__doc__ and module.__doc__.splitlines()[0] in said


def test_documented_commands_are_there():
    found = {name for page in PAGES for name, _ in named(page.read_text(encoding="utf-8"))}
    assert len(found) > 20
    assert {name for name in found if not name.startswith("recipes/")} <= {*HELD, "benchmarks"}
    assert all((ROOT / name).is_file() for name in found if name.startswith("recipes/"))


def test_documented_options_are_there():
    """In the module that the command runs, or in the file of its arguments."""
    for page in PAGES:
        for name, options in named(page.read_text(encoding="utf-8")):
            path = ROOT / name if name.startswith("recipes/") else HELD.get(name, ROOT / "benchmarks" / "__main__.py")
            beside = path.with_name("arguments.py")
            text = path.read_text("utf-8") + (beside.read_text("utf-8") if beside.exists() else "")
            known = set(re.findall(r'"(--[a-z-]+)"', text)) | {"--help"}
            assert set(options) <= known, f"{page.name}: {name}"


SITE = [page for page in PAGES if (ROOT / "docs") in page.parents and page.suffix == ".md"]
SOURCE = re.compile(r"(?:`|^ {4})(make [a-z]|python (-m (experiments|benchmarks|stress)\b|recipes/))", re.MULTILINE)


@pytest.mark.parametrize("page", [page for page in SITE if page.name != "install.md"], ids=lambda page: page.name)
def test_a_page_says_that_its_commands_need_the_source(page):
    """Where the first of them stands, or before it: a wheel has none of them. `install.md` begins with it."""
    text = re.sub(r"<!--.*?-->", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    first = SOURCE.search(text)
    if first:
        read = text[: text.find("\n\n", first.end())]
        assert "checkout of the source" in " ".join(read.split()), first.group()


def test_no_page_names_a_file_that_is_not_there():
    for page in PAGES:
        for path in re.findall(r"\b(?:recipes|experiments|benchmarks|stress)/[\w/]+\.py\b", page.read_text("utf-8")):
            assert (ROOT / path).is_file(), f"{page.name}: {path}"


def test_named_commands_are_read():
    text = "`python -m experiments.a.b --x-y 3 \\\n  --z` and (`python recipes/c.py`) | $(BIN)/python -m benchmarks\n"
    assert list(named(text)) == [("experiments.a.b", ["--x-y", "--z"]), ("recipes/c.py", []), ("benchmarks", [])]


def test_there_are_commands():
    assert len(CALLED) > 20 and "experiments.method_table" in HELD and "stress.kills" in HELD
    assert "experiments.common.files" in modules("experiments") and "experiments.common.files" not in HELD
