"""What a type checker finds: the package's own types, and mistakes in programs that use it.

Names that TensorFlow, Keras and others leave without a type do not count against the package: it is asked for what it
says itself (`--ignoreexternal`).
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
ROOT = HERE.parents[1]
LEAST = 0.95  # of the public symbols have a type
BIN = pathlib.Path(sys.executable).parent
CHECKER = shutil.which("basedpyright", path=os.pathsep.join([str(BIN), os.environ["PATH"]]))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(CHECKER is None, reason="basedpyright is not installed: pip install -e .[test]"),
]


def run(*arguments, folder):
    """What the checker says, in JSON, of the interpreter that runs the tests and of this checkout."""
    # it looks for an interpreter in the path, and asks it where packages are
    environment = {**os.environ, "PATH": os.pathsep.join([str(BIN), os.environ["PATH"]]), "PYTHONPATH": str(ROOT)}
    command = [CHECKER, *arguments, "--outputjson"]
    found = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
    assert found.stdout, found.stderr
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def errors(tmp_path_factory):
    """The errors of programs: pairs (line, message) by the file's name."""
    folder = tmp_path_factory.mktemp("typing")
    for name in ("accepted.py", "refused.py"):
        shutil.copy(HERE / name, folder)
    (folder / "readme.py").write_text(readme(), encoding="utf-8")
    settings = {"include": ["."], "typeCheckingMode": "standard"}
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    found = {path.name: [] for path in folder.glob("*.py")}
    for report in run("--project", ".", folder=folder)["generalDiagnostics"]:
        if report["severity"] == "error":
            line = report["range"]["start"]["line"] + 1
            found[pathlib.Path(report["file"]).name].append((line, report["message"]))
    return found


def readme():
    """The code of the README, one block after the other."""
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    return "".join(block.split("```")[0] for block in blocks)


def test_public_names_have_types(tmp_path):
    found = run("--ignoreexternal", "--verifytypes", "tfdsmcmc", folder=tmp_path)["typeCompleteness"]
    unknown = [symbol["name"] for symbol in found["symbols"] if symbol["isExported"] and not symbol["isTypeKnown"]]
    assert found["pyTypedPath"] == str(ROOT / "tfdsmcmc" / "py.typed"), "another package was looked at"
    assert found["completenessScore"] >= LEAST, f"{found['completenessScore']:.1%}: {unknown}"


@pytest.mark.parametrize("name", ["accepted.py", "readme.py"])
def test_programs_without_mistakes_are_accepted(name, errors):
    assert errors[name] == []


def test_mistakes_are_found(errors):
    lines = (HERE / "refused.py").read_text(encoding="utf-8").splitlines()
    expected = {number for number, line in enumerate(lines, 1) if line.endswith("# refused")}
    assert len(expected) > 30 and {line for line, _ in errors["refused.py"]} == expected
