"""Commands: those that there are, those that documentation names, and what their modules import."""

import ast
import pathlib
import re

ROOT = pathlib.Path(__file__).parents[1]
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "Makefile", "saved_models/README.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]
PACKAGES = ("experiments", "benchmarks", "stress")


def modules(package):
    """The modules of a package at the top, a dict from dotted names to paths; a package's own is its `__init__`."""
    paths = sorted((ROOT / package).rglob("*.py"))
    return {".".join(path.relative_to(ROOT).with_suffix("").parts): path for path in paths}


def commands(package):
    """What `python -m` runs of a package by hand: modules that end in a call, a dict from names to paths."""
    found = {name: path for name, path in modules(package).items() if "if __name__ ==" in path.read_text("utf-8")}
    return {name.removesuffix(".__main__"): path for name, path in found.items()}


def named(text):
    """The commands in a text: pairs (name or path, its options up to the end of the line, continued lines included)."""
    whole = text.replace("\\\n", " ")
    pattern = r"(?:python|/python) (?:-m ((?:experiments|benchmarks|stress)[\w.]*)|(recipes/\w+\.py))([^\n`|]*)"
    for match in re.finditer(pattern, whole):
        yield match[1] or match[2], re.findall(r"(?<!\S)--[a-z][a-z-]*", match[3])


def imported(tree):
    """The dotted names of all imports of a module, with a dot in front for each level where they are relative.

    `from a import b` counts as a.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
