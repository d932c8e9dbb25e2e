"""Exported models in the loader that TensorFlow Serving uses: the C API, without Python and with XLA disabled."""

import pathlib
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import randomize
from tests.serving.exports import as_written
from tests.serving.saved_model import loader
from tfdsmcmc.posterior.store import Sample

UNITS = loader.UNITS
SEED = np.array([3, 4], np.int32)


def networks(generative, recognition):
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork(generative), recognition=ds.RecognitionNetwork(recognition)
    )
    randomize(model, scale=0.7)
    return model


def named(name):
    model = ds.models.from_name(name, units=UNITS, hidden_units=3)
    randomize(model, scale=0.7)
    return model


def real():
    """Real data above binary latent units."""
    return networks([ds.layers.SBN(2), ds.layers.MLPGaussian(UNITS, hidden_units=[3])], [ds.layers.SBN(2)])


KINDS = {
    "SBN": lambda: named("SBN/SBN 3-2"),
    "DARN": lambda: named("DARN/NADE 3-2"),
    "NADE": lambda: named("NADE/SBN 3"),
    "VAE": lambda: named("VAE 3-2"),
    "real": real,
    "NADE alone": lambda: named("NADE"),
    "SBN alone": lambda: named("SBN"),
}
FUNCTIONS = ["log_likelihood", "sample", "impute", "reconstruct"]
WITHOUT_LATENTS = ("NADE alone", "SBN alone")
REAL = {"real": 1e-4, "VAE": 1e-4}  # rounding of the kinds with real units; a sweep feeds it into the next one


def assert_same_in_both(folder, requests, rounding=0.0, exact=False):
    """Each request has the same answer, bit for bit unless `rounding`, from Python's TensorFlow and from the C API; of
    likelihoods that are `exact` as many samples are effective as one likes."""
    answers, loads = loader.run(folder, requests)
    assert set(loads) == set(requests) and all(status == [0, ""] for status in loads.values()), loads
    for path, calls in requests.items():
        served = tf.saved_model.load(path)
        for (signature, inputs), answer in zip(calls, answers[path], strict=True):
            assert isinstance(answer, dict), (path, signature, answer)
            expected = loader.in_python(served, signature, inputs)
            assert set(answer) == set(expected) and expected
            for name, value in expected.items():
                assert value.dtype == answer[name].dtype
                said = f"{path} {signature} {name}"
                np.testing.assert_allclose(answer[name], value, rtol=rounding, atol=rounding / 10, err_msg=said)
                allowed = np.isposinf if exact and name == "effective_sample_size" else np.isfinite
                assert allowed(value).all(), said


def every_request(path, binary=True):
    """To each signature with a batch of one row and of five."""
    found = loader.signatures_of(path)
    assert {"serving_default", "log_likelihood", "sample"} <= set(found)
    return [(name, loader.request(found[name], rows, UNITS, binary, seed=rows)) for name in found for rows in (1, 5)]


@pytest.mark.compiled  # the server rewrites graphs, and so does TensorFlow for users
def test_answers_are_those_of_python(tmp_path):
    path = loader.exported(every=False)
    assert_same_in_both(tmp_path, {path: every_request(path)})


def signatures_of_kind(kind):
    """All of an SBN and of real data. What a twin is wrapped in is the same for all: of others one has it."""
    if kind in ("SBN", "real"):
        return None
    return [*FUNCTIONS, "impute_rows", *(["log_likelihood_rows_packed"] if kind in WITHOUT_LATENTS else ["encode"])]


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kind", KINDS)
def test_signatures_of_every_kind_equal_python(kind, tmp_path):
    """Bit for bit where the units are binary; real ones may be rounded otherwise."""
    only = signatures_of_kind(kind)
    with as_written():
        path = ds.serving.export(KINDS[kind](), tmp_path / "model", only=only, sweeps=3, verbose=False)
    assert "impute_rows" in loader.signatures_of(path)
    requests = {path: every_request(path, binary=kind != "real")}
    assert_same_in_both(tmp_path, requests, REAL.get(kind, 0.0), exact=kind.endswith("alone"))


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize("kind", ["SBN", "DARN", "NADE", "VAE", "real", "NADE alone"])
def test_averages_unit_by_unit_equal_python(kind, tmp_path):
    """Of two chains of three draws each."""
    model, samples = KINDS[kind](), []
    rng = np.random.default_rng(0)
    for m in range(6):
        weights = [
            [rng.normal(0.2, 0.7, variable.shape).astype(np.float32) for variable in network.trainable_variables]
            for network in (model.generative, model.recognition)
        ]
        samples.append(Sample(*weights, m // 2, m % 2))
    posterior = ds.posterior.Posterior(None, samples, "units")
    with as_written():
        only = signatures_of_kind(kind)
        path = ds.serving.export(model, tmp_path / "model", posterior=posterior, only=only, sweeps=3, verbose=False)
    requests = {path: every_request(path, binary=kind != "real")}
    assert_same_in_both(tmp_path, requests, REAL.get(kind, 0.0), exact=kind.endswith("alone"))


def test_a_bad_request_is_answered_by_an_error_and_the_next_one_is_right(tmp_path):
    tiny = loader.exported(every=False)
    found = loader.signatures_of(tiny)
    name = "log_likelihood"
    good = loader.request(found[name], 2, UNITS)
    bad = [
        {**good, "x": good["x"] + 0.5},
        {**good, "x": np.full_like(good["x"], np.nan)},
        {**good, "num_samples": np.int32(0)},
        {**good, "num_samples": np.int32(2**31 - 1)},
    ]
    calls = [(name, inputs) for wrong in bad for inputs in (wrong, good)]
    answers = loader.run(tmp_path, {tiny: calls})[0][tiny]
    expected = loader.in_python(tf.saved_model.load(tiny), name, good)
    for wrong, refused, answer in zip(bad, answers[::2], answers[1::2], strict=True):
        which = next(key for key in good if wrong[key] is not good[key])
        assert isinstance(refused, tuple) and refused[0] == loader.INVALID_ARGUMENT, refused
        assert f"[{which} must be " in refused[1], refused
        for key, value in expected.items():
            np.testing.assert_array_equal(answer[key], value)
    (refused,) = loader.run(tmp_path, {tiny: [(name, {**good, "x": good["x"][:, :-1]})]})[0][tiny]
    assert refused[0] == loader.INVALID_ARGUMENT and "_x_" in refused[1] and "[2,10]" in refused[1], refused


def test_a_compiled_function_is_refused(tmp_path):
    """So that an export that XLA would have to compile is seen."""
    for jit_compile in (False, True):
        module = tf.Module()
        signature = [tf.TensorSpec([None, 2], tf.float32, "x")]
        module.function = tf.function(lambda x: {"y": x @ [[1.0, 2.0], [3.0, 5.0]]}, signature, jit_compile=jit_compile)
        tf.saved_model.save(module, str(tmp_path / f"{jit_compile}"), signatures=module.function)
    calls = [("serving_default", {"x": np.array([[1, 10], [2, 30]], np.float32)})]
    paths = [str(tmp_path / f"{jit_compile}") for jit_compile in (False, True)]
    answers, loads = loader.run(tmp_path, dict.fromkeys(paths, calls))
    assert loads == dict.fromkeys(paths, [0, ""])
    np.testing.assert_array_equal(answers[paths[0]][0]["y"], [[31, 52], [92, 154]])
    code, message = answers[paths[1]][0]
    assert code and "XLA compilation disabled" in message


def test_what_is_no_model_is_not_loaded(tmp_path):
    """And the next one is."""
    good, broken = loader.exported(every=False), tmp_path / "broken"
    broken.mkdir()
    content = (pathlib.Path(good) / "saved_model.pb").read_bytes()
    (broken / "saved_model.pb").write_bytes(content[: len(content) // 2])
    answers, loads = loader.run(tmp_path, {broken: [], good: []})
    code, message = loads[str(broken)]
    assert code and message and loads[good] == [0, ""]
    assert answers == {str(broken): [], good: []}


def command(*arguments):
    """What TensorFlow's console program for SavedModels prints."""
    program = pathlib.Path(sys.executable).with_name("saved_model_cli")
    done = subprocess.run([str(program), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_the_console_program_shows_and_runs_it(tmp_path):
    tiny = loader.exported(every=False)
    shown = command("show", "--dir", tiny, "--all")
    for name in loader.signatures_of(tiny):
        assert f"signature_def['{name}']" in shown
    served = tf.saved_model.load(tiny)
    found = loader.signatures_of(tiny)

    inputs = loader.request(found["log_likelihood"], 3, UNITS)
    np.savez(tmp_path / "inputs.npz", **inputs)
    given = ";".join(f"{name}={tmp_path / 'inputs.npz'}[{name}]" for name in inputs)
    command("run", "--dir", tiny, "--tag_set", "serve", "--signature_def", "log_likelihood", "--inputs", given,
            "--outdir", tmp_path / "one")  # fmt: skip
    expected = loader.in_python(served, "log_likelihood", inputs)
    for name, value in expected.items():
        np.testing.assert_array_equal(np.load(tmp_path / "one" / f"{name}.npy"), value)

    given = "num_samples=9;seed=[3,4]"
    command("run", "--dir", tiny, "--tag_set", "serve", "--signature_def", "sample", "--input_exprs", given,
            "--outdir", tmp_path / "two")  # fmt: skip
    expected = loader.in_python(served, "sample", {"num_samples": np.int32(9), "seed": SEED})
    np.testing.assert_array_equal(np.load(tmp_path / "two" / "x.npy"), expected["x"])
