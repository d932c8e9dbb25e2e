"""Packages that only a part of serving needs."""

from __future__ import annotations

import importlib


def optional(module):
    """Imports a module of the extra `serving`.

    Raises:
      ImportError: if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(f"This needs {package}: pip install tfdsmcmc[serving]. ({error})") from error
