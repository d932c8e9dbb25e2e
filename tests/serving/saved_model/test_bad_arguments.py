"""Arguments that an export refuses before anything is written."""

from types import SimpleNamespace

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.serving.saved_model import loader


@pytest.mark.parametrize(
    "bad",
    [
        {"version": 0},
        {"version": -1},
        {"version": "a"},
        {"sweeps": 0},
        {"max_draws": 0.5},
        {"max_draws": 2**63},
        {"max_draws": 5, "only": "log_likelihood"},
        {"sweeps": 2**31, "only": "impute"},
        {"version": 2**63},
        {"only": ["sample", "dream"]},
        {"only": []},
        {"only": 3},
        {"data_shape": (2, 3)},
        {"data_shape": 4},
        {"data_shape": "22"},
        {"figures": 3},
        {"figures": {"a": np.nan}},
        {"figures": {"a": ...}},
        {"ensemble": True},
        {"posterior": "runs/digits"},
        {"posterior": np.ones(3)},
        {"posterior": SimpleNamespace(samples=[], mean=None)},
        {"data_shape": [[2, 2]]},
        {"overwrite": "no"},
        {"jit": "yes"},
        {"serving_config": 1},
        {"verbose": "loud"},
    ],
    ids=str,
)
def test_bad_arguments_are_refused_before_anything_is_written(bad, tmp_path):
    name = {"sweeps": "max_draws|sweeps", "posterior": "Posterior|posterior"}.get(next(iter(bad)), next(iter(bad)))
    with pytest.raises(ValueError, match=f"({name}).*Received: "):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "m", **bad)
    assert not (tmp_path / "m").exists()


def test_paths_that_are_no_folders(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (None, 3, "", tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="path.*Received: "):
            ds.serving.export(tiny_model((2,), units=4), path)
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    path = ds.serving.export(tiny_model((2,), units=4), tmp_path / "link", only="sample", verbose=False)
    assert loader.manifest_of(path)["name"] == "link"


def test_weights_that_are_not_finite_are_refused(tmp_path):
    model = tiny_model((2,), units=4)
    model.generative.layers[0].bias.assign([0.0, np.nan])
    with pytest.raises(ValueError, match="finite.*Received: "):
        ds.serving.export(model, tmp_path / "m", only="sample")
    assert not (tmp_path / "m").exists()
