"""Runs the examples of a page in the folder where one stands: `python readme_example.py README.md`."""

import pathlib
import re
import sys


def blocks(text: str) -> list[str]:
    """The blocks of Python, but those after a line <!-- not run -->."""
    pattern = re.compile(r"(<!-- not run -->\n)?^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
    return [code for left_out, code in pattern.findall(text) if not left_out]


def main(page: str) -> None:
    namespace = {"__name__": "example"}
    found = blocks(pathlib.Path(page).read_text(encoding="utf-8"))
    if not found:
        raise ValueError(f"There must be an example. Received: {page}")
    for code in found:
        exec(compile(code, page, "exec"), namespace)


if __name__ == "__main__":
    main(sys.argv[1])
