"""TensorFlow's start without its notes, and scripts that are run so."""

import os

import pytest

from experiments.common.quiet import quiet_start
from experiments.common.quiet_script import main


def test_the_start_is_quiet_about_notes_alone(capfd):
    """Notes go, whoever writes them; all else comes through, in order."""
    notes = ["I0000 00:00:1.2 3 port.cc:153] on", "WARNING: All log messages before absl::InitializeLog() is called"]
    kept = ["E0000 00:00:1.2 3 file.cc:1] disk full", "Traceback", "WARNING: of another kind"]
    with pytest.raises(ZeroDivisionError), quiet_start():
        for line in (notes[0], kept[0], notes[1], *kept[1:]):
            os.write(2, f"{line}\n".encode())
        raise ZeroDivisionError
    os.write(2, f"{notes[0]}\n".encode())  # no longer held back
    assert capfd.readouterr().err.splitlines() == [*kept, notes[0]]


def test_a_script_has_its_own_arguments(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", [])
    (tmp_path / "own.py").write_text("import sys\nprint(__name__, sys.argv[1:])\n")
    main([str(tmp_path / "own.py"), "--quick", "3"])
    assert capsys.readouterr().out == "__main__ ['--quick', '3']\n"
