"""Commands that documentation names, and what a module imports."""

import ast
import pathlib

ROOT = pathlib.Path(__file__).parents[1]


def imported(tree):
    """The dotted names of all absolute imports of a module; `from a import b` counts as a."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")
