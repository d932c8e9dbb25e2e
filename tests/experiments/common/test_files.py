"""Files of results, settings of runs and rows of data that rooms share."""

import json
import types

import numpy as np
import pytest

from experiments.common import files, finished_runs, marked_page, run_settings
from experiments.common.epoch_log import EpochLog
from experiments.common.rows import log_odds, random_rows, spread_rows


def test_a_line_that_was_cut_off_is_as_if_it_were_not_there(tmp_path):
    path = tmp_path / "results.jsonl"
    assert files.lines(path) == []
    files.append(path, {"a": 1})
    path.write_bytes(path.read_bytes() + b'{"b": ')
    files.append(path, {"c": 3})
    assert files.lines(path) == [{"a": 1}, {"c": 3}]
    files.write_lines(path, files.lines(path))
    written = path.stat().st_mtime_ns
    files.write_lines(path, files.lines(path))
    assert path.read_text() == '{"a": 1}\n{"c": 3}\n' and path.stat().st_mtime_ns == written


def test_the_same_settings_are_the_same_after_a_file(tmp_path):
    """Tuples are lists in JSON."""
    for _ in range(2):
        run_settings.note(tmp_path / "new", {"steps": (1, 2)})
    with pytest.raises(ValueError, match="Received: "):
        run_settings.note(tmp_path / "new", {"steps": (1, 3)})


def test_a_log_has_a_line_an_epoch_and_ends_after_some_hours(tmp_path):
    for unit, each, hours in (("epoch", False, None), ("sweep", True, 0)):
        log = EpochLog(tmp_path / f"{unit}.jsonl", hours, unit=unit, each=each)
        log.set_model(types.SimpleNamespace(stop_training=False))
        log.on_train_begin()
        for epoch in range(2):
            log.on_epoch_begin(epoch)
            log.on_epoch_end(epoch, {"bound": -3.0})
        lines = files.lines(tmp_path / f"{unit}.jsonl")
        assert [line[unit] for line in lines] == [1, 2] and all(0 <= line["seconds"] < 5 for line in lines)
        assert lines[0]["bound"] == -3.0 and log.model.stop_training == (hours == 0)


def test_the_record_has_two_decimals_and_runs_once(tmp_path, capsys):
    row = {"last": np.array([-17.12, -3.0], np.float32)}
    for _ in range(2):
        finished_runs.record(tmp_path / "study.jsonl", [({"name": "a"}, row)])
    assert "[-17.12, -3.0]" in (tmp_path / "study.jsonl").read_text() and "1 runs in" in capsys.readouterr().out
    ((about, rows),) = finished_runs.recorded(tmp_path / "study.jsonl")
    assert about == {"name": "a"} and rows["last"].tolist() == [-17.12, -3.0]


def test_a_page_keeps_what_is_written_by_hand(tmp_path, capsys):
    begin, end = marked_page.markers("experiments.own")
    (tmp_path / "page.md").write_text(f"before\n{begin}\nold\n{end}\nafter\n")
    marked_page.show("new", tmp_path / "page.md", "experiments.own")
    assert (tmp_path / "page.md").read_text() == f"before\n{begin}\n\nnew\n{end}\nafter\n"
    marked_page.show("new", None, "experiments.own")
    assert capsys.readouterr().out == "new\n"
    with pytest.raises(ValueError, match="once each. Received: a page without"):
        marked_page.with_made(f"{end}\n{begin}", "new", "experiments.own")


def test_some_of_the_rows():
    rows = np.arange(20).reshape(10, 2)
    assert sorted(random_rows(rows, None, 3)[:, 0]) == rows[:, 0].tolist()
    np.testing.assert_array_equal(random_rows(rows, 4, 3), random_rows(rows, 9, 3)[:4])
    assert spread_rows(rows, 4)[:, 0].tolist() == [0, 6, 12, 18] and spread_rows(rows, 99) is rows


def test_log_odds_are_of_what_is_there():
    """Two ones and a zero of four, one missing: log (2 + 1)/(1 + 1); as of the three rows without it."""
    column = np.array([[1.0], [np.nan], [1.0], [0.0]])
    np.testing.assert_allclose(log_odds(column), np.log([1.5]), rtol=1e-6)
    np.testing.assert_array_equal(log_odds(column), log_odds(np.array([[1], [1], [0]], np.uint8)))


def test_json_is_whole(tmp_path):
    files.write_json(tmp_path / "a" / "result.json", {"x": [1, None]})
    assert files.read_json(tmp_path / "a" / "result.json") == json.loads('{"x": [1, null]}')
    files.write_arrays(tmp_path / "rows.npz", {"last": np.ones(2)})
    assert files.read_arrays(tmp_path / "rows.npz")["last"].tolist() == [1, 1]
