"""The scores of the imputation table, and a short table."""

import json

import numpy as np
import pytest
import sklearn.metrics

import tfdsmcmc as ds
from experiments.imputation.held_out import imputers, score
from experiments.imputation.held_out.__main__ import main


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    truth, missing, p = rng.integers(0, 2, (50, 8)), rng.random((50, 8)) < 0.4, rng.random((50, 8))
    found = score.score(truth, missing, p)
    assert found["log_loss"] == pytest.approx(sklearn.metrics.log_loss(truth[missing], p[missing]))
    assert found["accuracy"] == pytest.approx(100 * sklearn.metrics.accuracy_score(truth[missing], p[missing] > 0.5))
    assert score.score(truth, missing, np.where(truth, 0.0, 1.0))["log_loss"] == pytest.approx(-np.log(1e-3))
    # the stated error against the spread of bootstrapped rows
    index = rng.integers(0, 50, (2000, 50))
    replicates = [score.score(truth[i], missing[i], p[i])["log_loss"] for i in index]
    assert found["log_loss_error"] == pytest.approx(np.std(replicates), rel=0.15)


def test_gaps_are_at_random_and_leave_the_rest_alone():
    x = np.random.default_rng(2).integers(0, 2, (2000, 5)).astype(np.float32)
    found = score.gaps(x, 0.3, np.random.default_rng(3))
    missing = np.isnan(found)
    np.testing.assert_array_equal(found[~missing], x[~missing])
    assert missing.mean() == pytest.approx(0.3, abs=6 * np.sqrt(0.3 * 0.7 / x.size))


def test_neighbours_state_no_certainties():
    train = np.repeat([[0.0, 0.0, 1.0], [1.0, 1.0, 0.0]], 12, axis=0)
    found = imputers.neighbours(train)(np.array([[1.0, 1.0, np.nan], [np.nan, 0.0, 1.0]]))
    np.testing.assert_allclose(found, [[1, 1, 0.5 / 11], [0.5 / 11, 0, 1]])


@pytest.mark.parametrize(
    ("options", "received"),
    [("--missing 0.3 1.5", "Received: 1.5"), ("--rows 0", "Received: 0"), ("--burn-in -1", "Received: -1")],
)
def test_numbers_out_of_range_are_told_before_any_work(tmp_path, capsys, options, received):
    with pytest.raises(SystemExit):
        main([*options.split(), "--output", str(tmp_path / "runs")])
    assert received in capsys.readouterr().err and not (tmp_path / "runs").exists()


@pytest.mark.parametrize(
    ("options", "received"),
    [
        ("--seen gaps --learnt runs", "Received: --seen gaps"),
        ("--seen complete --learnt none", "a model.keras. Received: none"),
    ],
)
def test_what_cannot_be_done_is_told_before_any_work(tmp_path, options, received):
    with pytest.raises(ValueError, match=received):
        main([*options.split(), "--output", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()


@pytest.mark.slow
def test_a_short_table(tmp_path):
    options = "--dataset digits --updates 24 --posterior-samples 1 --rows 20 --train-rows 50 --missing 0.3"
    options = [*options.split(), "--architecture", "SBN/SBN 5", "--output", str(tmp_path)]

    def rows_by(*more):
        main([*options, *more])
        return json.loads((tmp_path / "results.json").read_text())["rows"]

    rows = rows_by()
    assert [(row["seen"], row["method"]) for row in rows][2::4] == [("complete", "tfdsmcmc"), ("gaps", "tfdsmcmc")]
    assert len(rows) == 7
    assert all(0 < row["log_loss"] < 2 and 40 < row["accuracy"] <= 100 for row in rows)
    fewer = rows_by("--seen", "complete", "--burn-in", "3", "--sweeps", "2")
    assert fewer[:4] == rows[3:]  # what was seen otherwise stays
    fewer = fewer[4:]
    assert [row["seen"] for row in fewer] == 3 * ["complete"] and fewer[0]["arguments"]["sweeps"] == 2
    assert [was["log_loss"] == now["log_loss"] for was, now in zip(rows, fewer)] == [True, True, False]
    model = ds.models.from_name("SBN/SBN 5", 64)
    model.save(tmp_path / "model.keras")
    options += ["--seen", "complete", "--learnt", str(tmp_path), "--sweeps", "2", "--burn-in", "0"]
    more = rows_by()[-1]
    assert more["method"] == f"tfdsmcmc: {tmp_path}" and 0 < more["log_loss"] < 2
