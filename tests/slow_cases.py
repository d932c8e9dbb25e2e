"""Which cases of a test the default suite runs."""

import pytest


def mostly_slow(fast, cases):
    """Parameters of tests, those that are not in `fast` marked as slow; a case of several values is a tuple."""
    return [
        pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[] if case in fast else pytest.mark.slow)
        for case in cases
    ]
