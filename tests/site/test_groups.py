"""Groups of pages on the first page of the site."""

from tests.site import ROOT


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
