"""The processes that run the tests: what they find is printed, and a failure of one of them fails all."""

import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
# without the package, whose import takes seconds
PROGRAM = (
    "import sys, types; sys.modules['tfdsmcmc'] = types.ModuleType('tfdsmcmc'); "
    "from tests.__main__ import main; sys.exit(main(sys.argv[1:]))"
)
TESTS = {
    "passes": "def test_passes(): assert True",
    "fails": "def test_fails(): assert False, 'it failed'",
    "dies": "import os, signal\ndef test_dies(): os.kill(os.getpid(), signal.SIGKILL)",
    "none": "def helper(): pass",
}


@pytest.mark.parametrize(
    ("kinds", "status", "said"),
    [
        (["passes", "none", "passes"], 0, ["1 passed", "1 passed"]),
        (["none"], 5, []),
        (["passes", "fails", "passes"], 1, ["1 passed", "it failed", "1 passed"]),
        (["dies", "passes"], 1, ["1 passed"]),
    ],
)
@pytest.mark.parametrize("workers", [1, 2])
def test_one_failure_fails_all(tmp_path, kinds, status, said, workers):
    paths = [tmp_path / f"test_{number}.py" for number in range(len(kinds))]
    for path, kind in zip(paths, kinds):
        path.write_text(TESTS[kind])
    words = ["--workers", str(workers), "--files", "1", *map(str, paths), "--", "--rootdir", str(tmp_path)]
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == status, done.stdout + done.stderr
    for words in set(said):
        assert done.stdout.count(words) >= said.count(words), done.stdout
    assert "no tests ran" not in done.stdout
