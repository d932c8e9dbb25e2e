"""Climbs that differ in one setting: what is learnt, counted, compared and put on record."""

import json
import pathlib

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.climbs import __main__ as climbs
from experiments.common import files
from tests.oracles import flat
from tests.posterior.support import X

ABOUT = {"dataset": "dna", "columns": "as they are", "architecture": "SBN/SBN 20-10", "updates": 3000, "seed": 0}
LINE = {**ABOUT, "rate": 0.01}
RATE = climbs.SETTINGS["rate"]


def test_a_climb_lasts_as_planned_and_goes_by_its_rate():
    """All but one of the updates, and at a tenth of the rate φ is about a tenth as far from where it began."""
    moved = []
    for rate in (0.01, 0.001):
        model = climbs.climbed("SBN/SBN 3-2", X, 4, 0, rate=rate)
        assert int(model.run.steps) == 4 and int(np.max(model.run.state.kernel_results.begins)) == 3
        assert model.get_compile_config()["latents"]["config"]["warm_up"] == 0
        start = climbs.seeded_model("SBN/SBN 3-2", X, 0)
        layers = zip(model.recognition.get_weights(), start.recognition.get_weights(), strict=True)
        moved.append(max(np.abs(end - begin).max() for end, begin in layers))
    assert moved[0] == pytest.approx(0.04, rel=0.2) and moved[0] / moved[1] == pytest.approx(10, rel=0.2)


@pytest.mark.parametrize("name", ["warm_up", "rws_warm_up"])
def test_a_climb_warms_up_as_told(name):
    """It goes another way than without. An optimizer, which knows no plan, warms up longer here."""
    lengths = 0, 2 if name == "warm_up" else 20
    ends = [climbs.climbed("SBN/SBN 3-2", X, 20, 0, **{name: warm_up}) for warm_up in lengths]
    assert [int(model.run.steps) for model in ends] == [20, 20]
    samplers = [isinstance(model.run.step.kernel, ds.mcmc.WarmStart) for model in ends]
    assert samplers == 2 * [name == "warm_up"]
    first, second = (flat(model.get_weights()) for model in ends)
    assert np.abs(first - second).max() > 1e-3


def test_latents_are_learnt_first_for_a_part_of_the_updates(monkeypatch):
    """Of 20 updates 6 under an SBN, and 14 from where these ended; with a part of 0 all at once."""
    fitted, climbed = [], climbs._fitted

    def watched(model, method, train, updates):
        begun = model.recognition.get_weights()
        climbed(model, method, train, updates)
        fitted.append((type(model.generative.layers[-1]), updates, begun, model.recognition.get_weights()))
        return model

    monkeypatch.setattr(climbs, "_fitted", watched)
    model = climbs.climbed("DARN/SBN 3", X, 20, 0, latents_first=0.3)
    assert [kind for kind, *_ in fitted] == [ds.layers.SBN, ds.layers.DARN] and [one[1] for one in fitted] == [6, 14]
    np.testing.assert_array_equal(fitted[0][3][0], fitted[1][2][0])
    assert int(model.run.steps) == 14 and np.any(fitted[1][2][0] != fitted[1][3][0])
    climbs.climbed("DARN/SBN 3", X, 20, 0, latents_first=0.0)
    assert [one[1] for one in fitted] == [6, 14, 20]


def test_a_part_of_the_updates_leaves_some_for_either_climb():
    parts = {(0.0, 1000): 0, (0.2, 1000): 500, (0.8, 1000): 500, (0.3, 3000): 1000, (0.9, 2): 1, (0.01, 10): 1}
    assert {key: climbs._updates_before(*key) for key in parts} == parts


def test_units_that_are_always_on_or_off_do_not_count():
    model = ds.models.from_name("SBN/SBN 3-2", X.shape[1], seed=0)
    for layer, bias in zip(model.recognition.layers, ([0.0, 50.0, -50.0], [0.0, 0.0]), strict=True):
        layer.kernel.assign(keras.ops.zeros_like(layer.kernel))
        layer.bias.assign(bias)
    assert climbs.units_on(model, np.zeros((200, X.shape[1]), np.float32)) == [1, 2]


def test_what_is_on_record_is_not_made_again(monkeypatch, tmp_path, capsys):
    asked = []

    def line(dataset, columns, architecture, updates, seed, rows, rate):
        asked.append((rate, rows))
        about = {"dataset": dataset, "columns": columns, "architecture": architecture, "updates": updates, "seed": seed}
        return {**about, "rate": rate, "units": [2, 1], "rows": [-3.0, -4.0 - 100 * rate]}

    monkeypatch.setattr(climbs, "line", line)
    record, page = tmp_path / "record.jsonl", tmp_path / "page.md"
    begin, end = (f"<!-- made by python -m experiments.climbs --setting rate: {one} -->" for one in ("begin", "end"))
    page.write_text(f"before\n{begin}\n{end}\nafter\n")
    arguments = ["--dataset", "dna", "--rows", "2", "--record", str(record)]
    climbs.main([*arguments, "--values", "0.01"])
    climbs.main([*arguments, "--values", "0.01", "0.03", "--page", str(page)])
    climbs.main(["--record", str(record)])
    climbs.main(["--dataset", "dna", "--rows", "1", "--record", str(tmp_path / "of_two"), "--values", "0.01"])
    assert asked == [(0.01, 2), (0.03, 2), (0.01, 1)]
    assert [json.loads(one)["rate"] for one in record.read_text().splitlines()] == [0.01, 0.03]
    text = "| dna | SBN 200-200-200 | 5,000 | 0.03 | 2 | 1 | −5.00 | −1.00 ± 1.00 |"
    assert text in page.read_text() and page.read_text().startswith("before\n") and text in capsys.readouterr().out


def test_a_warm_up_on_record_is_not_climbed_again(monkeypatch, tmp_path):
    record = tmp_path / "record.jsonl"
    about = {**ABOUT, "architecture": "SBN/SBN 200-200-200", "updates": 5000, "units": [2, 1], "rows": [-3.0]}
    record.write_text("".join(json.dumps({**about, "warm_up": value}) + "\n" for value in (0, 300)))
    monkeypatch.setattr(climbs, "line", lambda *given, **named: pytest.fail("must not climb"))
    before = record.read_text()
    climbs.main(["--setting", "warm-up", "--dataset", "dna", "--rows", "1", "--record", str(record)])
    assert record.read_text() == before


def test_a_record_of_another_setting_is_refused(tmp_path, capsys):
    record = tmp_path / "record.jsonl"
    record.write_text(json.dumps({**LINE, "units": [2, 1], "rows": [-3.0]}) + "\n")
    with pytest.raises(SystemExit):
        climbs.main(["--setting", "warm-up", "--record", str(record)])
    assert f"--record must be of this setting. Received: {record}" in capsys.readouterr().err


@pytest.mark.parametrize("columns", ["as they are", "flipped", "twice"])
def test_a_line_has_what_the_climbed_model_is_worth(columns, monkeypatch):
    """Of validation rows in the order of seed 0, and units of training rows."""
    rows = np.tile(X, (60 // len(X) + 1, 1))
    data = ds.datasets.Dataset("dna", rows[:30], rows[30:50], rows[50:60], (X.shape[1],))
    monkeypatch.setattr(ds.datasets, "load", {"dna": data}.__getitem__)
    changes = {"as they are": lambda x: x, "flipped": lambda x: (x == 0) * 1.0, "twice": lambda x: np.hstack([x, x])}
    train, valid = changes[columns](data.train), changes[columns](data.valid)
    model = ds.models.from_name("SBN/SBN 3-2", train.shape[1], seed=0)
    asked = []
    monkeypatch.setattr(climbs, "climbed", lambda *given, **named: asked.append((given, named)) or model)
    found = climbs.line("dna", columns, "SBN/SBN 3-2", 1500, 7, rows=12, warm_up=9)
    ((given, named),) = asked
    assert given[0] == "SBN/SBN 3-2" and given[2:] == (1500, 7) and named == {"warm_up": 9}
    np.testing.assert_array_equal(given[1], train)
    expected = model.log_likelihood(valid[np.random.default_rng(0).permutation(20)[:12]], 1000).value
    np.testing.assert_allclose(found.pop("rows"), expected, atol=0.05)  # other draws, with the error of 1,000
    about = {"dataset": "dna", "columns": columns, "architecture": "SBN/SBN 3-2", "updates": 1500, "seed": 7}
    assert found == {**about, "warm_up": 9, "units": [3, 2]}


@pytest.mark.parametrize("offset", [2000, 8000])
def test_an_offset_is_that_of_the_rate_of_theta(monkeypatch, offset):
    """Late rates are the same; at 2,000 it is the rate by default, and the climb warms up by default."""
    found = []
    monkeypatch.setattr(climbs, "_fitted", lambda model, method, *given: found.append(method))
    climbs.climbed("SBN/SBN 3-2", X.astype(np.float32), 1000, 0, offset=offset)
    kernel, usual = found[0]["kernel"], ds.methods.dsgnht_nais()["kernel"]
    rate, by_default = (one.optimizer._learning_rate for one in (kernel, usual))
    assert found[0]["latents"].warm_up == "auto" and kernel.fraction == 1 - 0.5 / 1000
    np.testing.assert_allclose(rate(10**8), by_default(10**8), rtol=1e-3)
    assert (rate.get_config() == by_default.get_config()) == (offset == 2000)


def test_bad_arguments_are_refused_before_any_work(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(climbs, "line", lambda *_: pytest.fail("must not climb"))
    refused = {
        "--updates must be a multiple of 500, or fewer. Received: 1200": ["--updates", "1200"],
        "--values of a rate or an offset must be above 0. Received: [0.01, 0.0]": ["--values", "0.01", "0"],
        "--values of a rate or an offset must be above 0. Received: [0.0]": ["--setting", "offset", "--values", "0"],
        "--values of a warm-up must be whole. Received: [1.5]": ["--setting", "warm-up", "--values", "1.5"],
    }
    for message, arguments in refused.items():
        with pytest.raises(SystemExit):
            climbs.main(["--dataset", "dna", *arguments])
        assert message in capsys.readouterr().err
    page = tmp_path / "page.md"
    page.write_text("no markers")
    with pytest.raises(ValueError, match="Received: a page without"):
        climbs.main(["--dataset", "dna", "--page", str(page), "--record", str(tmp_path / "record.jsonl")])


def test_pairs_are_of_the_same_climb():
    """The first line of each is what the others are compared with, and they stand together."""
    other = {**LINE, "columns": "flipped"}
    lines = [
        {**LINE, "units": [20, 9], "rows": [-80.0, -82.0]},
        {**other, "units": [19, 9, 5], "rows": [-70.0, -72.0]},
        {**LINE, "rate": 0.005, "units": [20, 10], "rows": [-79.0, -80.0]},
        {**other, "rate": 0.005, "units": [18, 10], "rows": [-71.0, -73.0]},
    ]
    text = climbs.table(lines, RATE).splitlines()
    assert text[2] == "| dna | SBN 20-10 | 3,000 | 0.01 | 20 | 9 |  | −81.00 |  |"
    assert text[4] == "| dna, flipped | SBN 20-10 | 3,000 | 0.01 | 19 | 9 | 5 | −71.00 |  |"
    assert [one.split("|")[-2].strip() for one in text[2:]] == ["", "+1.50 ± 0.50", "", "−1.00 ± 0.00"]


def test_the_page_is_of_the_record():
    docs = pathlib.Path(__file__).parents[3] / "docs"
    for setting in climbs.SETTINGS.values():
        lines = files.lines(docs.parent / setting.record)
        assert lines and climbs.table(lines, setting) in (docs / "study_appendix.md").read_text(encoding="utf-8")
