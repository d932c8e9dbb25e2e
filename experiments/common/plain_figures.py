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


def bound_figures(estimate):
    """The same of a bound, which has no effective sample size; infinite numbers as they are."""
    mean = estimate.mean()
    return {"value": float(mean), "standard_error": mean.standard_error, "row_standard_error": mean.row_standard_error}


def named_figures(estimate):
    """The mean over the rows and its errors under the names that readers of a single run look for."""
    mean = estimate.mean()
    return {
        "log_likelihood": float(mean),
        "monte_carlo_standard_error": mean.standard_error,
        "row_standard_error": mean.row_standard_error,
        "effective_sample_size": mean.effective_sample_size,
    }
