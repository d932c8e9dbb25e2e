"""Every public name has its place in the reference: each module a page, and on the built page each name an entry."""

import html
import inspect
import os
import pathlib
import re
import zlib

import pytest

import tfdsmcmc
from tests.site import ROOT

REFERENCE = ROOT / "docs" / "reference"
BUILT = os.environ.get("SITE")  # of `make docs`


def public(module, found):
    """All public modules below a module, with their public names; without `__all__`, what a module defines."""
    names = getattr(module, "__all__", None)
    if names is None:
        names = [n for n, v in vars(module).items() if getattr(v, "__module__", "") == module.__name__ and n[0] != "_"]
    found[module.__name__] = [name for name in names if not inspect.ismodule(getattr(module, name))]
    for name in names:
        value = getattr(module, name)
        if inspect.ismodule(value) and value.__name__ not in found:
            public(value, found)
    return found


PUBLIC = public(tfdsmcmc, {})
NAMES = [f"{module}.{name}" for module, names in PUBLIC.items() for name in names]


def test_public_names_are_found():
    assert len(PUBLIC) > 25 and len(NAMES) > 150
    assert {"tfdsmcmc.Imputer", "tfdsmcmc.mcmc.schedules.Cyclical", "tfdsmcmc.random.split"} <= set(NAMES)


def test_each_public_module_has_a_page():
    pages = {path.name: path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md")}
    expected = {f"{name.removeprefix('tfdsmcmc.')}.md": f".. public-names:: {name}\n" for name in PUBLIC}
    assert set(pages) == {*expected, "index.md", "command_line.md", "types.md"}
    assert [page for page, directive in expected.items() if directive not in pages[page]] == []


built = pytest.mark.skipif(BUILT is None, reason="needs a site that has been built: make docs")


@built
@pytest.mark.parametrize("module", list(PUBLIC))
def test_each_public_name_is_on_its_page(module):
    page = ROOT / BUILT / "reference" / f"{module.removeprefix('tfdsmcmc.')}.html"
    entries = set(re.findall(r'<dt [^>]*id="([\w.]+)"', page.read_text(encoding="utf-8")))
    assert [name for name in PUBLIC[module] if f"{module}.{name}" not in entries] == []


@built
def test_each_public_name_is_in_the_inventory():
    head, packed = (ROOT / BUILT / "objects.inv").read_bytes().split(b"zlib.\n", 1)
    known = {line.split(b" ")[0].decode() for line in zlib.decompress(packed).splitlines()}
    assert b"tfdsmcmc" in head and sorted({*NAMES, *PUBLIC} - known) == []


@built
def test_a_model_has_what_users_call_and_no_hooks():
    page = (ROOT / BUILT / "reference" / "boltzmann.html").read_text(encoding="utf-8")
    entries = set(re.findall(r'<dt [^>]*id="tfdsmcmc.boltzmann.RBM.(\w+)"', page))
    assert {"compile", "fit", "log_likelihood", "sample", "impute"} <= entries
    assert not entries & {"watchers", "validates", "uses_xla", "call", "get_config"}


@built
def test_the_search_finds_names():
    index = (ROOT / BUILT / "searchindex.js").read_text(encoding="utf-8")
    missing = [name for name in NAMES if f'"{name.rpartition(".")[2]}"' not in index]
    assert missing == []


@built
def test_docstrings_are_rendered():
    """An equation keeps its lines, arguments are a list, examples are code, and no mark-up is left over."""
    page = html.unescape((ROOT / BUILT / "reference" / "mcmc.html").read_text(encoding="utf-8"))
    equations = (ROOT / BUILT / "reference" / "random.html").read_text(encoding="utf-8")
    assert "words     (y₀, y₁) = Threefry(seed, (i, 0))" in html.unescape(re.sub(r"<[^>]+>", "", equations))
    assert "<strong>friction</strong> – a, the injected noise" in page
    assert "friction: Number = 0.1" in re.sub(r"<[^>]+>", "", page).replace("\n", "")
    pages = list(pathlib.Path(ROOT / BUILT / "reference").glob("*.html"))
    assert len(pages) > 25
    for path in pages:
        article = path.read_text(encoding="utf-8").split("<article", 1)[1].split("</article>", 1)[0]
        words = re.sub(r"<pre.*?</pre>", "", article, flags=re.DOTALL)
        assert not re.search(r"<p>(Args|Returns|Raises):|:param |``|Alias for field", words), path.name
