"""Rows on record, made up."""

import pytest

from experiments.method_table.arguments import parse
from experiments.method_table.settings import settings_of


@pytest.fixture
def row_of(tiny):
    """A function that makes a row of the letters with three minutes.

    Figures are numbers, or pairs of a number and what differs of it.
    """

    def make(method="rws", architecture="SBN/SBN 200", seed=0, look=-40.0, found=None, **more):
        args = parse([*tiny, "--dataset", "ocr_letters", "--seed", str(seed)])
        figures = {"last": -41.0} if found is None else found
        pairs = {name: value if isinstance(value, tuple) else (value, {}) for name, value in figures.items()}
        usual = {"standard_error": 0.3, "row_standard_error": 0.4, "effective_sample_size": 5.0}
        return {
            "method": method,
            "architecture": architecture,
            "dataset": "ocr_letters",
            "settings": settings_of(method if method != "unknown" else "rws", args),
            "updates": 100,
            "wall_time_seconds": 180.0,
            "curve": [{"valid": -1.0, "seconds": 1.0}, {"valid": look, "seconds": 180.0}],
            "log_likelihood": {name: {"value": value, **usual, **differs} for name, (value, differs) in pairs.items()},
            **more,
        }

    return make
