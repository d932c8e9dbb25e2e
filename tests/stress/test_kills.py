"""A job that is killed once ends as one that is not."""

import json
import subprocess
import sys

import pytest

from tests.commands import ROOT


@pytest.mark.slow
def test_a_kill():
    command = [sys.executable, "-m", "stress.kills", "1", "3"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["kills"] == 1
