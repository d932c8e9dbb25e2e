"""The study of sampling beside optimizers: its table, and a short run of it."""

import json
import types

import numpy as np
import pytest

from experiments.common import finished_runs, marked_page
from experiments.sampler_study import runs
from experiments.sampler_study.__main__ import COMMAND, main
from experiments.sampler_study.study import folder_of
from experiments.sampler_study.table import tables


def leave(folder, setting, seed, equal_time, **rows):
    """A finished run, as the study leaves one."""
    folder.mkdir()
    about = {"dataset": "digits", "architecture": "SBN/SBN 5", "updates": 100, "setting": setting, "seed": seed}
    about |= {"equal_time": equal_time, "processor_seconds": 120, "updates_made": 90, "seconds": 1}
    (folder / "result.json").write_text(json.dumps(about))
    np.savez(folder / "rows.npz", **{name: np.array(values, np.float64) for name, values in rows.items()})


def test_differences_are_paired_and_to_the_best_single_run(tmp_path):
    leave(tmp_path / "a", "rws", 0, True, last=[-20.0, -10.0], annealed=[-18.0, -20.0])
    leave(tmp_path / "b", "rws", 1, True, last=[-12.0, -16.0], annealed=[-19.0, -21.0])  # the best but for annealing
    leave(tmp_path / "c", "sampler", 0, False, last=[-9.0, -9.0], chain=[-9.0, -8.0], predictive=[-11.0, -13.0])
    leave(tmp_path / "d", "rws", 0, False, last=[-1.0, -1.0])  # in equal updates, not in equal time
    leave(tmp_path / "e", "augmentation", 0, True, annealed=[-13.0, -13.0])
    parts = tables(finished_runs.finished(tmp_path)).split("\n\n")
    lines = next(part for i, part in enumerate(parts) if "sampler's time" in parts[i - 1]).splitlines()[2:]
    assert lines == [
        "| `rws` | 2 | 2.0 | 90 | −14.50 |  |  | −0.50 ± 3.50 | −19.50 | −0.50 ± 0.00 |",
        "| 2 of `rws`, averaged | 1 | 4.0 |  |  |  | −11.69 | +2.31 ± 3.00 |  |  |",
        "| `sampler` | 1 | 2.0 | 90 | −9.00 | −8.50 | −12.00 | +2.00 ± 1.00 |  |  |",
        "| `augmentation` | 1 | 2.0 | 90 |  |  |  |  | −13.00 | +6.00 ± 1.00 |",
    ]


def test_runs_on_different_numbers_of_rows_are_compared_on_those_of_both(tmp_path):
    leave(tmp_path / "a", "rws", 0, True, last=[-20.0, -10.0, -7.0], annealed=[-18.0, -20.0])
    leave(tmp_path / "b", "gibbs", 0, True, annealed=[-17.0, -18.0, -100.0])
    leave(tmp_path / "c", "sampler", 0, False, last=[-9.0, -9.0], chain=[-9.0, -8.0], predictive=[-11.0, -12.0])
    lines = tables(finished_runs.finished(tmp_path)).splitlines()
    assert "**digits, SBN/SBN 5**, 100 updates, optimizers in the sampler's time, 2 test rows, 2 annealed" in lines
    assert "| `rws` | 1 | 2.0 | 90 | −15.00 |  |  | +0.00 ± 0.00 | −19.00 | +0.00 ± 0.00 |" in lines
    assert "| `gibbs` | 1 | 2.0 | 90 |  |  |  |  | −17.50 | +1.50 ± 0.50 |" in lines
    assert "| `sampler` | 1 | 2.0 | 90 | −9.00 | −8.50 | −11.50 | +3.50 ± 5.50 |  |  |" in lines


def test_what_is_on_record_makes_the_same_tables(tmp_path, capsys):
    """Also where a run was put there twice, and the other at another time."""
    for folder, setting in (("a", "rws"), ("b", "gibbs")):
        leave(tmp_path / folder, setting, 0, True, **{"last" if setting == "rws" else "annealed": [-20.004, -10.0]})
        for _ in range(2):
            options = ["--output", str(tmp_path), "--record", str(tmp_path / "study.jsonl")]
            main(options)
    assert len((tmp_path / "study.jsonl").read_text().splitlines()) == 2
    printed = []
    for options in (["--output", str(tmp_path), "--table"], ["--table", str(tmp_path / "study.jsonl")]):
        capsys.readouterr()
        main(options)
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] and printed[0].count("| `rws` | 1 | 2.0 | 90 | −15.00 |") == 1


def test_a_setting_that_is_not_known_any_more_is_named(tmp_path):
    leave(tmp_path / "a", "rws", 0, True, last=[-20.0, -10.0])
    leave(tmp_path / "b", "persistent", 0, True, annealed=[-17.0, -18.0])
    with pytest.raises(ValueError, match="Received: 'persistent' of b"):
        tables(finished_runs.finished(tmp_path))


def test_the_tables_of_the_project_are_what_its_record_makes(request):
    docs = request.config.rootpath / "docs"
    text = (docs / "study_appendix.md").read_text(encoding="utf-8")
    made = tables(finished_runs.recorded(docs / "study.jsonl"))
    assert marked_page.with_made(text, made, COMMAND) == text


@pytest.mark.parametrize(
    ("options", "received"),
    [
        ("--annealing-rows -5", "Received: -5"),
        ("--settings gibbs sampler", "gibbs has the time of the sampler's run of seed 0"),
        ("--settings rws --equal-time", "rws has the time of the sampler's run of seed 0"),
        ("--table --record study.jsonl", "two calls. Received: --record study.jsonl"),
        ("--page study.md", "Received: --page study.md"),
        ("--table nothing.jsonl", "Received: nothing.jsonl"),
        ("--record study.jsonl", "Received: .*runs"),
    ],
)
def test_what_cannot_be_run_is_said_before_anything_is(tmp_path, options, received):
    with pytest.raises(SystemExit, match=received):
        main([*options.split(), "--output", str(tmp_path / "runs")])
    assert not (tmp_path / "runs").exists()


def test_time_that_depends_on_the_chains_of_the_sampler_has_a_folder_for_each(tmp_path):
    def folder(setting, chains):
        args = types.SimpleNamespace(dataset="digits", architecture="SBN 5", updates=9, equal_time=True)
        args.output, args.chains = tmp_path, chains
        return folder_of(setting, args, 0)

    for setting in ("sampler", "gibbs", "augmentation", "rws"):
        assert len({folder(setting, chains) for chains in (None, 1, 3)}) == 3


@pytest.mark.slow
def test_a_short_study(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(runs, "BURN_IN", 2)  # its time is that of compiling, which is not for 20 passes everywhere

    def run(*more):
        options = "--dataset digits --updates 24 --test-rows 20 --test-samples 10 --equal-time".split()
        options += ["--settings", "sampler", "rws", "gibbs", "augmentation", "--architecture", "SBN/SBN 5"]
        options += ["--output", str(tmp_path), *more]
        main(options)
        return capsys.readouterr().out

    first = run()
    assert first.count("digits_SBN-SBN_5_") == 4
    found = [json.loads(path.read_text()) for path in sorted(tmp_path.glob("*/result.json"))]
    assert [one["setting"] for one in found] == ["augmentation", "gibbs", "rws", "sampler"]
    assert all(one["updates_made"] >= 24 for one in found[1:]) and all(-60 < one["last"] < -15 for one in found[2:])
    assert found[0]["updates_made"] == 2 + found[0]["samples"]  # passes over the rows, as many as there is time for
    assert all(found[i]["samples"] > 0 for i in (0, 1, 3))
    again = run("--annealing-rows", "4")  # of what was learnt before
    assert again.count("annealed") == 4
    for path in tmp_path.glob("*/rows.npz"):
        rows = np.load(path)
        assert rows["annealed"].shape == (4,)
        if "last" in rows:
            assert rows["last"].shape == (20,)
            assert abs((rows["annealed"] - rows["predictive" if "predictive" in rows else "last"][:4]).mean()) < 2
    assert run("--annealing-rows", "4") == ""
    assert run("--table").count("| `sampler, 1 chain` |") == 1
