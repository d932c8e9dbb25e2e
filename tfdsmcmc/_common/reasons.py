"""Why something failed, in one line."""

from __future__ import annotations


def reason_of(error: Exception) -> str:
    """The first line of what an error says, or the name of its kind."""
    said = str(error)
    return said.splitlines()[0] if said.strip() else type(error).__name__
