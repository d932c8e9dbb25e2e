"""Features under several priors: how sparse they are, and the picture side by side."""

import importlib
import json

import numpy as np
import pytest

import tfdsmcmc as ds


@pytest.fixture
def recipe(monkeypatch, request):
    monkeypatch.syspath_prepend(str(request.config.rootpath / "recipes"))
    return importlib.import_module("prior_features")


def test_sparseness_against_known_laws(recipe):
    """Of 10⁶ draws; the kurtosis of a Laplace law is 6, with a standard error of about 0.03 of the mean over draws.

    |x| below a tenth of the root mean square: 0.0797 of normal draws, 1 − exp(−√2/10) = 0.1319 of Laplace ones.
    """
    rng = np.random.default_rng(0)
    for draws, kurtosis, near in ((rng.standard_normal(10**6), 0.0, 0.0797), (rng.laplace(size=10**6), 3.0, 0.1319)):
        found = recipe.sparseness(3.0 * draws.reshape(1000, 1000).astype(np.float32))
        assert abs(found["excess_kurtosis"] - kurtosis) < 0.3 and abs(found["part_near_zero"] - near) < 0.002


def test_panels_share_a_scale(recipe):
    kernels = {"student_t": np.eye(4, dtype=np.float32), "normal": 0.5 * np.eye(4, dtype=np.float32)}
    figure = recipe.side_by_side(kernels, (2, 2), 4)
    images = [axes.images[0] for axes in figure.axes]
    assert [image.get_clim() for image in images] == [(-1.0, 1.0)] * 2
    assert [np.nanmax(image.get_array()) for image in images] == [1.0, 0.5]


def test_what_has_no_features_is_refused(recipe, tmp_path):
    bits = np.zeros((4, 6), np.uint8)
    ds.datasets.pack(tmp_path / "tiny.npz", bits, bits, bits)
    with pytest.raises(ValueError, match="Received: dataset='tiny'"):
        recipe.main(["--dataset", "tiny", "--data-dir", str(tmp_path), "--output", str(tmp_path / "out")])
    with pytest.raises(ValueError, match="Received: architecture='NADE 3'"):
        recipe.main(["--architecture", "NADE 3", "--output", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_the_recipe_draws_its_figure(recipe, tmp_path):
    options = "--updates 12 --posterior-samples 2 --test-rows 20 --features 4 --priors learnt student_t normal"
    recipe.main([*options.split(), "--architecture", "SBN/SBN 4", "--output", str(tmp_path / "out")])
    assert (tmp_path / "out" / "features.png").stat().st_size > 1000
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert all(-60 < results[name]["log_likelihood"] < -10 for name in recipe.PRIORS)
