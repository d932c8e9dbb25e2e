"""The docstrings' plain text as reStructuredText: equations and tables keep their lines, names become links.

A docstring has Google's sections; between them, what is indented is an equation, a table or code:

    θ ← θ + ℓ g           becomes a block that keeps its lines, coloured where it is Python
    `fit(x)`              becomes a literal; a name alone, such as `Prior`, stays and becomes a link where there is one
    p*(x), |x|, x_        have no meaning of markup

What Keras, TFP and others say of members that they leave to a class is not shown.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
import textwrap

PACKAGE = "tfdsmcmc"
_SECTION = re.compile(r"(Args|Attributes|Example|Raises|Returns|Warns|Yields):$")
_NAME = re.compile(r"[A-Za-z_]\w*(\.\w+)*")


def as_rst(lines: list[str]) -> list[str]:
    """The lines of a docstring as reStructuredText, its sections as they were."""
    found, text, section, at = [], [], False, 0
    while at < len(lines):
        line = lines[at]
        if line and not line.startswith(" "):
            section = bool(_SECTION.match(line))
        end = _end_of_block(lines, at, section)
        if end == at:
            text.append(line)
            at += 1
            continue
        found += [*_inline(text), "", *_block(lines[at:end]), ""]
        text, at = [], end
    return found + _inline(text)


def _end_of_block(lines, start, section):
    """Where the block that begins at a line ends: after its last line indented as far; `start` where none begins."""
    if lines[start].startswith(">>>"):
        end = start
        while end < len(lines) and lines[end].strip():
            end += 1
        return end
    least = 6 if section else 4
    if _indent(lines[start]) < least or (start and section and lines[start - 1].strip()):
        return start
    if start and _indent(lines[start - 1]) and lines[start - 1].strip():  # the rest of an item that is wrapped
        return start
    end = start
    for at in range(start, len(lines)):
        if lines[at].strip():
            if _indent(lines[at]) < least:
                break
            end = at + 1
    return end


def _indent(line):
    return len(line) - len(line.lstrip())


def _block(lines):
    """A literal block, or the example of an interpreter."""
    if lines[0].startswith(">>>"):
        return lines
    margin = " " * (4 * (_indent(lines[0]) >= 6))  # inside of a section's item
    code = textwrap.dedent("\n".join(lines))
    return [f"{margin}.. code-block:: {_language(code)}", "", *textwrap.indent(code, f"{margin}   ").split("\n")]


def _language(code):
    try:
        return "python" if ast.parse(code).body else "text"
    except SyntaxError:
        return "text"


def _inline(lines):
    """Literals for what stands in single backquotes and is no name; nothing else is markup."""
    parts = re.split(r"(`[^`]+`\w*)", "\n".join(lines))
    return "".join(_quoted(part) if part.startswith("`") else _escaped(part) for part in parts).split("\n")


def _quoted(part):
    _, content, rest = part.split("`")
    quoted = f"`{content}`" if _NAME.fullmatch(content) else f"``{content}``"
    return f"{quoted}\\ {rest}" if rest else quoted


def _escaped(text):
    """Stars, bars and trailing underscores are meant as they are."""
    return re.sub(r"([*|\\])|(?<=\w)_(?!\w)", lambda match: "\\" + match[0], text)


def own_words(member) -> bool:
    """Whether the docstring that a member has, or inherits, is of this package."""
    function = getattr(member, "fget", member)
    function = inspect.unwrap(getattr(function, "__func__", function))
    module = getattr(function, "__module__", None) or ""
    if not module.startswith(PACKAGE):
        return False
    if function.__doc__ or "." not in getattr(function, "__qualname__", ""):
        return bool(function.__doc__)
    owner = sys.modules[module]
    *classes, name = function.__qualname__.split(".")
    for part in classes:
        owner = getattr(owner, part, None)
    for base in inspect.getmro(owner) if inspect.isclass(owner) else ():
        inherited = base.__dict__.get(name)
        if getattr(inherited, "__doc__", None):
            return base.__module__.startswith(PACKAGE)
    return False


def _process(app, what, name, obj, options, lines):
    # of a property napoleon would take for a type what stands before a colon in the first line: let that be a comment
    lines[:] = ["..", ""] * (what == "property") + as_rst(lines)


def _skip(app, what, name, obj, skip, options):
    """Members that say nothing, or nothing of this package's own."""
    if skip or inspect.isclass(obj) or not own_words(obj):
        return True
    return None


def _signature(app, what, name, obj, options, signature, returns):
    """Of a class what its constructor takes: Keras puts a `__new__` of any arguments in front of it."""
    if what not in ("class", "exception") or not (getattr(obj.__init__, "__module__", None) or "").startswith(PACKAGE):
        return None
    from sphinx.util.inspect import signature as signature_of
    from sphinx.util.inspect import stringify_signature

    found = signature_of(obj.__init__, bound_method=True)
    return stringify_signature(found, show_return_annotation=False, unqualified_typehints=True), None


def setup(app):
    app.connect("autodoc-process-docstring", _process, priority=100)  # before napoleon
    app.connect("autodoc-skip-member", _skip)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True}
