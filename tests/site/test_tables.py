"""Long tables of the site: the page of all rows has its table and the script; the script sorts and filters."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.site import ROOT

BUILT = os.environ.get("SITE")  # of `make docs`
SCRIPT, STYLE = (ROOT / "docs" / "_static" / name for name in ("tables.js", "site.css"))
TO_COME = "tables-to-come"  # the class of a page whose script has begun and is not done
node = pytest.mark.skipif(shutil.which("node") is None, reason="needs node, which runs the script without a browser")


def ran(expression):
    """The value of an expression of JavaScript, with the functions of the script."""
    program = f"const {{ keyOf, compare, selected }} = require({json.dumps(str(SCRIPT))});"
    command = ["node", "-e", f"{program} console.log(JSON.stringify({expression}))"]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout)


@pytest.mark.skipif(BUILT is None, reason="needs a site that has been built: make docs")
def test_the_page_of_all_rows_has_its_table_and_the_script():
    """As a plain table, every row of which is there without the script."""
    page = (ROOT / BUILT / "results" / "all_rows.html").read_text(encoding="utf-8")
    assert re.search(r'<script[^>]*src="\.\./_static/tables\.js', page.split("<body", 1)[0]) and TO_COME not in page
    assert (ROOT / BUILT / "_static" / "tables.js").read_bytes() == SCRIPT.read_bytes()
    text = (ROOT / "docs" / "results" / "all_rows.md").read_text(encoding="utf-8")
    lines = len(re.findall(r"^\| ", text, re.MULTILINE)) - 2  # without the header and its rule
    article = page.split("<article", 1)[1].split("</article>", 1)[0]
    assert lines > 500 and article.count("<table") == article.count("<thead") == 1
    assert article.split("<tbody", 1)[1].split("</tbody>", 1)[0].count("<tr") == lines


def test_only_the_script_hides_rows():
    """What a style sheet hides, it hides under a class that no page has, and that the script gives and takes."""
    rules = re.findall(r"([^{}]+)\{[^{}]*(?:display:\s*none|visibility:)", STYLE.read_text(encoding="utf-8"))
    selectors = [re.sub(r"/\*.*?\*/", "", rule, flags=re.DOTALL).strip() for rule in rules]
    assert selectors and all(selector.startswith(f".{TO_COME} ") and "," not in selector for selector in selectors)


@node
@pytest.mark.parametrize("tables", ["[]", "[{ tHead: {}, tBodies: [{ rows: Array(30) }] }]"], ids=["none", "broken"])
def test_the_class_goes_when_the_script_is_done_or_fails(tables):
    program = f"""
        const classes = new Set(), seen = [];
        const classList = {{ add: (name) => classes.add(name), remove: (name) => classes.delete(name) }};
        global.document = {{
          documentElement: {{ classList }},
          addEventListener: (event, act) => seen.push(event, act),
          querySelectorAll: () => {tables},
        }};
        require({json.dumps(str(SCRIPT))});
        const before = [...classes];
        let failed = false;
        try {{ seen[1](); }} catch {{ failed = true; }}
        console.log(JSON.stringify([before, seen[0], failed, [...classes]]));
    """
    found = subprocess.run(["node", "-e", program], capture_output=True, text=True, check=True, timeout=60).stdout
    assert json.loads(found) == [[TO_COME], "DOMContentLoaded", tables != "[]", []]


def test_the_script_asks_nothing_of_the_network():
    text = SCRIPT.read_text(encoding="utf-8")
    assert not re.search(r"https?:|fetch|import\b|XMLHttpRequest|innerHTML", text)
    assert 'setAttribute("aria-sort"' in text and 'setAttribute("role", "status")' in text


@node
@pytest.mark.parametrize(
    ("cell", "key"),
    [
        ("−92.13", -92.13),
        ("33,800", 33800),
        ("1,234,567", 1234567),
        ("+0.28 ± 0.04", 0.28),
        ("10 × 20", 10),
        ("", None),
        ("SBN/SBN 200", "sbn/sbn 200"),
        ("2 of rws", "2 of rws"),
    ],
)
def test_what_a_cell_sorts_by(cell, key):
    assert ran(f"keyOf({json.dumps(cell)})") == key


@node
def test_rows_are_sorted_and_filtered():
    rows = [("dna", "−80.10"), ("digits", ""), ("dna", "−9.5"), ("adult", "diverged"), ("dna", "−100.00")]
    given = [{"text": " ".join(row).lower(), "keys": row} for row in rows]
    made = f"{json.dumps(given)}.map((row) => ({{ ...row, keys: row.keys.map(keyOf) }}))"

    def shown(filter, column, order):
        return ran(f"selected({made}, {json.dumps(filter)}, {column}, {json.dumps(order)}).map((row) => row.keys[1])")

    assert shown("", 1, "none") == [-80.1, None, -9.5, "diverged", -100]
    assert shown("", 1, "ascending") == [-100, -80.1, -9.5, "diverged", None]
    assert shown("", 1, "descending") == ["diverged", -9.5, -80.1, -100, None]
    assert shown("DNA 0", 1, "ascending") == [-100, -80.1] and shown("mnist", 0, "none") == []
