"""Estimates as plain numbers, for files."""

import math


def figures(estimate):
    """The mean over the rows and its errors as plain numbers."""
    mean = estimate.mean()
    names = ("value", "standard_error", "row_standard_error", "effective_sample_size")
    return plain(**{name: getattr(mean, name) for name in names})


def plain(**values):
    """Numbers for a file; null for what is not finite."""
    return {name: float(value) if math.isfinite(value) else None for name, value in values.items()}
