"""Ends with an error where a tag, "v1.2.3", does not name the version of the package and of CITATION.cff."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PATTERNS = {"tfdsmcmc/__init__.py": r'^__version__ = "(.+)"$', "CITATION.cff": r"^version: (.+)$"}


def main(tag: str) -> int:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in PATTERNS}
    found = {path: re.search(line, texts[path], re.MULTILINE)[1] for path, line in PATTERNS.items()}
    wrong = {path: version for path, version in found.items() if f"v{version}" != tag}
    if wrong:
        print(f"The tag must be v and the version. Received: {tag}, of {wrong}", file=sys.stderr)
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
