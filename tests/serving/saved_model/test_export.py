"""SavedModels: equal to the live model, and able to run in a process that has nothing but TensorFlow."""

import os
import pathlib
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_near
from tests.oracles import Oracle, binary_states, state_numbers, tiny_model
from tests.posterior.support import folder_of, sample_of, written
from tests.serving.exports import export
from tests.serving.saved_model import loader
from tfdsmcmc import files
from tfdsmcmc.serving.saved_model import audit, content, writing

SEED = np.array([3, 4], np.int32)
QUICK = {"only": ["log_likelihood", "sample"], "verbose": False}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A tiny model, its SavedModel's path, and the loaded SavedModel."""
    model = tiny_model((3, 2), units=4, seed=6)
    path = ds.serving.export(model, tmp_path_factory.mktemp("models") / "tiny", version=3, **QUICK)
    return model, path, tf.saved_model.load(path)


def evaluate(served, x, num_samples, seed=SEED, signature="log_likelihood"):
    result = served.signatures[signature](
        x=tf.constant(x, tf.float32), num_samples=tf.constant(num_samples), seed=tf.constant(seed)
    )
    return {name: value.numpy() for name, value in result.items()}


def test_layout_and_signatures(exported):
    model, path, served = exported
    assert pathlib.Path(path).name == "3" and (pathlib.Path(path) / "saved_model.pb").is_file()
    assert set(served.signatures) == {"serving_default", "log_likelihood", "sample"}
    _, inputs = served.signatures["log_likelihood"].structured_input_signature
    assert {name: (spec.dtype, spec.shape.as_list()) for name, spec in inputs.items()} == {
        "x": (tf.float32, [None, 4]),
        "num_samples": (tf.int32, []),
        "seed": (tf.int32, [2]),
    }
    _, inputs = served.signatures["sample"].structured_input_signature
    assert set(inputs) == {"num_samples", "seed"}


def test_log_likelihood_meets_enumeration_at_any_batch_size(exported):
    """6 standard errors on 16 + 1 + 5 rows: 5e-8 in all."""
    model, _, served = exported
    states = binary_states(4)
    for x in (states, states[:1], states[3:8]):
        result = evaluate(served, x, 3000)
        exact = Oracle(model).log_likelihood(x)
        assert set(result) == {"value", "standard_error", "effective_sample_size"}
        assert np.all(np.abs(result["value"] - exact) < 6 * result["standard_error"] + 1e-4)
        assert all(value.shape == (len(x),) for value in result.values())


def test_seeds_decide_and_the_default_signature_is_the_likelihood(exported):
    _, _, served = exported
    x = binary_states(4)
    one = evaluate(served, x, 50)["value"]
    np.testing.assert_array_equal(one, evaluate(served, x, 50, signature="serving_default")["value"])
    assert not np.array_equal(one, evaluate(served, x, 50, seed=[3, 5])["value"])


def test_samples_are_those_of_the_live_model(exported):
    model, _, served = exported
    drawn = served.signatures["sample"](num_samples=tf.constant(50), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, model.sample(50, SEED))


@pytest.mark.slow
def test_it_runs_in_a_process_without_this_package(exported, tmp_path):
    _, path, served = exported
    program = f"""
import sys, numpy as np, tensorflow as tf
served = tf.saved_model.load({path!r})
x = tf.constant(np.eye(4), tf.float32)
value = served.signatures["log_likelihood"](x=x, num_samples=tf.constant(70), seed=tf.constant([3, 4]))["value"]
assert "tfdsmcmc" not in sys.modules
np.save("value.npy", value)
"""
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True)
    np.testing.assert_array_equal(np.load(tmp_path / "value.npy"), evaluate(served, np.eye(4), 70)["value"])


def test_the_mean_of_a_posterior_is_exported_and_the_model_left_alone(tmp_path):
    (tmp_path / "samples").mkdir()
    model = folder_of(tmp_path / "samples")
    before = model.get_weights()
    posterior = ds.posterior.load(tmp_path / "samples")
    served = tf.saved_model.load(ds.serving.export(model, tmp_path / "served", posterior=posterior, **QUICK))
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    drawn = served.signatures["sample"](num_samples=tf.constant(99), seed=tf.constant(SEED))["x"]
    assert not np.array_equal(drawn, model.sample(99, SEED))
    np.testing.assert_array_equal(drawn, posterior.apply_mean(model).sample(99, SEED))


def test_frozen_layers_are_exported_too(tmp_path):
    model = tiny_model((2,), units=4, seed=1)
    model.generative.layers[0].trainable = False
    served = tf.saved_model.load(ds.serving.export(model, tmp_path / "m", **QUICK))
    drawn = served.signatures["sample"](num_samples=tf.constant(40), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, model.sample(40, SEED))


def test_versions_are_not_overwritten_unless_asked(tmp_path):
    one, two = tiny_model((2,), units=4, seed=1), tiny_model((2,), units=4, seed=2)
    path = pathlib.Path(ds.serving.export(one, tmp_path / "m", **QUICK))
    before = (path / "saved_model.pb").read_bytes()
    with pytest.raises(ValueError, match="overwrite.*Received: "):
        ds.serving.export(two, tmp_path / "m")
    assert (path / "saved_model.pb").read_bytes() == before
    ds.serving.export(two, tmp_path / "m", overwrite=True, **QUICK)
    served = tf.saved_model.load(str(path))
    drawn = served.signatures["sample"](num_samples=tf.constant(40), seed=tf.constant(SEED))["x"]
    np.testing.assert_array_equal(drawn, two.sample(40, SEED))
    assert sorted(p.name for p in (tmp_path / "m").iterdir()) == ["1"]


def test_a_failed_export_leaves_nothing(tmp_path, monkeypatch):
    def fails(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(tf.saved_model, "save", fails)
    (tmp_path / "there").mkdir()
    for folder in ("new/deep/m", "there"):
        with pytest.raises(OSError, match="disk full"):
            ds.serving.export(tiny_model((2,), units=4), tmp_path / folder, only="sample")
    assert [path.name for path in tmp_path.iterdir()] == ["there"] and not list((tmp_path / "there").iterdir())


def test_a_posterior_of_another_architecture_is_refused(tmp_path):
    (tmp_path / "samples").mkdir()
    folder_of(tmp_path / "samples")
    posterior = ds.posterior.load(tmp_path / "samples")
    with pytest.raises(ValueError, match="weights of the shapes.*Received: a model with "):
        ds.serving.export(tiny_model((3,), units=4), tmp_path / "m", posterior=posterior)
    assert not (tmp_path / "m").exists()


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


def test_a_version_that_came_meanwhile_is_not_overwritten(tmp_path, monkeypatch):
    """Another export puts the version in place while this one is being compared."""
    model = tiny_model((2,), units=4)

    def slow(*_):
        monkeypatch.undo()
        ds.serving.export(model, tmp_path / "m", figures={"who": "first"}, only="sample", verbose=False)
        return {}

    monkeypatch.setattr(writing, "round_trip", slow)
    with pytest.raises(ValueError, match="exists.*Received: "):
        ds.serving.export(model, tmp_path / "m", figures={"who": "second"}, only="sample", verbose=False)
    assert loader.manifest_of(tmp_path / "m" / "1")["figures"] == {"who": "first"}
    assert [path.name for path in (tmp_path / "m").iterdir()] == ["1"]


def test_a_version_lost_between_two_renames_comes_back_before_it_is_asked_for(tmp_path, monkeypatch):
    """An export killed there, of which the kernel has kept both folders: `overwrite` is asked about the old version."""
    path = pathlib.Path(ds.serving.export(tiny_model((2,), units=4), tmp_path / "m", **QUICK))
    monkeypatch.setattr(os, "getpid", lambda: 2**31 - 2)
    with files._named(path, "old") as old:
        os.replace(path, old)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="exists.*Received: "):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "m")
    assert [p.name for p in (tmp_path / "m").iterdir()] == ["1"] and (path / "saved_model.pb").is_file()


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


def test_an_ensemble_draws_from_all_samples(tmp_path):
    """Not from their mean: 4,000 draws against the average of the three laws, false failure 1e-6."""
    (tmp_path / "samples").mkdir()
    model = folder_of(tmp_path / "samples")
    posterior = ds.posterior.load(tmp_path / "samples")
    path = ds.serving.export(model, tmp_path / "m", posterior=posterior, ensemble=True, only="sample", verbose=False)
    drawn = tf.saved_model.load(path).signatures["sample"](num_samples=tf.constant(4000), seed=tf.constant(SEED))["x"]
    law = np.mean([np.exp(Oracle(tiny_model((2,), 4, seed=i)).log_likelihood(binary_states(4))) for i in (1, 2, 3)], 0)
    assert_frequencies(np.bincount(state_numbers(drawn.numpy()), minlength=16), law)


@pytest.mark.parametrize(
    "average",
    [
        "units_and_start",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("units", "weights", "weights_and_start")),
    ],
)
def test_averages_within_the_model_are_served_as_python_has_them(tmp_path, average):
    """Of two chains: likelihoods of both beside each other, with the same components' draws; samples by their law."""
    chains = written(tmp_path, (0, 1, 0, 1))
    chains.starts = [sample_of(tiny_model((2,), units=4, seed=20 + c), 5)._replace(chain=c) for c in range(2)]
    model = tiny_model((2,), units=4)
    only = ["log_likelihood", "sample", "impute"]
    path = export(model, tmp_path / "m", posterior=chains, average=average, sweeps=3, only=only)
    found = loader.manifest_of(path)["posterior"]
    assert (found["average"], found["chains"], found["samples"]) == (average, 2, 4)
    served, x = tf.saved_model.load(path).signatures, binary_states(4).astype(np.float32)
    arguments = {"num_samples": tf.constant(3000), "seed": tf.constant(SEED)}
    value = served["log_likelihood"](x=tf.constant(x), **arguments)
    python = chains.log_likelihood(model, x, 3000, average=average)
    error = np.hypot(value["standard_error"].numpy(), python.standard_error)
    assert_near(value["value"].numpy(), python.value, error)
    drawn = served["sample"](num_samples=tf.constant(4000), seed=tf.constant(SEED))["x"].numpy()
    precise = np.exp(chains.log_likelihood(model, x, 20_000, average=average).value)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), precise / precise.sum())
    filled = served["impute"](
        x=tf.constant(x), mask=tf.constant(x[::-1] > 0), num_imputations=tf.constant(2), seed=tf.constant(SEED)
    )["x"].numpy()
    assert np.all((filled == x)[:, x[::-1] > 0]) and set(np.unique(filled)) <= {0, 1}


def test_what_cannot_be_averaged_for_export_is_refused(tmp_path):
    posterior, model = written(tmp_path, (0, 1, 0)), tiny_model((2,), units=4)
    for bad in (
        {"posterior": posterior, "average": "units"},  # two draws of one chain, one of the other
        {"posterior": posterior, "average": "all"},
        {"posterior": posterior, "ensemble": True, "average": "weights"},
        {"average": "weights"},
    ):
        with pytest.raises(ValueError, match="Received: "):
            ds.serving.export(model, tmp_path / "m", verbose=False, **bad)
    assert not (tmp_path / "m").exists()


def test_a_saved_model_that_answers_otherwise_is_not_put_in_place(tmp_path, monkeypatch):
    """The weights are changed between tracing and loading."""
    save = tf.saved_model.save

    def spoil(module, *args, **kwargs):
        save(module, *args, **kwargs)
        for variable in module.trainable_variables or module.variables:
            variable.assign(variable + 1.0)

    monkeypatch.setattr(tf.saved_model, "save", spoil)
    with pytest.raises(RuntimeError, match="gives another .* Received: "):
        ds.serving.export(tiny_model((2,), units=4), tmp_path / "m", only="log_likelihood", verbose=False)
    assert not (tmp_path / "m").exists()


def test_serving_files_are_written_with_the_version(tmp_path):
    pytest.importorskip("tensorflow_serving")
    model = tiny_model((2,), units=4)
    arguments = {"serving_config": True, "only": "sample_rows", "verbose": False}
    path = pathlib.Path(ds.serving.export(model, tmp_path / "tiny", **arguments))
    ((name, inputs),) = loader.warm_up_requests(path)
    assert name == "sample_rows" and inputs["seed"].shape == (2, 2)
    assert 'name: "tiny"' in (tmp_path / "tiny" / "models.config").read_text()
    assert (tmp_path / "tiny" / "batching.config").is_file()
    (tmp_path / "tiny" / "models.config").write_text("of another hand")
    with pytest.raises(ValueError, match="overwrite=True.*Received: "):
        ds.serving.export(model, tmp_path / "tiny", version=2, **arguments)
    assert sorted(p.name for p in (tmp_path / "tiny").iterdir()) == ["1", "batching.config", "models.config"]


@pytest.mark.slow
def test_jitted_exports_say_so_and_answer_alike(tmp_path):
    model = tiny_model((2,), units=4, seed=6)
    plain, jitted = (
        ds.serving.export(model, tmp_path / str(jit), only="log_likelihood", jit=jit, verbose=False)
        for jit in (False, True)
    )
    assert audit.faults(plain) == [] and audit.faults(jitted, jit=True) == []
    assert audit.faults(jitted) == ["a function compiled by XLA"]
    assert loader.manifest_of(jitted)["settings"]["jit"] and not loader.manifest_of(plain)["settings"]["jit"]
    one, other = (evaluate(tf.saved_model.load(path), binary_states(4), 100) for path in (plain, jitted))
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], rtol=1e-4)
