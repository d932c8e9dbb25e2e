"""The architecture and the method of an imputer, where they are not given."""

from __future__ import annotations

from typing import Any

# of as many binary columns as weights between any two are worth learning for, of more, of real ones, of several kinds
BINARY, WIDE, REAL, MIXED = "DARN/DARN 50", "SBN/SBN 50", "VAE 10", "VAE 10"
_MOST_COLUMNS = 256
_SAMPLER = {"num_chains": 1}  # the method's own defaults, in the time of one chain
_DEPENDENT = ("DARN", "NADE")  # kinds of data layers whose units depend on each other given the hidden ones


def chosen(
    architecture: str | None,
    method: str | None,
    options: dict[str, Any] | None,
    binary: bool,
    num_columns: int,
    gaps: bool,
    mixed: bool = False,
) -> tuple[str, str, dict[str, Any]]:
    """(architecture, method, its options), with defaults in place of None.

    Args:
      architecture: as in `models.from_name`.
      method: name of a function in `methods`.
      options: its arguments.
      binary: whether all columns are binary.
      num_columns: how many there are.
      gaps: whether any entry is missing.
      mixed: whether columns are of several kinds.
    """
    if architecture is None:
        # a method of the user's own, or one with options, need not draw what is missing
        dependent = not gaps or method is None and options is None
        architecture = (BINARY if dependent and num_columns <= _MOST_COLUMNS else WIDE) if binary else REAL
        architecture = MIXED if mixed else architecture
    if method is not None:
        return architecture, method, {} if options is None else options
    if "VAE" in str(architecture):
        return architecture, "iwae", {} if options is None else options
    options = _SAMPLER if options is None else options
    if gaps and binary and _dependent(str(architecture)):
        return architecture, "dsgnht_gibbs", {"draw_missing": True, **options}
    return architecture, "dsgnht_nais", options


def _dependent(architecture):
    """Whether there are hidden units, and units of the data layer depend on each other besides."""
    kind, *widths = architecture.split() or [""]
    return kind.startswith(_DEPENDENT) and bool(widths)
