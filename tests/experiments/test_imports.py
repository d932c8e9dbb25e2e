"""Who may import whom outside of the package, and how long a file is."""

import ast

import pytest

from tests.commands import PACKAGES, imported, modules

ABOVE = {*PACKAGES, "recipes", "tests"}
OWN = {name: path for package in PACKAGES for name, path in modules(package).items()}


def found(path):
    return set(imported(ast.parse(path.read_text(encoding="utf-8"))))


@pytest.mark.parametrize("name", OWN)
def test_a_file_is_short_and_its_imports_are_absolute(name):
    assert len(OWN[name].read_text(encoding="utf-8").splitlines()) < 300
    assert not any(other.startswith(".") for other in found(OWN[name]))


@pytest.mark.parametrize("name", OWN)
def test_packages_beside_each_other_are_apart(name):
    assert {other.split(".")[0] for other in found(OWN[name])} & ABOVE <= {name.split(".")[0]}


@pytest.mark.parametrize("name", [name for name in OWN if name.startswith("experiments.")])
def test_rooms_share_by_what_is_common(name):
    """Which imports no other room; `report` stands above, and reads what all leave."""
    room = name.split(".")[1]
    others = {".".join(other.split(".")[:2]) for other in found(OWN[name]) if other.startswith("experiments.")}
    assert room == "report" or others <= {"experiments.common", f"experiments.{room}"}


def test_the_package_knows_none_of_them():
    for name, path in modules("tfdsmcmc").items():
        assert not {other.split(".")[0] for other in found(path)} & ABOVE, name
