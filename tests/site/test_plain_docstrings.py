"""Docstrings as reStructuredText: what is an equation keeps its lines, what looks like mark-up has no meaning."""

import keras
import pytest
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.site import extension

plain_docstrings = extension("plain_docstrings")


def rst(text):
    return "\n".join(plain_docstrings.as_rst(text.split("\n")))


def test_an_equation_keeps_its_lines():
    assert rst("One:\n\n    θ ← θ + |v|\n        + 1\n\n    v*\n\nTwo.") == (
        "One:\n\n\n.. code-block:: text\n\n   θ ← θ + |v|\n       + 1\n\n   v*\n\n\nTwo."
    )


def test_code_is_coloured():
    assert ".. code-block:: python\n\n   import joblib\n   f(x)" in rst("So:\n\n    import joblib\n    f(x)\n")


def test_sections_stay_for_napoleon():
    text = "Args:\n  x: (n, D), `Rows` or\n    an array.\n\nRaises:\n  ValueError: for others.\n\nSource: a paper."
    assert rst(text) == text


def test_an_equation_inside_of_a_section():
    found = rst("Returns:\n  A number:\n\n      √((R Σ w² / (Σ w)²)\n")
    assert "    .. code-block:: text\n\n       √((R Σ w² / (Σ w)²)" in found


def test_a_wrapped_line_of_an_item_is_no_equation():
    assert "code-block" not in rst("- one\n  two\n    three\n")


def test_examples_of_the_interpreter_stay():
    assert ">>> `x` * y_\n*1*\n" in rst(">>> `x` * y_\n*1*\n\nWords.")


@pytest.mark.parametrize(
    ("plain", "marked"),
    [
        ("of `fit(x, *y)` and `Prior`", "of ``fit(x, *y)`` and `Prior`"),
        ("`ds.layers.SBN` or `.train`", "`ds.layers.SBN` or ``.train``"),
        ("`Signature`s", "`Signature`\\ s"),
        ("p*(x), |x|, z_ and z_l", "p\\*(x), \\|x\\|, z\\_ and z_l"),
        ("**kwargs: of `keras.Model`", "\\*\\*kwargs: of `keras.Model`"),
    ],
)
def test_inline(plain, marked):
    assert rst(plain) == marked


@pytest.mark.parametrize(
    ("member", "own"),
    [
        (ds.DeepGenerativeModel.fit, True),
        (ds.DeepGenerativeModel.impute, True),
        (ds.layers.SBN.call, False),
        (keras.Model.summary, False),
        (tfp.distributions.Distribution.mean, False),
    ],
)
def test_words_of_others_are_known(member, own):
    assert plain_docstrings.own_words(member) == own


@pytest.mark.parametrize("what", ["property", "method"])
def test_a_colon_in_the_words_on_a_property_is_no_type(what):
    napoleon = pytest.importorskip("sphinx.ext.napoleon")
    lines = ["The rows: all of them.", "", "Raises:", "  ValueError: for others."]
    plain_docstrings._process(None, what, "name", None, None, lines)
    text = str(napoleon.GoogleDocstring(lines, napoleon.Config(), None, what, "name"))
    assert "The rows: all of them." in text and ":type:" not in text and ":raises ValueError: for others." in text
