"""Packages that may be there."""

import importlib.util


def has(package):
    """Whether a package is there."""
    try:
        return importlib.util.find_spec(package) is not None
    except ValueError:  # named, but not there
        return False
