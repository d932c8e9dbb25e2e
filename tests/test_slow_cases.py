"""What is marked slow by its name is there."""

import pathlib
import re

from tests.conftest import SLOW_CASES

ROOT = pathlib.Path(__file__).parents[1]


def test_the_cases_that_are_slow_exist():
    """The file and the function of each; a case is looked for when its file is collected whole."""
    names = [name for name in SLOW_CASES if not name.startswith("#") and name]
    assert len(names) > 20
    for name in names:
        path, function = re.match(r"(tests/[^:]+\.py)::(\w+)", name).groups()
        with open(ROOT / path, encoding="utf-8") as file:
            assert f"def {function}(" in file.read(), name
