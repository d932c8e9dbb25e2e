"""Where links lead: names in docstrings, and files that lie outside of this folder.

A name in a docstring, `Prior` or `likelihood.sandwich` or `ds.posterior.load`, is looked for among the public names,
and in a signature, such as `Seed`, among the types that have a page. A page that links to a file of the repository
leads to the page that the site has of it, or to the repository where `[project.urls]` names one; else the words stay
and the link goes.
"""

from __future__ import annotations

import functools
import os
import pathlib
import posixpath
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = {  # files of the repository that the site has a page of
    "CHANGELOG.md": "project/changelog.md",
    "CODE_OF_CONDUCT.md": "project/code_of_conduct.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "README.md": "index.md",
    "SECURITY.md": "project/security.md",
    "saved_models/README.md": "project/saved_models.md",
}
TYPES = "reference/types"  # the page of types in signatures
_LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
_CODE = re.compile(r"(^```.*?^```|^ {4}[^\n]*$)", re.MULTILINE | re.DOTALL)  # a["b"](c) is no link there


def repository() -> str | None:
    """The address of the repository, where the environment or `pyproject.toml` has one, as for `setup.py`."""
    try:
        import tomllib
    except ImportError:  # Python 3.10, where Sphinx brings it
        import tomli as tomllib

    urls = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"].get("urls", {})
    return os.environ.get("PROJECT_REPOSITORY") or urls.get("Repository")


def redirected(text: str, file: str, page: str, address: str | None) -> str:
    """The text of a file, with its links led to where they lead from a page of the site.

    Args:
      text: Markdown.
      file: its path in the repository, "docs/guide.md".
      page: path of the page, "guide.md", below `docs/`.
      address: of the repository; None where it has none.
    """

    def moved(match):
        words, path, heading = match[1], match[2], match[3] or ""
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path))
        if "://" in path or path.startswith("mailto:"):
            return match[0]
        if not target.startswith("docs/") and target not in PAGES:
            return f"[{words}]({address}/blob/main/{target}{heading})" if address else words
        place = PAGES.get(target, target.removeprefix("docs/"))
        heading = "" if place == "index.md" else heading
        return f"[{words}]({posixpath.relpath(place, posixpath.dirname(page) or '.')}{heading})"

    return "".join(part if place % 2 else _LINK.sub(moved, part) for place, part in enumerate(_CODE.split(text)))


def _read(app, docname, source):
    path = pathlib.Path(app.env.doc2path(docname))
    if path.suffix != ".md":
        return
    page = path.relative_to(app.srcdir).as_posix()
    files = {of_site: file for file, of_site in PAGES.items() if of_site != "index.md"}
    file = files.get(page, f"docs/{page}")
    if page in files:
        app.env.note_dependency(str(ROOT / file))
        source[0] = (ROOT / file).read_text(encoding="utf-8")
    source[0] = redirected(source[0], file, page, repository())


def candidates(target: str, names, module: str | None) -> list[str]:
    """The public names that a word may mean, the best first: one of its own module, then the shortest."""
    target = re.sub(r"^(ds|tfdsmcmc)\.", "", target)
    if "." not in target and not target[:1].isupper():  # an argument, more likely than a function elsewhere
        return []
    found = [name for name in names if name == f"tfdsmcmc.{target}" or name.endswith(f".{target}")]
    return sorted(found, key=lambda name: (not name.startswith(f"{module}."), len(name), name))


@functools.cache
def types_of_page() -> set[str]:
    """The types that the page of types has: those of the module that it shows, and those that its words describe."""
    shown = (ROOT / "tfdsmcmc" / "_common" / "types.py").read_text(encoding="utf-8")
    words = (ROOT / "docs" / f"{TYPES}.md").read_text(encoding="utf-8")
    return set(re.findall(r"^(?:class )?(\w+)(?:: TypeAlias|\()", shown, re.MULTILINE)) | set(
        re.findall(r"(?:^|\. )`(\w+)` is ", words, re.MULTILINE)
    )


def _resolve(app, env, node, contnode):
    if node.get("refdomain") != "py":
        return None
    from sphinx.util.nodes import make_refnode

    if node["reftarget"] in types_of_page():
        return make_refnode(app.builder, node["refdoc"], TYPES, "", contnode)
    objects = env.get_domain("py").objects
    names = [name for name, entry in objects.items() if name.startswith("tfdsmcmc") and not entry.aliased]
    for name in candidates(node["reftarget"], names, node.get("py:module")):
        entry = objects[name]
        return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, contnode, name)
    return None


def setup(app):
    app.connect("source-read", _read)
    app.connect("missing-reference", _resolve)
    return {"parallel_read_safe": True}
