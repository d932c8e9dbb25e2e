"""Packages that only a part of serving needs."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import ModuleType


def optional(module: str) -> ModuleType:
    """Imports a module of the extra `serving`.

    Raises:
      ImportError: if it is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        package = module.partition(".")[0].replace("_", "-")
        raise ImportError(f"This needs {package}: pip install tfdsmcmc[serving]. ({error})") from error
