"""The study of budgets: its tables, how updates are planned, and a short run of it; the averages by draws."""

import json
import time
import types

import joblib
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.budget_study import __main__ as budget_study
from experiments.budget_study import averages, cells, halves, judging, learning, spacing
from experiments.budget_study.details import details
from experiments.budget_study.glance import PAIRS, glance
from experiments.budget_study.marks import Marks
from experiments.budget_study.table import summary, summary_cells, tables
from experiments.common import files, finished_runs, marked_page


def line(seed=0, prior="flat", average="units", temperature=1.0, budget=150.0, dataset="digits", **rows):
    about = {"architecture": "SBN 5", "dataset": dataset, "budget": budget, "seed": seed, "prior": prior, "chains": 1}
    about |= {"average": average, "temperature": temperature, "seconds": 90 + 20 * seed, "annealing_steps": 0}
    about |= {"rws_seconds": 100}
    return about, {name: np.array(values, np.float64) for name, values in rows.items()}


def test_the_mean_over_seeds_stands_beside_the_optimizers_of_these_seeds():
    """The best of each seed, of any prior; a cold run is left out, and each run counts by the average that it chose.
    The best single run, here −11, has a sentence."""
    beside = {"units": [-9.0, -9.0], "draws": [-11.0, -10.0]}
    runs = [
        line(0, rws=[-12.0, -14.0], weights=[-10.0, -11.0], **beside),
        line(1, average="weights", rws=[-11.0, -13.0], weights=[-12.0, -13.0], **beside),
        line(0, prior="learnt", rws=[-10.0, -12.0], weights=[0.0, 0.0], **beside),
        line(0, temperature=0.1, rws=[0.0, 0.0], weights=[0.0, 0.0], **beside),
    ]
    found, more = tables(runs), details(runs)
    assert "| digits | SBN 5 | 2 | 2 | importance samples | −10.75 | −11.50 | +0.75 ± 0.75 |" in found
    assert "With SBN 5 the sampler is ahead on 0 of 1 data sets, level on 1, and behind on 0." in found
    assert "Beside the best optimizer of any seed it is ahead on 0, level on 1, and behind on 0." in found
    assert "**Budget: 150 seconds.** The runs took 90 to 110 seconds" in found
    assert "That is 0.90 to 1.10 times what the optimizer" in found
    assert "| digits | SBN 5 | +0.75 ± 0.75 |" in summary(runs)
    assert "| digits | SBN 5 | 100 | 1 | 2 | importance samples | units, weights |" in more
    assert "| digits | SBN 5 | −11.50 | −9.00 | −10.50 |  |  |  | +2.50 ± 0.50 | +1.00 ± 1.00 |" in more
    assert "Stacking" not in more
    stacked = details([line(rws=[0, 0], start=[-3, -4], units=[-5, -4], stacked=[-3, -4])])
    assert "| digits | SBN 5 |  | −4.50 |  |  |  | −3.50 |  |  |" in stacked
    assert "| digits | SBN 5 | +1.00 ± 1.00 |" in stacked.split("Stacking, 150 seconds:")[1]


def test_runs_of_the_present_prior_stand_in_the_place_of_earlier_ones():
    """These stay in the appendix, beside the same seeds; the optimizer is that of the seed."""
    runs = [
        line(0, rws=[-12.0, -14.0], units=[-10.0, -11.0]),
        line(1, rws=[-11.0, -13.0], units=[-9.0, -9.0]),
        line(0, rws=[-12.0, -14.0], units=[-8.0, -10.0]),
        line(0, dataset="dna", rws=[-12.0, -14.0], units=[-7.0, -7.0]),
    ]
    runs[2][0].update(scales="weight", seconds_again=150)
    found, more = tables(runs), details(runs)
    assert "| digits | SBN 5 | 1 | 2 | importance samples | −9.00 | −13.00 | +4.00 ± 0.00 |" in found
    assert "| dna | SBN 5 | 1 | 2 | importance samples | −7.00 | −13.00 | +6.00 ± 1.00 |" in found
    assert "| digits | SBN 5 | 150 | −10.50 | −9.00 | +1.50 ± 0.50 |" in more.split("**Budget")[0]
    assert "The runs took 90 to 150 seconds" in found and "0.90 to 1.50 times what the optimizer" in found
    assert "and behind on 0. It took 1.20 times as long." in found  # 150 and 90 of twice 100
    assert "| digits | SBN 5 | 150 | 1 | 2 |" in more
    assert "by what a scale" not in details(runs[:2])


def test_a_run_that_learnt_again_stands_in_the_place_of_the_earlier_one():
    """Of the same prior too; other seeds stay."""
    named = {"present": -10.0, "present_again": -8.0, "other": -9.0}
    runs = [line(seed, rws=[-12.0], units=[value]) for seed, value in zip((0, 0, 1), named.values())]
    for (about, _), name in zip(runs, named):
        about.update(scales="weight", name=name)
    assert "| digits | SBN 5 | 2 | 1 | importance samples | −8.50 | −12.00 |" in tables(runs)
    assert "| digits | SBN 5 | 2 | 1 | importance samples | −9.50 | −12.00 |" in tables([runs[0], runs[2]])


def test_seeds_of_other_numbers_of_test_rows_share_the_first_ones():
    runs = [
        line(0, rws=[-12.0, -14.0], units=[-10.0, -11.0]),
        line(1, rws=[-13.0, -15.0, 0.0], units=[-11.0, -12.0, 9.0]),
    ]
    assert "| digits | SBN 5 | 2 | 2 | importance samples | −11.00 | −13.50 | +2.50 ± 0.50 |" in tables(runs)
    other = line(2, rws=[-13.0], units=[-11.0])
    other[0].update(annealing_steps=500, name="annealed")
    runs[0][0]["name"] = runs[1][0]["name"] = "sampled"
    with pytest.raises(ValueError, match="judged alike.*Received: .*500.*annealed"):
        tables([*runs, other])


def test_budgets_stand_apart():
    """A table each in the study and its appendix, a column each in the summary; a pair may lack one."""
    figures = {"rws": [-9.0, -9.0], "weights": [-8.0, -8.0], "units": [-7.0, -7.0]}
    runs = [line(budget=480.0, **figures), line(**figures), line(dataset="dna", **figures)]
    first, second = tables(runs).split("**Budget: 480 seconds.**")
    assert first.startswith("**Budget: 150 seconds.**") and "| dna |" in first and "| dna |" not in second
    assert first.count("| digits |") == second.count("| digits |") == 1
    assert details(runs).count("**Budget: ") == 2
    assert summary(runs).splitlines() == [
        "| data | model | sampler less `rws`, 150 s | sampler less `rws`, 480 s |",
        "| --- | --- | --- | --- |",
        "| digits | SBN 5 | +2.00 ± 0.00 | +2.00 ± 0.00 |",
        "| dna | SBN 5 | +2.00 ± 0.00 |  |",
    ]


class Variable:
    def __init__(self, *shape):
        self.shape = shape


def plan(updates_a_second, seconds=100.0, weights=10, rows=1000, compiled=10.0):
    """The epochs of a plan, where rws makes so many updates a second once it is compiled."""
    marks = types.SimpleNamespace(updates=[int(updates_a_second * (m * seconds - compiled)) for m in learning.MARKS])
    args = types.SimpleNamespace(seconds=seconds, per_update=1.0)
    data = types.SimpleNamespace(train=np.zeros((rows, 3)))
    return learning.planned(args, data, types.SimpleNamespace(theta_variables=[Variable(weights)]), marks)


def test_the_updates_that_fit_the_budget_are_planned():
    """80 of 100 seconds at so many a second, ten an epoch; a part for each chain of those that a plan makes."""
    assert plan(100.0) in (799, 800)
    assert plan(250.0) == 1199  # 20,000: too few for two chains, and one is what fewer than 12,000 make
    assert plan(400.0) in (1599, 1600)  # 32,000 of one chain, 16,000 of two
    assert plan(600.0) == 1799  # 48,000: too few for three chains, and two are what fewer than 18,000 make
    assert plan(750.0) in (1999, 2000)  # 60,000 of one chain, 20,000 of three
    assert plan(600.0, weights=200_000) in (4799, 4800)
    assert plan(0.2) == 1
    assert learning.of_a_chain(24_000, 17) * 17 == 11_985  # two of 705 epochs would be one by "auto"
    assert learning.of_a_chain(24_004, 17) * 17 == 12_002


def test_marks_keep_what_was_best_so_far(monkeypatch):
    clock = iter([0.0, 1.0, 2.0, 2.0, 3.0, 3.0, 3.0])
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    marks = Marks([2.0, 3.0])
    model = types.SimpleNamespace(run=types.SimpleNamespace(steps=0), stop_training=False, weights=0)
    model.get_weights = lambda: model.weights
    marks.set_model(model)
    for value in (-3.0, -1.0, -2.0):
        model.weights, model.run.steps = value, model.run.steps + 10
        marks.on_epoch_end(0, {"val_log_likelihood": value})
    assert marks.kept == [(2.0, -1.0), (3.0, -1.0)] and marks.updates == [20, 30] and model.stop_training
    assert marks.at(2.9) == (2.0, -1.0) and marks.at(1.0) == (2.0, -1.0) and marks.at(9.0)[0] == 3.0


def test_stacking_finds_the_best_weights(monkeypatch):
    """Of two components, one of which is right about a quarter of the rows and the other about the rest."""
    right = np.arange(8) < 2
    values = {"weights": np.where(right, -1.0, -40.0), "units": np.where(right, -40.0, -1.0)}
    values["draws"] = np.full(8, -90.0)
    chain = types.SimpleNamespace(chain_numbers=[0], chain=lambda number: None)
    monkeypatch.setattr(judging, "estimated", lambda args, model, x, posterior, average: values[average])
    found = judging.stacked(None, None, chain, None, None)
    np.testing.assert_allclose(found, np.where(right, -1 + np.log(0.25), -1 + np.log(0.75)), rtol=1e-6)


OPTIONS = ["--page study.md", "--prior cold", "--averages all", "--summary --details", "--table budgt.jsonl"]
NUMBERS = ["--train-rows 0", "--train-rows -5", "--seconds nan", "--seconds -3", "--samples 0", "--test-rows 0"]


@pytest.mark.parametrize("options", [*OPTIONS, *NUMBERS])
def test_what_cannot_be_run_is_refused(options, monkeypatch):
    monkeypatch.setattr(budget_study.cells, "run", None)
    with pytest.raises(SystemExit):
        budget_study.main(options.split())


@pytest.mark.parametrize("command", [budget_study, averages, halves, spacing])
def test_a_table_of_no_record_leaves_the_page(command, tmp_path):
    page = tmp_path / "page.md"
    page.write_text("as it was")
    with pytest.raises(SystemExit, match="needs a file that --record has made. Received: .*budgt.jsonl"):
        command.main(["--table", str(tmp_path / "budgt.jsonl"), "--page", str(page)])
    assert page.read_text() == "as it was"


def test_the_tables_of_the_project_are_what_its_records_make(request):
    docs = request.config.rootpath / "docs"
    text = (docs / "study.md").read_text(encoding="utf-8")
    made = tables(finished_runs.recorded(docs / "budget.jsonl"))
    assert marked_page.with_made(text, made, budget_study.COMMAND) == text
    runs, root = finished_runs.recorded(docs / "budget.jsonl"), request.config.rootpath
    for page, option, made in (
        ("docs/study_appendix.md", "--details", details),
        ("docs/which_method.md", "--summary", summary),
        ("README.md", "--glance", glance),
    ):
        other = (root / page).read_text(encoding="utf-8")
        assert marked_page.with_made(other, made(runs), f"{budget_study.COMMAND} {option}") == other
    made = averages.tables(files.lines(docs / "averages.jsonl"))
    assert marked_page.with_made(text, made, averages.COMMAND) == text


def test_six_results_are_glanced_at(request):
    """All on record, the one in which the sampler does worst among them."""

    def figures_of(lines):
        return [float(cell.split(" ± ")[0].replace("−", "-")) for _, _, *cells in lines for cell in cells if cell]

    runs = finished_runs.recorded(request.config.rootpath / "docs" / "budget.jsonl")
    lines = [line.strip("| ").split(" | ") for line in glance(runs).splitlines()[2:]]
    assert [(data, model) for data, model, *_ in lines] == list(PAIRS) and len(PAIRS) == 6
    everything = [list(map(str, line)) for line in summary_cells(runs)[1]]
    assert len(figures_of(lines)) >= 6 and min(figures_of(lines)) == min(figures_of(everything))
    assert glance([]).count("\n") == 2


def test_a_seed_is_run_once(tmp_path, monkeypatch, capsys):
    """By whom of several schedulers it may be, and not again; none runs what another is at."""
    runs = []

    def learnt(args, seed, data, folder):
        runs.append(seed)
        return {"seed": seed}, {"rws": np.zeros(2)}

    monkeypatch.setattr(cells, "_learnt", learnt)
    arguments = ["--output", str(tmp_path), "--seeds", "0", "1", "2"]
    claimed = cells.folder_of(budget_study.parse(arguments), 1)
    with ds.files.claimed(claimed) as mine, joblib.parallel_config("threading"):
        assert mine
        budget_study.main([*arguments, "--jobs", "2"])
    assert sorted(runs) == [0, 2] and f"{claimed.name}: another process is at it" in capsys.readouterr().out
    budget_study.main(arguments)
    assert sorted(runs) == [0, 1, 2]
    assert [about["seed"] for about, _ in finished_runs.finished(tmp_path)] == [0, 1, 2]


@pytest.mark.slow
def test_a_short_study(tmp_path, monkeypatch, capsys):
    """A budget of seconds, in which little is learnt; then the tables, the averages by draws and their figure."""
    monkeypatch.setattr(learning, "MARKS", np.array([0.5, 1.0, 1.2]))
    runs, kept = tmp_path / "runs", tmp_path / "budget.jsonl"
    options = "--dataset digits --architecture SBN/SBN\u00a05 --seconds 8 --test-rows 20 --test-samples 20 --samples 2"
    own = [part.replace("\u00a0", " ") for part in options.split(" ")]
    for more in ([*own, "--stacking"], ["--record", str(kept)], ["--table", str(kept)]):
        budget_study.main(["--output", str(runs), *more])
    assert "**Budget: 8 seconds.**" in capsys.readouterr().out
    (result,) = [json.loads(path.read_text()) for path in runs.glob("*/result.json")]
    halves = {"weights_and_start", "units_and_start"}
    assert {"rws", "weights", "units", "draws", "start", "stacked"} | halves == set(result["means"])
    (chosen,) = runs.glob("*/posterior/average.json")
    before, (rows,) = chosen.read_text(), [files.read_arrays(path) for path in runs.glob("*/rows.npz")]
    chosen.write_text(json.dumps({"average": "draws"}))
    budget_study.main(["--output", str(runs), "--choose-again"])
    (again,) = [json.loads(path.read_text()) for path in runs.glob("*/result.json")]
    assert again["average"] == json.loads(chosen.read_text())["average"] and again["means"] == result["means"]
    assert json.loads(chosen.read_text())["num_rows"] == json.loads(before)["num_rows"]
    for name, value in files.read_arrays(next(runs.glob("*/rows.npz"))).items():
        np.testing.assert_array_equal(value, rows[name])
    np.testing.assert_allclose(
        rows["units_and_start"], np.log((np.exp(rows["units"]) + np.exp(rows["start"])) / 2), rtol=1e-6
    )
    budget_study.main(["--output", str(tmp_path / "again"), *own, "--again", str(kept)])
    ((about, found),) = finished_runs.finished(tmp_path / "again")
    for key in ("budget", "seconds", "rws_seconds", "samples"):
        assert about[key] == result[key], key
    assert 0 < about["updates"] <= result["updates"]  # a collector that has its samples ends a run before its plan does
    finished_runs.record(kept, [(about, found)])
    assert [line["name"] for line in files.lines(kept)] == [result["name"], result["name"] + "_again"]
    assert about["seconds_again"] > 0 and set(about["means"]) == {*result["means"]} - {"stacked"}
    np.testing.assert_allclose(found["rws"], rows["rws"], atol=0.006)  # two decimals are on record
    # the same rows and about as many updates, by plans of other lengths
    assert found["weights"].mean() == pytest.approx(rows["weights"].mean(), abs=1.0)
    with pytest.raises(ValueError, match=r"no such run\. Received: digits"):
        budget_study.main(["--output", str(tmp_path / "other"), *own, "--seeds", "7", "--again", str(kept)])
    record, figure = tmp_path / "averages.jsonl", tmp_path / "averages.png"
    small = ["--test-rows", "20", "--test-samples", "20"]
    for more in ([str(runs), "--record", str(record), *small], ["--table", str(record), "--figure", str(figure)]):
        averages.main(more)
    assert figure.stat().st_size > 5000 and "| digits | SBN/SBN 5 | 8 | 1 |" in capsys.readouterr().out


def test_several_chains_learn_again_for_as_many_epochs(tmp_path, monkeypatch):
    """The updates on record are those of each chain; 100 rows are a step."""
    kept, planned = tmp_path / "budget.jsonl", []
    about, rows = line(0, rws=[-12.0, -14.0], units=[-10.0, -11.0])
    args = budget_study.parse(["--dataset", "digits", "--architecture", "SBN/SBN 5", "--seconds", "8"])
    args.again, args.output = kept, str(tmp_path)
    folder = cells.folder_of(args, 0)
    finished_runs.record(kept, [({**about, "name": folder.name, "chains": 2, "updates": 36}, rows)])
    monkeypatch.setattr(cells, "sampler", lambda *given: (planned.append(given[3]), {"seconds": 7}))
    monkeypatch.setattr(cells, "_judged", lambda *given: ({}, {}))
    found, _ = cells._learnt_again(args, 0, cells._data(args), folder)
    assert planned == [3]  # 1,197 rows
    assert found["seconds_again"] == found["seconds_here"] == 7 and found["seconds"] == 90
    earlier = {**found, "seconds_again": 150}  # of the same prior, on the machine that it ran on
    finished_runs.record(kept, [(earlier, rows)])
    found, _ = cells._learnt_again(args, 0, cells._data(args), folder)
    assert (found["seconds_again"], found["seconds_here"]) == (150, 7)
