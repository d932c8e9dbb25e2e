"""Pages read plainly: short sentences, and tables of few figures a cell; and the counter counts."""

import fnmatch

import numpy as np
import pytest

from tests import prose
from tests.commands import PAGES as COMMAND_PAGES
from tests.commands import ROOT

MEAN, LONGEST = 17, 25  # words of a sentence: the mean of a page, and what 95 in 100 have at most
BY_HAND = ("docs/results/index.md", "docs/results/archive.md")  # wholly or in part, among pages of records
LEFT_OUT = ("docs/results/*", "docs/reference/*")  # made by commands or by Sphinx
PLAIN = ("README.md", "saved_models/README.md", "docs/*")


def pages():
    """Paths relative to the project."""
    paths = [path.relative_to(ROOT).as_posix() for path in COMMAND_PAGES if path.suffix == ".md"]
    return [
        path
        for path in paths
        if any(fnmatch.fnmatch(path, name) for name in PLAIN)
        and (path in BY_HAND or not any(fnmatch.fnmatch(path, name) for name in LEFT_OUT))
    ]


@pytest.mark.parametrize("page", pages())
def test_a_page_reads_plainly(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    found = prose.sentences(text)
    lengths = [prose.words(sentence) for sentence in found]
    if not lengths:
        return
    longest = sorted(found, key=prose.words)[-3:]
    assert np.mean(lengths) <= MEAN, f"{np.mean(lengths):.1f} words a sentence"
    assert np.quantile(lengths, 0.95, method="inverted_cdf") <= LONGEST, longest
    assert [cell for cell in prose.cells(text) if prose.numbers(cell) > 2] == []


def test_the_pages_are_found():
    found = set(pages())
    assert {"README.md", "saved_models/README.md", "docs/five_minutes.md", "docs/how_to/serve.md"} <= found
    assert {"docs/study.md", "docs/study_appendix.md", "docs/reliability.md", *BY_HAND} <= found
    assert {page for page in found if page.startswith(("docs/results", "docs/reference"))} == set(BY_HAND)


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) < 120


@pytest.mark.parametrize(
    ("text", "lengths"),
    [
        ("One two three. Four five!", [3, 2]),
        ("A line\nthat goes on. Is it so? Yes.", [5, 3, 1]),
        ("- an entry\n- another entry,\n  continued\n\n1. And a third. Two.", [2, 3, 3, 1]),
        ("N is 0.5 and 1.5 at C. Du, who waits.", [10]),  # neither a figure nor an initial ends a sentence
        ("`model.fit(x, epochs=1)` learns. `a b` too.", [2, 2]),
        ("See [two words](a.md#b). And $x + y$ more.", [3, 3]),
        ("It ends here (so.) And **that** was *it*.", [4, 4]),
        ("Before:\n\n    code that is. Not counted\n\nAfter it.", [1, 2]),
        ("Before:\n\n```python\nx = 1. Y\n```\nAfter it.", [1, 2]),
        ("---\ntitle: a b c\n---\n# Head line\n\n<!-- slow -->\nText.", [1]),
        ('![Alt words here](a.png)\n\n<img src="a.png" alt="Some words">\n\n*Its caption.*', [2]),
        ("| a b | c |\n| --- | --- |\n| d e | f |\n\nText – with a dash.", [4]),
        ("", []),
    ],
)
def test_words_of_sentences(text, lengths):
    assert [prose.words(sentence) for sentence in prose.sentences(text)] == lengths


def test_numbers_of_cells():
    text = "| a | b |\n| --- | :-: |\n| +0.28 ± 0.04 | `1 2 3` and [4](5.md) |\n\n```\n| 1 2 3 |\n```\n"
    assert prose.cells(text) == ["a", "b", "+0.28 ± 0.04", "`1 2 3` and [4](5.md)"]
    assert [prose.numbers(cell) for cell in prose.cells(text)] == [0, 0, 2, 1]
    assert [prose.numbers(cell) for cell in ("silhouettes_28[:400]", "−1,261.4", "SBN 100-50", "1 2 3")] == [1, 1, 1, 3]
