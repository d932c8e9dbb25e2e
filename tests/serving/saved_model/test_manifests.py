"""What the manifest says of a SavedModel."""

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.posterior.support import folder_of, sample_of, written
from tests.serving.saved_model import loader
from tfdsmcmc.serving.saved_model import content


def test_the_manifest_says_what_is_served(tmp_path, capsys):
    (tmp_path / "samples").mkdir()
    model = folder_of(tmp_path / "samples")
    path = ds.serving.export(
        model, tmp_path / "tiny", 7, ds.posterior.load(tmp_path / "samples"), ensemble=True, data_shape=(2, 2),
        figures={"test log-likelihood": np.float32(-2.5)}, only=["sample", "encode"], sweeps=3,
    )  # fmt: skip
    found = loader.manifest_of(path)
    assert (found["name"], found["data_shape"], found["units"], found["binary"]) == ("tiny", [2, 2], 4, True)
    assert found["posterior"] == {
        "kind": "samples of the posterior", "average": "draws", "chains": 1,
        "samples": 3, "first_step": 10, "last_step": 30,
    }  # fmt: skip
    assert found["figures"] == {"test log-likelihood": -2.5}
    assert found["settings"] == {"sweeps": 3, "max_draws": 10_000_000, "jit": False}
    assert found["versions"]["tensorflow"] == tf.__version__ and found["versions"]["tfdsmcmc"] == ds.__version__
    assert set(found["signatures"]) == {"sample", "encode"}
    assert found["signatures"]["encode"]["inputs"]["x"] == {"type": "float32", "shape": [None, 4]}
    assert found["model"]["latent_units"] == [2]
    printed = capsys.readouterr().out
    assert " MB" in printed and "sample " in printed and "encode " in printed and " ms " in printed
    served = tf.saved_model.load(path).signatures
    assert set(served) == {"serving_default", "sample", "encode"}


def test_the_manifest_of_starts_is_of_them(tmp_path):
    chains = written(tmp_path, (0, 1, 0, 1))
    chains.starts = [sample_of(tiny_model((2,), units=4, seed=c), 5 + c)._replace(chain=c) for c in range(2)]
    found = content._source(chains, "start")
    assert (found["samples"], found["first_step"], found["last_step"], found["chains"]) == (2, 5, 6, 2)
