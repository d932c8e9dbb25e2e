"""Workers of chains that are killed once leave what nobody killed has left."""

import json
import subprocess
import sys

import pytest

from tests.commands import ROOT


@pytest.mark.slow
def test_a_kill(tmp_path):
    command = [sys.executable, "-m", "stress.chains", "1", "--folder", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1])["kills"] == 1
