"""Features under several priors: how sparse they are, and the picture side by side."""

import json

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.prior_features import __main__ as prior_features


def test_sparseness_against_known_laws():
    """Of 10⁶ draws. The kurtosis of a Laplace law is 6; |x| is below a tenth of the root mean square with probability
    0.0797 if normal, 1 − exp(−√2/10) = 0.1319 if Laplace. Tolerances of 6 standard errors, 0.05 at most of a kurtosis
    and 0.0003 of a part: fails by chance in less than one of 10⁶ runs. Catches a kurtosis that is not the excess, or
    of weights that are not centred, and a threshold without the root."""
    rng = np.random.default_rng(0)
    for draws, kurtosis, near in ((rng.standard_normal(10**6), 0.0, 0.0797), (rng.laplace(size=10**6), 3.0, 0.1319)):
        found = prior_features.sparseness(3.0 * draws.reshape(1000, 1000).astype(np.float32))
        assert abs(found["excess_kurtosis"] - kurtosis) < 0.3 and abs(found["part_near_zero"] - near) < 0.002
        np.testing.assert_allclose(found["root_mean_square"], 3.0 * np.sqrt(np.mean(draws**2)), rtol=1e-5)


def test_each_prior_has_its_panel():
    rng = np.random.default_rng(0)
    kernels = {name: rng.standard_normal((5, 6)).astype(np.float32) for name in ("student_t", "normal")}
    figure = prior_features.side_by_side(kernels, (2, 3), 4)
    assert [axes.get_title() for axes in figure.axes] == ["Student-t", "normal"]
    for axes, kernel in zip(figure.axes, kernels.values(), strict=True):
        (image,) = axes.images
        alone = ds.plots.features(kernel, (2, 3), limit=4).axes[0].images[0]
        np.testing.assert_array_equal(image.get_array(), alone.get_array())
        assert image.get_clim() == (-1.0, 1.0)


def test_what_has_no_features_is_refused(tmp_path):
    bits = np.zeros((4, 6), np.uint8)
    ds.datasets.pack(tmp_path / "tiny.npz", bits, bits, bits)
    with pytest.raises(ValueError, match="Received: dataset='tiny'"):
        prior_features.main(["--dataset", "tiny", "--data-dir", str(tmp_path), "--output", str(tmp_path / "out")])
    with pytest.raises(ValueError, match="Received: architecture='NADE 3'"):
        prior_features.main(["--architecture", "NADE 3", "--output", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_figure_is_drawn(tmp_path):
    options = "--updates 12 --posterior-samples 2 --test-rows 20 --features 4 --priors learnt student_t normal"
    prior_features.main([*options.split(), "--architecture", "SBN/SBN 4", "--output", str(tmp_path / "out")])
    assert (tmp_path / "out" / "features.png").stat().st_size > 1000
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert all(-60 < results[name]["log_likelihood"] < -10 for name in prior_features.PRIORS)
