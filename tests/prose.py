"""How long the sentences of a Markdown page are, and how many numbers stand in a cell of its tables.

A sentence ends at a full stop, a question mark or an exclamation mark, and so does a paragraph, an entry of a list and
whatever stands before a block of code. What is no sentence is left out: front matter, comments, headings, pictures,
tables, and code in blocks. Code within a sentence is one word, and so are a link's words each; an address is none.
"""

import re

_LEFT_OUT = (
    (r"(?s)\A---\n.*?\n---\n", ""),  # front matter
    (r"(?s)<!--.*?-->", ""),
    (r"(?ms)^(`{3,}|~{3,}|:{3,}).*?^\1[^\S\n]*$", "\n"),  # code, and directives of MyST
    (r"(?m)^<[^>]+>[^\S\n]*$", "\n"),  # a line of HTML, such as a picture
    (r"(?m)^#+ .*$", "\n"),
    (r"(?m)^\s*\|.*$", "\n"),  # a line of a table
)
_WITHIN = (
    (r"!\[[^\]]*\]\([^)]*\)", ""),  # a picture
    (r"`[^`\n]+(?:\n[^`\n]+)?`", " Code "),
    (r"\$[^$\n]+\$", " Formula "),
    (r"\[([^\]]*)\]\([^)]*\)", r"\1"),
    (r"<(?:https?://)[^>]+>", ""),
    (r"[*_]{1,2}(?=\S)|(?<=\S)[*_]{1,2}", ""),
)
_ENTRY = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+", re.MULTILINE)
_END = re.compile(r"(?<![A-Z])[.!?][)\"”’]*\s+(?=[^\W_a-z]|[\"“(])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:-\d+)*(?:,\d{3})*(?:\.\d+)?")


def paragraphs(text):
    """The prose of a page, a string for each paragraph and each entry of a list."""
    for pattern, by in _LEFT_OUT:
        text = re.sub(pattern, by, text)
    text = "\n\n".join(part for part in re.split(r"\n\s*\n", text) if not _is_code(part))
    for pattern, by in _WITHIN:
        text = re.sub(pattern, by, text)
    parts = re.split(r"\n\s*\n", _ENTRY.sub("\n\n", text))
    return [" ".join(part.split()) for part in parts if part.strip()]


def _is_code(part):
    """Whether all lines between two blank ones are indented, and none begins an entry of a list."""
    lines = [line for line in part.split("\n") if line.strip()]
    return bool(lines) and all(line.startswith("    ") for line in lines) and not _ENTRY.match(lines[0])


def sentences(text):
    """The sentences of a page, in order."""
    found = (sentence for paragraph in paragraphs(text) for sentence in _END.split(paragraph))
    return [sentence for sentence in found if words(sentence)]


def words(sentence):
    """How many of its parts between spaces have a letter or a digit."""
    return sum(bool(re.search(r"\w", part)) for part in sentence.split())


def cells(text):
    """The cells of the tables of a page, without its code blocks."""
    text = re.sub(r"(?ms)^(`{3,}).*?^\1[^\S\n]*$", "\n", text)
    lines = (line.strip() for line in text.splitlines())
    rows = (line for line in lines if line.startswith("|") and not re.fullmatch(r"[|\s:-]+", line))
    return [cell.strip() for row in rows for cell in re.split(r"(?<!\\)\|", row.strip("|"))]


def numbers(cell):
    """How many numbers stand in a cell: none in code or in names such as a_28, one in the sizes 100-50 of layers."""
    return len(_NUMBER.findall(re.sub(r"`[^`]*`|\]\([^)]*\)", "", cell)))
