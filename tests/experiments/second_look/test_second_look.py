"""What looks and annealing say of a climb: estimates at its epochs, the record, and the page."""

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.second_look import __main__ as second_look
from tests.posterior.support import X


@pytest.mark.slow
def test_estimates_are_those_of_the_weights_along_the_climb(monkeypatch):
    """At the end they are those of the model that is left; a climb without looks lasts as planned."""
    kept = {}
    monkeypatch.setattr(second_look, "seeded_model", lambda *a: kept.setdefault("model", seeded(*a)))
    found = second_look.climbed(np.tile(X, (13, 1)), X, "SBN/SBN 3-2", 8, 4, 6, 5)  # two updates an epoch
    model, x = kept["model"], second_look.random_rows(X, 6, 0)
    assert [line["step"] for line in found] == [4, 8]
    assert int(np.max(model.run.state.kernel_results.begins)) == 7
    # the last of the updates is one of sampling, and nothing goes back
    exact = {
        "looks": model.log_likelihood(x, 25, 5).value,
        "draws": model.log_likelihood(x, 1000, 5).value,
        "short": ds.likelihood.annealed_importance_sampling(model, x, 100, 1, "recognition", seed=5).value,
        "long": ds.likelihood.annealed_importance_sampling(model, x, 1000, 1, seed=5).value,
    }
    for name, value in exact.items():
        assert found[-1][name] == pytest.approx(np.mean(value), abs=6e-4)


seeded = second_look.seeded_model


def test_what_is_on_record_is_not_climbed_again(monkeypatch, tmp_path, capsys):
    asked = []

    def climbed(train, valid, *how):
        asked.append((len(train), *how))
        return [{"step": 500, "looks": -5.0, "draws": -4.0, "short": -3.5, "long": -3.25}]

    data = ds.datasets.Dataset("dna", X, X[:3], X[:3], (X.shape[1],))
    monkeypatch.setattr(ds.datasets, "load", {"dna": data}.__getitem__)
    monkeypatch.setattr(second_look, "climbed", climbed)
    page, record = tmp_path / "page.md", ["--record", str(tmp_path / "record.jsonl")]
    begin, end = (f"<!-- made by python -m experiments.second_look: {one} -->" for one in ("begin", "end"))
    page.write_text(f"before\n{begin}\n{end}\nafter\n")
    for rows in ("2", "2", "0"):
        second_look.main(["--dataset", "dna", "--train-rows", rows, *record, "--page", str(page)])
    second_look.main(record)
    how = "SBN/SBN 100-50", 6000, 500, 200, 0
    assert asked == [(2, *how), (len(X), *how)]
    for text in (page.read_text(), capsys.readouterr().out):
        for data in ("dna[:2]", "dna"):
            assert f"| {data} | SBN 100-50 | 500 | −5.00 | −4.00 | −3.50 | −3.25 |" in text


def test_updates_that_are_no_whole_epochs_are_refused(capsys):
    with pytest.raises(SystemExit):
        second_look.main(["--dataset", "dna", "--updates", "700"])
    assert "--updates must be a multiple of --every. Received: 700 and 500" in capsys.readouterr().err
