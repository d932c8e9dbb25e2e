"""What the tests of machines and networks share."""

import pytest


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs a command with arguments, in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return lambda command, *arguments: command.main([*map(str, arguments)])
