"""The version stands in one place, and what repeats it agrees; the programs that continuous integration runs."""

import importlib.util
import re
import subprocess
import sys

import pytest

import tfdsmcmc
from tests.site import ROOT

GITHUB = ROOT / ".github"


def program(name, folder=GITHUB):
    spec = importlib.util.spec_from_file_location(name, folder / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("page", ["CITATION.cff", "docs/cite.md"])
def test_citations_name_the_version(page):
    found = re.findall(r"^ *version\W+(\d[\w.]*)", (ROOT / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert found == [tfdsmcmc.__version__]


def test_a_tag_must_name_the_version(capsys):
    main = program("version_of_tag").main
    assert main(f"v{tfdsmcmc.__version__}") == 0
    assert main("v99.1") == 1 and main(tfdsmcmc.__version__) == 1
    assert "Received: v99.1" in capsys.readouterr().err


def test_the_examples_of_a_page_run(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 2\n```\n<!-- not run -->\n```python\n1 / 0\n```\n```python\nprint(x)\n```\n")
    command = [sys.executable, str(GITHUB / "readme_example.py"), str(page)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "2\n"
    page.write_text("none")
    assert "Received" in subprocess.run(command, capture_output=True, text=True).stderr


def test_the_readme_has_examples():
    assert len(program("readme_example").blocks((ROOT / "README.md").read_text(encoding="utf-8"))) >= 1


TEXT = "[a](docs/a.md#b), [c](https://c.d), ![e](e.png), [f](#f) <img src=\"g.png\" alt=\"x\">"


def test_links_of_the_index_lead_to_the_repository():
    absolute = program("setup", ROOT).absolute
    assert absolute(TEXT, None, "v1") == TEXT
    assert absolute(TEXT, "https://h/o/n/", "v1") == (
        "[a](https://h/o/n/blob/v1/docs/a.md#b), [c](https://c.d), ![e](https://h/o/n/raw/v1/e.png), [f](#f) "
        '<img src="https://h/o/n/raw/v1/g.png" alt="x">'
    )
    readme = absolute((ROOT / "README.md").read_text(encoding="utf-8"), "https://h/o/n", "v1")
    targets = re.findall(r"(?<=\]\()[^)\s]+|(?<=src=\")[^\"]+", readme)
    assert len(targets) > 20 and all(target.startswith("https://") for target in targets)


def test_the_address_of_the_repository(monkeypatch):
    address_of = program("setup", ROOT).address_of
    monkeypatch.delenv("PROJECT_REPOSITORY", raising=False)
    assert address_of("x = 1") is None
    assert address_of('[project.urls]\nRepository = "https://h/o/n"\n') == "https://h/o/n"
    monkeypatch.setenv("PROJECT_REPOSITORY", "https://h/o/m")
    assert address_of("x = 1") == "https://h/o/m"


def test_setup_has_no_requirements_of_its_own():
    assert "install_requires" not in (ROOT / "setup.py").read_text(encoding="utf-8")
