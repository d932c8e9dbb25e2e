"""The documentation's own code, and the site where one has been built: `make docs`."""

import importlib.util
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]


def extension(name):
    """A module of `docs/_extensions`, which is no package."""
    path = ROOT / "docs" / "_extensions" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
