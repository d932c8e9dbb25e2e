"""The README as a package index shows it, with links that lead to the repository; all else stands in pyproject.toml.

The address, such as https://host/owner/name, is `Repository` of `[project.urls]`, or the environment's
PROJECT_REPOSITORY. Where neither is there, links stay as they are.
"""

import os
import pathlib
import re

from setuptools import setup

ROOT = pathlib.Path(__file__).resolve().parent


def address_of(configuration):
    """The address of the repository; None where it is not known."""
    found = re.search(r'^Repository = "([^"]+)"$', configuration, re.MULTILINE)
    return os.environ.get("PROJECT_REPOSITORY") or (found and found[1])


def absolute(text, address, reference):
    """The text, its links to files of the repository as addresses: pages as pages, pictures as their bytes.

    Args:
      text: Markdown.
      address: of the repository, or None.
      reference: tag, branch or commit.
    """
    if not address:
        return text
    pages, pictures = (f"{address.rstrip('/')}/{kind}/{reference}/" for kind in ("blob", "raw"))
    text = re.sub(r"(?<!!)(\[[^\[\]]*\]\()(?![a-z]+:|#)", rf"\g<1>{pages}", text)
    return re.sub(r"(!\[[^\[\]]*\]\(|<img src=\")(?![a-z]+:)", rf"\g<1>{pictures}", text)


def main():
    version = re.search(r'^__version__ = "(.+)"$', (ROOT / "tfdsmcmc/__init__.py").read_text("utf-8"), re.MULTILINE)[1]
    address = address_of((ROOT / "pyproject.toml").read_text("utf-8"))
    readme = absolute((ROOT / "README.md").read_text("utf-8"), address, f"v{version}")
    setup(long_description=readme, long_description_content_type="text/markdown")


if __name__ == "__main__":
    main()
