"""Arguments of machines and networks that are refused, and results that are damaged."""

import json

import pytest

from experiments.boltzmann import dbn, rbm


@pytest.mark.parametrize(
    ("command", "noted", "arguments"),
    [
        (rbm, "out/CD1(8)/arguments.json", ("--models", "PCD1(9)", "CD1(8)", "--epochs", 3)),
        (dbn, "out/arguments.json", ("--widths", 12, 8)),
    ],
)
def test_other_arguments_are_refused_before_anything_is_touched(run, tmp_path, command, noted, arguments):
    file = tmp_path / noted
    file.parent.mkdir(parents=True)
    file.write_text(json.dumps({"seed": 1}))
    with pytest.raises(ValueError, match="run with other arguments.*Received: "):
        run(command, *arguments, "--dataset", "no such data", "--output", "out")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [file]


@pytest.mark.parametrize(
    "arguments",
    [
        (rbm, "--models", "PCD1(8)", "CD1(8)", "--rate", 0.1),
        (rbm, "--models", "CD1(8)", "--start", "rbm.keras"),
        (dbn, "--decay", 0.1),
        (dbn, "--rate", 0.1),
    ],
)
def test_what_would_be_ignored_is_refused(run, capsys, arguments):
    with pytest.raises(SystemExit):
        run(*arguments)
    assert "Received: --" in capsys.readouterr().err


def test_a_line_that_was_cut_off(run, tmp_path, capsys):
    """Tables are made of the others."""
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "results.jsonl").write_text('{"model": "CD1(')
    for command in (rbm, dbn):
        run(command, "--table", "--output", "out")
        assert capsys.readouterr().out.count("\n") == 2
