"""Mixtures with the warm start on tables: their rows as bits, a run, the page."""

import json
import pathlib

import numpy as np
import pandas
import pytest

from experiments.budget_study import halves
from experiments.common import finished_runs
from experiments.common.marked_page import markers

DOCS = pathlib.Path(__file__).parents[3] / "docs"


def test_states_and_quarters_are_columns_of_bits():
    frame = pandas.DataFrame({"a": np.arange(8.0), "b": pandas.Categorical(["x", "y"] * 4), "c": 1.0})
    found = halves.bits(frame)
    assert found.shape == (8, 6) and found.dtype == np.uint8
    np.testing.assert_array_equal(found[:, :4], np.repeat(np.eye(4), 2, 0))
    np.testing.assert_array_equal(found[:, 4], [1, 0] * 4)


def test_a_gain_is_that_of_the_choice():
    rows = {"weights": np.array([-2.0, -4.0]), "weights_and_start": np.array([-1.0, -4.0])}
    about = {"table": "t", "architecture": "SBN 2", "train_rows": 1200, "columns": 7, "without": "weights"}
    made = halves.made([({**about, "with": "weights_and_start"}, rows), ({**about, "with": "weights"}, rows)])
    assert "| t | 1,200 | 7 | SBN 2 | weights | weights_and_start | −3.00 | −2.50 | +0.50 ± 0.50 |" in made
    assert "| weights | weights | −3.00 | −3.00 | 0 |" in made
    assert "A mixture was chosen in 1 of 2 runs. The gain is 0.250 nats on average." in made


@pytest.mark.slow
def test_a_run(tmp_path):
    words = ["--tables", "wine", "--architectures", "DARN/DARN 2", "--updates", "200", "--samples", "10"]
    halves.main([*words, "--output", str(tmp_path), "--record", str(tmp_path / "record.jsonl")])
    line = json.loads((tmp_path / "record.jsonl").read_text())
    assert {"weights", "units", "draws", "start", "weights_and_start", "units_and_start"} == set(line["rows"])


def test_the_page_is_what_the_record_makes():
    begin, end = markers(halves.COMMAND)
    shown = (DOCS / "study_appendix.md").read_text(encoding="utf-8").split(begin)[1].split(end)[0]
    assert shown.strip() == halves.made(finished_runs.recorded(DOCS / "halves.jsonl")).strip()
