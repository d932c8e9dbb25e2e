"""The pictures: what stands where."""

import numpy as np
import pytest

from experiments.report import pictures
from experiments.report.equal_time import Comparison


def row_of(method="rws", architecture="SBN/SBN 200", value=-40.0, curve=()):
    figure = {"value": value, "standard_error": 0.3, "row_standard_error": 0.4}
    row = {"method": method, "architecture": architecture, "dataset": "ocr_letters", "settings": {}}
    return {**row, "log_likelihood": {"last": figure}, "curve": list(curve)}


@pytest.fixture
def rows():
    seconds = (0.0, 60.0, 120.0)  # a logarithmic axis has no 0
    curve = [{"seconds": second, "valid": -30.0, "test": -50.0 + i} for i, second in enumerate(seconds)]
    return [row_of(curve=curve), row_of("nvil", "DARN/DARN 200", -33.0, curve), row_of("nvil", "SBN/SBN 7", -60.0)]


def test_methods_stand_beside_what_is_published(rows):
    (axes,) = pictures.reached(rows).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["SBN 7", "SBN 200", "DARN 200"]
    by_label = {container.get_label(): container for container in axes.containers}
    np.testing.assert_allclose(by_label["rws"].lines[0].get_xdata(orig=False), [-40.0])
    np.testing.assert_allclose(sorted(by_label["nvil"].lines[0].get_xdata(orig=False)), [-60.0, -33.0])
    (published,) = [line for line in axes.lines if line.get_label() == "best published"]
    np.testing.assert_allclose(published.get_xydata(), [(-37.5, 1), (-32.7, 2)])


def test_curves_are_drawn_against_minutes(rows):
    panels = pictures.curves(rows).axes
    assert [axes.get_title() for axes in panels if axes.axison] == ["SBN 200", "DARN 200"]
    (line,) = panels[0].lines
    np.testing.assert_allclose(line.get_xydata(), [(1.0, -49.0), (2.0, -48.0)])


def test_panels_without_an_architecture_are_empty(rows):
    names = ("SBN/SBN 1", "SBN/SBN 2", "SBN/SBN 3", "SBN/SBN 4")
    panels = pictures.curves([row_of(architecture=name, curve=rows[0]["curve"]) for name in names]).axes
    assert [axes.axison for axes in panels] == [True] * 4 + [False] * 2


def test_differences_are_drawn_with_their_errors():
    one = Comparison("digits[:400]", "SBN 5", 150.0, (0, 0), (0, 0), (2.0, 0.5), (1.0, 0.5))
    (axes,) = pictures.equal_time([one]).axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["Digits, SBN 5, first 400 rows"]
    (bar,) = axes.containers
    np.testing.assert_allclose(bar.lines[2][0].get_segments()[0], [(1.5, 0.0), (2.5, 0.0)])
