"""Groups of pages on the first page of the site."""

from tests.site import ROOT, extension

without_empty = extension("groups").without_empty
TREE = "a\n```{toctree}\n:caption: A\n:glob:\n\none*\nfew/*\ntwo\n```\nb\n"


def test_patterns_without_a_page_are_left_out(tmp_path):
    (tmp_path / "one_more.md").touch()
    assert without_empty(TREE, tmp_path) == TREE.replace("few/*\n", "")
    (tmp_path / "few").mkdir()
    (tmp_path / "few" / "x.md").touch()
    assert without_empty(TREE, tmp_path) == TREE


def test_a_group_without_a_page_is_left_out(tmp_path):
    assert without_empty(TREE.replace("two\n", ""), tmp_path) == "a\nb\n"
    assert "two" in without_empty(TREE, tmp_path)


def test_the_first_page_has_every_page():
    """Each page below `docs/` is in a group of the first page, or of the reference."""
    named = set()
    for page in ("index.md", "reference/index.md"):
        text = (ROOT / "docs" / page).read_text(encoding="utf-8")
        folder = (ROOT / "docs" / page).parent
        for block in text.split("```{toctree}\n")[1:]:
            lines = [line for line in block.split("```")[0].splitlines() if line and line[0] != ":"]
            named |= {found for line in lines for found in folder.glob(f"{line}.md")}
    pages = set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / "index.md"}
    assert sorted(path.name for path in pages - named) == []
