"""The layer, the prior and the kernel that a page shows are what their contracts ask for."""

import pytest

from tests.commands import ROOT
from tests.conformance.kernels import run_kernel_test
from tests.conformance.layers import run_layer_test
from tests.conformance.priors import run_prior_test
from tests.test_docstrings import python_blocks


@pytest.fixture(scope="module")
def parts():
    """What the page defines, by name."""
    found = {"__name__": "own_parts"}
    for code in python_blocks((ROOT / "docs" / "how_to" / "own_parts.md").read_text(encoding="utf-8")):
        if "class " in code:
            exec(code, found)
    return found


@pytest.mark.slow
def test_the_layer(parts, tmp_path):
    run_layer_test(parts["Probit"], {"units": 3}, 2, tmp_path)


def test_the_prior(parts):
    run_prior_test(parts["HyperbolicSecant"](0.7))


def test_the_kernel(parts):
    run_kernel_test(parts["Kicked"])
