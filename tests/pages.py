"""The code of Markdown pages: the cells of those that are notebooks, and how blocks of code are run."""

import re
from collections.abc import Iterable


def cells(text: str) -> list[str]:
    """The code of the cells of a MyST notebook, in order, without lines of IPython such as `%matplotlib inline`."""
    found = re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```[^\S\n]*$", text, re.MULTILINE | re.DOTALL)
    return [re.sub(r"^%.*$", "", cell, flags=re.MULTILINE) for cell in found]


def front_matter(text: str) -> dict[str, str]:
    """The lines `name: value` between the dashes with which a page begins; nested ones by `outer.name`."""
    lines = re.match(r"---\n(.*?)^---\n", text, re.MULTILINE | re.DOTALL)
    found, outer = {}, ""
    for indent, name, value in re.findall(r"^( *)([\w-]+):[^\S\n]*(.*)$", lines[1] if lines else "", re.MULTILINE):
        outer = outer if indent else name
        if value:
            found[f"{outer}.{name}" if indent else name] = value
    return found


def run(blocks: Iterable[str], name: str) -> None:
    """Runs blocks of code in one namespace, one after the other."""
    namespace = {"__name__": name}
    for number, code in enumerate(blocks):
        exec(compile(code, f"{name}, block {number}", "exec"), namespace)
