"""A table without learning: what a row is, that finished rows stand, that processes share the rows."""

import shlex
import threading

import joblib
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.method_table import methods, rows_file
from experiments.method_table import row as table_row
from experiments.method_table.__main__ import main
from experiments.method_table.arguments import parse
from experiments.method_table.settings import command_of, settings_of
from experiments.method_table.table import rows_of

PAIR = ["--methods", "dsgnht_gibbs", "rws", "--architectures", "SBN/SBN 3-2"]


class _Model:
    def save(self, path):
        path.write_text("a model")


@pytest.fixture
def calls(monkeypatch):
    """What would be worked on: the work on a row is replaced by a list of it."""
    worked = []

    def run(method, architecture, settings, data, folder):
        worked.append((method, architecture))
        found = {"log_likelihood": {"last": figure(-3.0)}, "curve": [], "learning_rate": 0.1, "trials": {}}
        return _Model(), {"updates": 1, "wall_time_seconds": 60.0, **found}

    monkeypatch.setattr(table_row, "run", run)
    return worked


def figure(value, row_error=0.2, effective=12.3):
    names = ("value", "standard_error", "row_standard_error", "effective_sample_size")
    return dict(zip(names, (value, 0.1, row_error, effective)))


def test_other_settings_are_other_rows(tiny, calls, tmp_path, recorded):
    main([*tiny, *PAIR])
    assert calls == [("dsgnht_gibbs", "SBN/SBN 3-2"), ("rws", "SBN/SBN 3-2")]
    calls.clear()
    main([*tiny, *PAIR])
    assert calls == []
    main([*tiny, *PAIR, "--learning-rate", "0.2"])  # of samplers alone
    assert calls == [("dsgnht_gibbs", "SBN/SBN 3-2")]
    lines = (tmp_path / "out" / "table.md").read_text().splitlines()
    assert sum(line.startswith("| tiny | SBN/SBN 3-2 | `") for line in lines) == 2  # of each row its last weights
    calls.clear()
    main([*tiny, *PAIR, "--adam", "1", "2"])  # of the others
    assert calls == [("rws", "SBN/SBN 3-2")]
    for change in ("--updates 5", "--seed 1", "--binarization threshold", "--minutes 1", "--annealing-rows 3"):
        calls.clear()
        main([*tiny, *PAIR, *change.split()])
        assert len(calls) == 2, change
    rows = recorded()
    assert len(rows) == 4 + 10 and rows[3]["settings"]["learning_rates"] == [1.0, 2.0]
    assert rows[0]["settings"]["seed"] == 0 and rows[0]["dataset"] == "tiny" and "keras" in rows[0]["versions"]
    assert {tmp_path / "out" / row["model"] for row in rows} == set((tmp_path / "out" / "models").iterdir())
    assert len({row["model"] for row in rows}) == len(rows)
    # what is learnt is the same where only the evaluation differs
    assert len(list((tmp_path / "out" / "learnt").glob("[!.]*"))) == len(rows) - 2


def test_a_line_that_was_cut_off_is_made_again(tiny, calls, tmp_path):
    main([*tiny, *PAIR])
    path = tmp_path / "out" / "results.jsonl"
    path.write_bytes(path.read_bytes()[:-30])
    calls.clear()
    main([*tiny, *PAIR])
    assert calls == [("rws", "SBN/SBN 3-2")]
    assert len(rows_file.finished(path)) == 2
    calls.clear()
    main([*tiny, *PAIR])
    assert calls == []


def test_no_row_is_made_by_two_processes(tiny, calls, tmp_path, capsys):
    """One has claimed the first row; another passes it over, and takes it when the first was killed."""
    (first, _) = rows_of(parse([*tiny, *PAIR]))
    folder = rows_file.folder_of(tmp_path / "out", *first)
    with ds.files.claimed(folder) as mine:
        assert mine
        main([*tiny, *PAIR])
        assert calls == [("rws", "SBN/SBN 3-2")] and "another process is at it" in capsys.readouterr().out
    calls.clear()
    main([*tiny, *PAIR])
    assert calls == [("dsgnht_gibbs", "SBN/SBN 3-2")]


def test_rows_are_made_side_by_side(tiny, calls, recorded, monkeypatch):
    """Wherever an outer configuration says, and each goes to the record once, of two schedulers too."""
    threads, run = [], table_row.run
    monkeypatch.setattr(table_row, "run", lambda *one: threads.append(threading.get_ident()) or run(*one))
    with joblib.parallel_config("threading"):
        main([*tiny, *PAIR, "--jobs", "2"])
    assert len(calls) == len(recorded()) == 2 and threading.get_ident() not in threads
    both = [threading.Thread(target=main, args=([*tiny, *PAIR, "--seed", "1"],)) for _ in range(2)]
    for thread in both:
        thread.start()
    for thread in both:
        thread.join()
    assert len(calls) == len(recorded()) == 4


def test_a_row_that_fails_stops_no_other(tiny, calls, recorded, monkeypatch):
    """Where rows are made side by side; the error names it, and a further call makes it."""
    run = table_row.run

    def fails(method, *others):
        if method == "rws":
            raise MemoryError("of 80 GB")
        return run(method, *others)

    with monkeypatch.context() as patch, joblib.parallel_config("threading"):
        patch.setattr(table_row, "run", fails)
        with pytest.raises(ds.cluster.TasksFailed, match="1 of 2 cells failed.*rws, SBN/SBN 3-2: MemoryError: of 80"):
            main([*tiny, *PAIR, "--jobs", "2"])
    assert len(recorded()) == 1
    main([*tiny, *PAIR])
    assert sorted(row["method"] for row in recorded()) == ["dsgnht_gibbs", "rws"]


@pytest.mark.slow
def test_rows_are_made_by_processes(tiny, recorded):
    main([*tiny, *PAIR, "--jobs", "2"])
    assert sorted(row["method"] for row in recorded()) == ["dsgnht_gibbs", "rws"]


def test_a_row_that_another_process_has_just_finished_is_left(tiny, calls, monkeypatch, tmp_path, recorded):
    """Between the look at the file and the claims: the file is read again."""
    main([*tiny, *PAIR])
    known, looks = rows_file.finished, []

    def late(path):
        looks.append(path)
        return {} if len(looks) == 1 else known(path)  # the look before the claims

    calls.clear()
    monkeypatch.setattr(rows_file, "finished", late)
    main([*tiny, *PAIR])
    assert calls == [] and len(recorded()) == 2


def test_a_row_that_diverges_is_on_record_and_the_next_is_made(tiny, calls, monkeypatch, tmp_path, recorded):
    run = table_row.run

    def diverges(method, *arguments):
        if method == "rws":
            return run(method, *arguments)
        raise ds.DivergedError("no update was finite")

    monkeypatch.setattr(table_row, "run", diverges)
    for _ in range(2):
        main([*tiny, *PAIR])
    failed, made = recorded()
    assert failed["failed"] == "diverged: no update was finite" and "failed" not in made
    assert "diverged: no update was finite" in (tmp_path / "out" / "table.md").read_text()


def test_methods_learn_the_architectures_that_suit_them(tiny):
    def rows(*arguments):
        return [row[:2] for row in rows_of(parse([*tiny, *arguments]))]

    found = rows("--architectures", "SBN/NADE 5", " VAE 5")
    continuous = ["dsgld_nais", "dsghmc_nais", "dsgnht_nais", "dsgnht_iwae", "vae", "iwae"]
    assert [method for method, name in found if "VAE" in name] == continuous and len(found) == 8 + 6
    assert rows("--methods", "rws_sleep", "dsgnht_iwae", "--architectures", "SBN 5") == [("rws_sleep", "SBN 5")]
    plain = rows("--architectures", "NADE")  # no latent variables, and no Gibbs sampling of them
    assert {method for method, _ in plain} == {method for method, _ in rows("--architectures", "NADE 5")} - {
        "dsghmc_gibbs", "dsgnht_gibbs"}  # fmt: skip
    with pytest.raises(ValueError, match=r"Received: methods=\['rws'\]"):
        rows("--methods", "rws", "--architectures", "VAE 5")


@pytest.mark.parametrize("method", ["dsgnht_gibbs", "rws", "rws_published"])
def test_a_row_tells_its_command(method):
    """Which makes a row of the same settings, and says what is not as it is by default alone."""
    bare = ["--dataset", "letters", "--methods", method, "--architectures", "SBN/SBN 3-2"]
    told = "--seed 7 --hidden-units 3 4 --samples 6 --batch-size 50 --refit-learning-rate 0.02 --no-jit".split()
    rates = {"rws": "--adam 0.1 0.2", "rws_published": "--momentum-rate 0.1"}
    of_sampler = "--learning-rate 0.3 --as-published --burn-in 0.33333333 --climbing-rate 1e-05 --one-rate"
    told += rates.get(method, of_sampler).split()
    more = [["--as-published"], ["--published-prior"], ["--learning-rate", "0.5", "0.0123456789"]]
    more = [*more, ["--unit-samples", "5"]] if method == "dsgnht_gibbs" else []
    for words in (bare, bare + told, *(bare + some for some in more)):
        settings = settings_of(method, parse(words))
        row = {"method": method, "architecture": "SBN/SBN 3-2", "dataset": "letters", "settings": settings}
        python, option, module, *found = shlex.split(command_of(row))
        assert (python, option, module) == ("python", "-m", "experiments.method_table") and found[: len(bare)] == bare
        assert settings_of(method, parse(found)) == settings
        assert sorted(found) == sorted(words)
    ties = ["--dataset", "letters", "--methods", method, "--architectures", "DARN 3", "--latents-first", "0.25"]
    settings = settings_of(method, parse(ties))
    tied = {"method": method, "architecture": "DARN 3", "dataset": "letters", "settings": settings}
    where_asked = {"latents_first", "unit_samples"}
    assert not where_asked & set(settings_of(method, parse(bare))), "a row from before is not made again"
    assert settings_of(method, parse(shlex.split(command_of(tied))[3:])) == settings
    del row["settings"]["seed"]  # of a row from before there was such an argument: as by default
    assert "--seed" not in command_of(row)


def test_one_rate_for_all_weights(tiny):
    for words, tolerance in (([], "auto"), (["--one-rate"], None)):
        settings = settings_of("dsgnht_gibbs", parse([*tiny, *words]))
        (arguments,) = methods.phases("dsgnht_gibbs", 0.3, settings)
        assert arguments["kernel"].noise_tolerance == tolerance


def test_samplers_as_published_have_the_rate_of_the_papers(tiny):
    def rate(method, *arguments):
        return methods.rates_of(method, parse([*tiny, *arguments]))

    for method, ours in (("dsgld_nais", 0.5), ("dsgnht_nais", 0.3), ("dsghmc_gibbs", 0.3)):
        assert rate(method) == [ours] and rate(method, "--as-published") == [0.01]
        (phase,) = methods.phases(method, None, {
            "samples": None, "as_published": True, "proposal_learning_rate": None})  # fmt: skip
        assert phase["kernel"].learning_rate == 0.01  # that of the package
        assert rate(method, "--as-published", "--learning-rate", "0.2") == [0.2]


def test_the_rows_of_the_papers(tiny):
    """Every architecture has a name, every method is one, and no row stands twice."""
    for dataset, count in (("binarized_mnist", 32), ("caltech101_silhouettes_28", 29), ("ocr_letters", 29)):
        args = parse([*tiny, "--dataset", dataset, "--papers"])
        rows = rows_of(args)
        assert len({rows_file.key_of(*row) for row in rows}) == len(rows) == count
        for method, architecture, settings in rows:
            assert methods.suits(method, architecture)
            assert set(settings) == set(settings_of(method, args))
    first = table_row.build("rws", rows[0][1], rows[0][2], np.zeros((2, 6)))
    assert [layer.units for layer in first.generative.layers] == [200, 6]
    with pytest.raises(ValueError, match="Received: dataset='tiny'"):
        rows_of(parse([*tiny, "--papers"]))


def test_a_wrong_architecture_is_told_before_any_row_is_learnt(tiny, calls):
    with pytest.raises(ValueError, match="Received: name='RBM 3'"):
        main([*tiny, "--architectures", "SBN 3", "RBM 3"])
    assert calls == []


def test_numbers_are_checked_before_any_work(tiny, capsys):
    for wrong in ("--updates 0", "--minutes -1", "--test-rows 0", "--adam nan"):
        with pytest.raises(SystemExit):
            main([*tiny, *wrong.split()])
        assert f"must be above 0. Received: {wrong.split()[1]}" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*tiny, "--annealing-rows", "-1"])
    assert "must be 0 or more. Received: -1" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*tiny, "--annealing-draws", "2", "--annealing-rows", "0"])
    assert "needs --annealing-rows. Received: 2 and no rows" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*tiny, "--as-published", "--published-prior"])
    assert "has --published-prior. Received: both" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*tiny, "--climbing-offset", "5"])
    assert "needs --climbing-rate. Received: 5.0 and no rate" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*tiny, "--unit-samples", "5", "--methods", "rws", "nvil"])
    assert "needs the posterior samples of a sampler. Received: rws, nvil" in capsys.readouterr().err
    assert parse([*tiny, "--unit-samples", "5", "--methods", "rws", "dsgnht_nais"]).unit_samples == 5


def test_what_has_no_latents_or_no_ties_is_not_told_to_learn_latents_first(tiny, capsys):
    for architecture in ("SBN/SBN 3", "NADE", "VAE 3"):
        with pytest.raises(SystemExit):
            parse([*tiny, "--architectures", "DARN/SBN 3", architecture, "--latents-first", "0.2"])
        assert "--latents-first is of" in capsys.readouterr().err
