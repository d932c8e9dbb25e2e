"""What samples closer together are worth: the record of a run, the table, the page."""

import pathlib

import numpy as np

import tfdsmcmc as ds
from experiments.budget_study import spacing
from experiments.common import files
from experiments.common.marked_page import markers
from experiments.common.rows import random_rows
from tfdsmcmc.posterior.store import Sample

DOCS = pathlib.Path(__file__).parents[3] / "docs"


def test_every_fourth_draw_of_a_run_is_beside_all_of_them(tmp_path):
    data, folder = ds.datasets.load("digits"), tmp_path / "runs" / "digits_0"
    model = ds.models.from_name("SBN/SBN 2", 64, seed=0)
    model.compile("sgld", steps_per_execution=2)
    collector = ds.posterior.Collector(folder / "posterior", 9, burn_in=0, every=1)
    model.fit(data.train[:100], batch_size=50, epochs=9, callbacks=[collector], verbose=0)
    about = {"name": "digits_0", "dataset": "digits[:100]", "architecture": "SBN/SBN 2", "chains": 1, "budget": 1.0}
    files.write_json(folder / "result.json", {**about, "seed": 0, "annealing_steps": 0})
    words = [str(tmp_path / "runs"), "--record", str(tmp_path / "spacing.jsonl")]
    spacing.main([*words, "--test-rows", "5", "--test-samples", "20"])
    (line,) = files.lines(tmp_path / "spacing.jsonl")
    assert (line["apart"], line["draws"], line["name"]) == (2.0, 9, "digits_0")
    x, posterior = random_rows(data.test, 5, seed=0), ds.posterior.load(folder / "posterior")
    some = ds.posterior.Posterior(None, [posterior.samples[place] for place in (0, 4, 8)])
    for name, part in {"all": posterior, "some": some}.items():
        for average in ("weights", "units"):
            expected = part.log_likelihood(model, x, 20, average=average).value
            np.testing.assert_allclose(line["rows"][f"{average} {name}"], expected, atol=6e-4)
    assert line["rows"]["units all"] != line["rows"]["units some"]
    spacing.main(words)  # what is on record is not made again
    assert files.lines(tmp_path / "spacing.jsonl") == [line]


def test_the_autocorrelation_is_that_of_weights_that_move():
    """An alternating weight has (1 − M)/M, one of −1, 0, 1, 0 has none, and one at rest does not count."""
    weights = np.array([[1.0, -1.0, 5.0], [-1.0, 0.0, 5.0], [1.0, 1.0, 5.0], [-1.0, 0.0, 5.0]])
    samples = [Sample([row[:2], row[2:, np.newaxis]], [], step, 0) for step, row in enumerate(weights)]
    posterior = ds.posterior.Posterior(None, samples)
    np.testing.assert_allclose(spacing.autocorrelation(posterior), (-3 / 4 + 0.0) / 2)


def test_a_gain_is_of_all_draws_over_every_fourth():
    rows = {"weights all": [-2.0, -4.0], "weights some": [-2.0, -4.0], "units all": [-1.0, -2.0]}
    line = {"dataset": "d", "architecture": "DARN 2", "seed": 1, "apart": 28.0, "draws": 50}
    line |= {"autocorrelation": 0.1249}
    made = spacing.made([{**line, "rows": {**rows, "units some": [-2.0, -4.0]}}])
    assert "| d | DARN 2 | 1 | 28 | 50 | 0.12 | +0.00 ± 0.00 | +1.50 ± 0.50 |" in made


def test_the_page_is_what_the_record_makes():
    begin, end = markers(spacing.COMMAND)
    shown = (DOCS / "study_appendix.md").read_text(encoding="utf-8").split(begin)[1].split(end)[0]
    assert shown.strip() == spacing.made(files.lines(DOCS / "spacing.jsonl")).strip()
