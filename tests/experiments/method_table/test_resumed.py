"""Rows of a table that are interrupted go on as if they had not been."""

import json
import shutil

import keras
import pytest

from experiments.method_table import evaluation
from experiments.method_table import row as table_row
from experiments.method_table.__main__ import main
from experiments.method_table.budget import Budget
from tfdsmcmc.posterior import store


@pytest.mark.slow
@pytest.mark.parametrize("method", ["dsgnht_nais", "rws", "nvil", "rws_published"])
def test_an_interrupted_row_goes_on_as_if_it_had_not_been(tiny, tmp_path, monkeypatch, recorded, method):
    monkeypatch.setattr(table_row, "_ROUND", 2)
    rates = ["--momentum-rate", "0.003"]
    looks = ["--patience", "8"]  # a look at validation data after each round
    arguments = [*tiny, "--methods", method, "--architectures", "SBN 3", "--updates", "10", *rates, *looks]
    main(arguments)
    (whole,) = recorded()
    shutil.rmtree(tmp_path / "out")

    save = keras.callbacks.BackupAndRestore.on_epoch_end
    for rounds in (1, 5):  # before there is a backup, and just before the fifth, which is of a second phase if any is
        left = iter(range(rounds - 1, -1, -1))

        def interrupted(self, epoch, logs=None, left=left):
            if next(left) == 0:
                raise KeyboardInterrupt
            save(self, epoch, logs)

        monkeypatch.setattr(keras.callbacks.BackupAndRestore, "on_epoch_end", interrupted)
        with pytest.raises(KeyboardInterrupt):
            main(arguments)
    monkeypatch.setattr(keras.callbacks.BackupAndRestore, "on_epoch_end", save)
    evaluate, steps = evaluation.evaluate, []

    def learnt(model, method, settings, data, folder):
        steps.extend(store.step_of(path) for path in store.sample_paths(folder / "posterior"))
        raise KeyboardInterrupt

    monkeypatch.setattr(evaluation, "evaluate", learnt)
    with pytest.raises(KeyboardInterrupt):
        main(arguments)
    assert steps == ([6, 8] if method == "dsgnht_nais" else [])  # after two of five rounds
    monkeypatch.setattr(evaluation, "evaluate", evaluate)
    monkeypatch.setattr(Budget, "on_epoch_begin", lambda *_: pytest.fail("it has been learnt"))
    main(arguments)
    (resumed,) = recorded()
    assert resumed["updates"] == whole["updates"] == (12 if method == "rws_published" else 10)
    assert resumed["log_likelihood"] == whole["log_likelihood"]
    without = [{name: part for name, part in point.items() if name != "seconds"} for point in resumed["curve"]]
    assert without == [{name: part for name, part in point.items() if name != "seconds"} for point in whole["curve"]]


@pytest.mark.slow
def test_a_row_whose_minutes_end_early_samples_in_half_of_them(tiny, tmp_path, monkeypatch, recorded):
    """Of a million updates there is time for some rounds: half of the seconds are sampling, within a round's."""
    monkeypatch.setattr(table_row, "_ROUND", 2)
    late = ["--updates", "1000000", "--minutes", "0.05", "--patience", "1000000000"]
    kept = []
    evaluate = evaluation.evaluate

    def watched(model, method, settings, data, folder):
        kept.append(json.loads((folder / "phase_0" / "progress.json").read_text()))
        kept.append(int(model.run.state.kernel_results.begins))
        return evaluate(model, method, settings, data, folder)

    monkeypatch.setattr(evaluation, "evaluate", watched)
    main([*tiny, "--methods", "dsgnht_nais", "--architectures", "SBN 3", *late])
    (row,) = recorded()
    account, begins = kept
    assert begins == 2 * account["burn_in"] < row["updates"] < 1000000 and row["posterior_samples"] >= 1
    assert "mean" in row["log_likelihood"] and row["wall_time_seconds"] >= 3
