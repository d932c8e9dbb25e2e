"""The heat of noise, cut short."""

import json

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.sampler_study import heat_of_noise


@pytest.fixture(autouse=True)
def short_epochs(monkeypatch):
    monkeypatch.setattr(heat_of_noise, "_EPOCH", 5)


@pytest.mark.slow
def test_a_line_for_each_setting_of_the_same_climb(tmp_path, capsys):
    draws = np.random.default_rng(0)
    ds.datasets.pack(tmp_path / "own.npz", *(draws.integers(0, 2, (60, 4)) for _ in range(3)))
    tiny = "--dataset own --climb 5 --updates 10 --test-rows 4 --annealing-steps 5 --architecture".split()
    heat_of_noise.main([*tiny, "SBN/SBN 3", "--data-dir", str(tmp_path), "--output", str(tmp_path / "out")])
    lines = json.loads((tmp_path / "out" / "results.json").read_text())["lines"]
    assert [(line["learning_rate"], line["by_noise"]) for line in lines] == [(0.3, True), (0.3, False), (0.003, False)]
    assert len({line["climbed"] for line in lines}) == 1 and len({line["sampled"] for line in lines}) > 1
    assert all(0.2 < line["kinetic_temperature"] < 5 for line in lines)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) == 5 and printed[2].startswith("| 25 | 0.3 at most, by noise | ")


@pytest.mark.parametrize("updates", ["4", "7"])
def test_updates_that_are_no_epochs(tmp_path, updates):
    with pytest.raises(SystemExit, match=f"multiple of 5. Received: {updates}"):
        heat_of_noise.main(["--updates", updates, "--output", str(tmp_path / "out")])
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "wrong", ["--annealing-steps 0", "--test-rows -5", "--learning-rates 0.3 0", "--batch-size 0", "--climb 0"]
)
def test_mistakes_are_refused_before_any_work(tmp_path, capsys, wrong):
    with pytest.raises(SystemExit):
        heat_of_noise.main([*wrong.split(), "--output", str(tmp_path / "out")])
    assert "Received: " in capsys.readouterr().err and not (tmp_path / "out").exists()
