"""Releases are made, and the package and the page say what the record says."""

import copy
import hashlib
import json

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.common import files, marked_page
from experiments.pretrained import __main__ as pretrained
from experiments.pretrained import page
from experiments.pretrained.card import card
from experiments.pretrained.packing import packed
from experiments.pretrained.settings import RELEASES, Machine
from tests.commands import ROOT
from tests.oracles import tiny_model
from tests.posterior.support import written
from tfdsmcmc.pretrained import catalogue, unpacking

RECORD = {line["name"]: line for line in files.lines(ROOT / "docs" / "pretrained.jsonl")}


def test_an_archive_depends_on_its_files_alone(tmp_path):
    """Not on when they were written; it unpacks to them, and the digest beside it is its own."""
    found = []
    for place in ("a", "b"):
        for name, content in (("posterior/x.h5", bytes(1000)), ("model.json", b"{}")):
            (tmp_path / place / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / place / name).write_bytes(content)
        found.append(packed("net", tmp_path / place, tmp_path / f"out {place}"))
    assert found[0] == found[1] and found[0]["unpacked"] == 1002
    archive = (tmp_path / "out a" / found[0]["file"]).read_bytes()
    digest = hashlib.sha256(archive).hexdigest()
    assert found[0]["sha256"] == digest and found[0]["file"] == f"net-{digest[:8]}.zip" and len(archive) < 1000
    said = (tmp_path / "out a" / f"{found[0]['file']}.sha256").read_text()
    assert said == f"{digest}  {found[0]['file']}\n"
    assert set(unpacking.unpack(archive, tmp_path / "c", 1002)) == {"model.json", "posterior/x.h5"}
    (tmp_path / "b" / "model.json").write_bytes(b"[]")
    assert packed("net", tmp_path / "b", tmp_path / "out b")["sha256"] != digest


def test_an_archive_made_again_has_the_same_bytes(tmp_path, monkeypatch):
    """Whatever the run took, and whichever models were made before it in the process."""
    seconds = iter([7, 8])

    def learnt(settings, data, folder):
        written(folder / "posterior", chains=(0, 0))
        return tiny_model((2,), units=4), {"updates": 20, "processor_seconds": next(seconds)}

    monkeypatch.setattr(pretrained, "learnt", learnt)
    monkeypatch.setattr(pretrained.measuring, "of_posterior", lambda *_: RECORD["digits"]["figures"])
    runs = [pretrained.released(RELEASES[0], tmp_path / name, tmp_path / f"{name} out") for name in ("one", "two")]
    assert [line["run"]["processor_seconds"] for line in runs] == [7, 8]
    one, two = ((tmp_path / f"{name} out" / runs[0]["archive"]["file"]).read_bytes() for name in ("one", "two"))
    assert one == two


def test_the_record_is_of_the_releases():
    assert {settings.name: json.loads(json.dumps(settings._asdict())) for settings in RELEASES} == {
        name: line["settings"] for name, line in RECORD.items()
    }
    assert all(line["archive"]["size"] < 5e6 for line in RECORD.values())


def test_the_package_and_the_page_say_what_the_record_says():
    text = (ROOT / "docs" / "pretrained.md").read_text(encoding="utf-8")
    lines = [RECORD[name] for name in sorted(RECORD)]
    assert marked_page.with_made(text, page.made(lines), page.COMMAND) == text
    for name, line in RECORD.items():
        assert ds.pretrained.card(name) == "\n".join(card(line)) + "\n"
        assert catalogue.release(name)._asdict() == {"name": name, **line["archive"]}


@pytest.mark.parametrize("name", sorted(settings.name for settings in RELEASES))
def test_a_card_says_what_was_measured(name):
    """Each figure with its errors, both bounds, the data, their licence, and versions; it follows the record."""
    line = copy.deepcopy(RECORD[name])
    text = "\n".join(card(line))
    for figure in line["figures"]:
        digits = 2 if figure["of"] == "log-likelihood" else 3
        assert f"{figure['value']:.{digits}f}".replace("-", "−") in text
    assert {"below", "above"} <= {figure["side"] for figure in line["figures"]}
    assert "Licence: " in text and line["versions"]["tensorflow"] in text and "Not for:" in text
    line["figures"][0]["value"] = -123.4
    assert "−123.40" in "\n".join(card(line))


def test_bounds_are_on_their_sides():
    """Of the released models; three standard errors of the difference are allowed."""
    for line in RECORD.values():
        sides = {}
        for figure in line["figures"]:
            if figure["of"] != "gap" and figure.get("rows") != "random test" and figure.get("whose") != "posterior":
                if figure["of"] == "log Z" or figure["rows"] == "drawn by the model":
                    sides[figure["side"]] = figure["value"], figure["standard_error"]
        (low, low_error), (high, high_error) = sides["below"], sides["above"]
        assert low <= high + 3 * np.hypot(low_error, high_error)
        if "exact" in sides:
            assert low - 3 * low_error <= sides["exact"][0] <= high + 3 * high_error


@pytest.fixture(scope="module")
def quick(tmp_path_factory):
    """A release of tiny models: its folder, and a function that makes it again."""
    folder = tmp_path_factory.mktemp("quick")

    def make(*more):
        arguments = ["--quick", "--only", "digits", "rbm", "--work", str(folder / "work"), *more]
        pretrained.main([*arguments, "--output", str(folder / "out")])

    make()
    return folder, make


@pytest.mark.slow
def test_releases_are_made_and_loaded(quick, tmp_path, monkeypatch):
    folder, _ = quick
    package, record = tmp_path / "package", tmp_path / "record.jsonl"
    page_file = tmp_path / "page.md"
    page_file.write_text("\n".join(["# Models", "", *marked_page.markers(page.COMMAND), ""]))
    arguments = ["--released", str(folder / "out"), "--record", str(record), "--package", str(package)]
    page.main([*arguments, "--page", str(page_file)])
    assert "## digits" in page_file.read_text() and "## rbm" in page_file.read_text()
    monkeypatch.setattr(catalogue, "_HERE", package)
    data = ds.datasets.load("digits")
    posterior = ds.pretrained.load("digits", folder / "out", tmp_path / "cache")
    rbm = ds.pretrained.load("rbm", folder / "out", tmp_path / "cache")
    by_name = {line["name"]: line["figures"] for line in files.lines(record)}
    again = posterior.log_likelihood(posterior.model, data.test, 5, seed=0).value.mean()
    stated = by_name["digits"][0]
    # in another order of the rows, whose draws are others
    assert abs(again - stated["value"]) < 6 * stated["standard_error"]
    exact = next(figure for figure in by_name["rbm"] if figure["of"] != "log Z" and figure["side"] == "exact")
    assert rbm.log_likelihood(data.test).mean() == pytest.approx(exact["value"], abs=1e-3)
    assert len(posterior.samples) == 4 and isinstance(posterior, ds.pretrained.PretrainedPosterior)


@pytest.mark.slow
def test_a_second_start_learns_nothing_and_makes_the_same(quick, monkeypatch):
    folder, make = quick
    before = {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
    monkeypatch.setattr(pretrained, "learnt", lambda *_: pytest.fail("learns"))
    make()
    assert {path.name: path.read_bytes() for path in (folder / "out").iterdir()} == before


@pytest.mark.slow
def test_a_run_does_not_go_on_under_other_settings(quick, monkeypatch):
    _, make = quick
    other = tuple(settings._replace(seed=7) for settings in RELEASES)
    assert any(isinstance(settings, Machine) for settings in other)
    monkeypatch.setattr(pretrained, "RELEASES", other)
    with pytest.raises(ValueError, match="a run with other arguments"):
        make()
