"""What the tests of the table share."""

import json

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.method_table.arguments import parse
from experiments.method_table.settings import settings_of

_SIZES = (
    "--dataset tiny --no-jit --updates 4 --minutes 9 --batch-size 20 --test-samples 30 --refit-updates 2 "
    "--posterior-samples 2 --hidden-units 3 --test-rows 10"
)


@pytest.fixture
def tiny(tmp_path):
    """Arguments that find a small dataset of uneven pixels, and write into a folder of the test."""
    rng = np.random.default_rng(0)
    splits = [(rng.random((rows, 6)) < np.linspace(0.1, 0.8, 6)).astype(np.uint8) for rows in (60, 20, 30)]
    ds.datasets.pack(tmp_path / "tiny.npz", *splits)
    return [*_SIZES.split(), "--data-dir", str(tmp_path), "--output", str(tmp_path / "out")]


@pytest.fixture
def recorded(tmp_path):
    """A function that reads the rows on record."""
    return lambda: [json.loads(line) for line in (tmp_path / "out" / "results.jsonl").read_text().splitlines()]


@pytest.fixture
def settings(tiny):
    """A function that gives the settings of a method's row."""
    return lambda method, *more: settings_of(method, parse([*tiny, *more]))
