"""Releases by their names: what is loaded is what was made, from a folder, an address or the cache."""

import functools
import http.server
import pickle
import re
import shutil
import threading

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.commands import ROOT
from tests.pages import run
from tests.pretrained import tiny
from tfdsmcmc.pretrained import contents

X = np.array([[0, 1, 1, 0, 1, 0], [1, 1, 0, 0, 0, 1.0]])


def weights(model):
    return [variable.numpy() for variable in [*model.theta_variables, *getattr(model, "phi_variables", [])]]


def test_a_posterior_is_what_was_written(releases):
    posterior = ds.pretrained.load("net", releases.source, releases.cache)
    assert isinstance(posterior, ds.posterior.Posterior) and posterior.num_chains == 2
    written = [sample for draw in releases.drawn for sample in draw]
    assert len(posterior.samples) == len(written) == 6
    for found, expected in zip(posterior.samples, written):
        assert (found.step, found.chain) == (expected.step, expected.chain)
        for a, b in zip(found.arrays, expected.arrays, strict=True):
            np.testing.assert_array_equal(a, b)
    first = [sample.arrays for sample in written if sample.chain == 0]
    for value, *parts in zip(weights(posterior.model), *first, strict=True):
        np.testing.assert_allclose(value, np.mean(parts, 0), rtol=1e-5, atol=1e-6)


def test_a_posterior_is_ready(releases, tmp_path):
    """Its log-likelihood is that of the components by enumeration; samples, imputations and an export are there."""
    posterior = ds.pretrained.load("net", releases.source, releases.cache)
    model = posterior.model
    found = posterior.log_likelihood(model, X, num_samples=2000, average="draws")
    exact = []
    for sample in posterior.samples:
        for variable, value in zip(model.theta_variables, sample.theta):
            variable.assign(value)
        exact.append(ds.likelihood.exact(model, X).value)
    expected = np.logaddexp.reduce(exact, 0) - np.log(len(exact))
    assert np.all(np.abs(found.value - expected) < 5 * found.standard_error + 1e-6)
    assert posterior.sample(model, 4).shape == (4, 6)
    filled = model.impute(X, mask=[True] * 3 + [False] * 3, num_imputations=2, posterior=posterior)
    assert filled.shape == (2, 2, 6) and np.array_equal(filled[0, :, :3], X[:, :3])
    path = ds.serving.export(model, tmp_path / "served", posterior=posterior, only="sample", verbose=False)
    assert (tmp_path / "served" / "1" / "saved_model.pb").exists() and path


def test_what_it_learnt_by_is_left_out(tmp_path):
    """A release is not compiled, though its model was."""
    model = ds.models.from_name("SBN/SBN 3", 6, seed=0)
    model.compile(**ds.methods.rws())
    contents.write(tmp_path, model)
    assert "compile_config" in (tmp_path / "model.json").read_text()
    found = contents.read_model(tmp_path)
    assert not found.compiled
    with pytest.raises(ValueError, match=r"Call compile\(\) before fit"):
        found.fit(X)


def test_parts_have_the_model(releases):
    posterior = ds.pretrained.load("net", releases.source, releases.cache)
    parts = [posterior[-1:], posterior.chain(1), posterior.thin(2), *posterior.parts("weights")]
    assert all(part.model is posterior.model for part in parts)
    assert [len(part.samples) for part in parts] == [2, 3, 4, 3, 3]


def test_a_posterior_is_sent_with_its_model(releases):
    """Workers of `cluster` are sent parts of a posterior by pickle."""
    part = ds.pretrained.load("net", releases.source, releases.cache).chain(1)
    sent = pickle.loads(pickle.dumps(part))
    assert sent.num_chains == 1 and len(sent.samples) == 3
    for found, expected in zip(weights(sent.model), weights(part.model), strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_machine_is_what_was_written(releases):
    rbm = ds.pretrained.load("machine", releases.source, releases.cache)
    assert isinstance(rbm, ds.boltzmann.RBM)
    for found, expected in zip(weights(rbm), weights(releases.rbm), strict=True):
        np.testing.assert_array_equal(found, expected)
    states = np.array(np.meshgrid(*[[0, 1]] * 6)).reshape(6, -1).T
    assert abs(np.exp(rbm.log_likelihood(states).value).sum() - 1) < 1e-4  # log Z is exact
    assert rbm.sample(3, steps=2).shape == (3, 6)


def test_the_cache_needs_no_source(releases):
    """What is unpacked stays, and nothing else does."""
    first = ds.pretrained.load("net", releases.source, releases.cache)
    shutil.rmtree(releases.source)
    again = ds.pretrained.load("net", cache=releases.cache)
    np.testing.assert_array_equal(again.samples[3].theta[0], first.samples[3].theta[0])
    digest = releases.about["net"]["sha256"]
    assert sorted(path.name for path in releases.cache.iterdir()) == [f".{digest}.lock", digest]
    with pytest.raises(ValueError, match="Say where machine-"):
        ds.pretrained.load("machine", cache=releases.cache)


def test_the_environment_says_the_source(releases, monkeypatch, tmp_path):
    monkeypatch.setenv("TFDSMCMC_PRETRAINED", str(releases.source))
    ds.pretrained.load("machine")
    assert (tmp_path / "keras" / "models" / "tfdsmcmc" / releases.about["machine"]["sha256"] / "model.json").exists()


def test_an_address(releases):
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    handler = functools.partial(Quiet, directory=str(releases.source))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}"
        ds.pretrained.load("net", f"{address}/", releases.cache)
        (releases.source / releases.about["machine"]["file"]).unlink()
        with pytest.raises(ValueError, match=r"cannot be had \(HTTP Error 404.*Received: source='http"):
            ds.pretrained.load("machine", address, releases.cache)
        server.shutdown()
    with pytest.raises(ValueError, match="cannot be had .*Received: source="):
        ds.pretrained.load("machine", address, releases.cache)


def test_names_and_cards(releases):
    assert ds.pretrained.names() == ["machine", "net"]
    assert ds.pretrained.card("net") == "# net\n"


def test_the_page(releases, tmp_path, monkeypatch):
    """What the page has one type runs, with small models under the names of the released ones."""
    page = (ROOT / "docs" / "pretrained.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    tiny.posterior(tmp_path / "net", units=64, chains=1, draws=2)
    tiny.machine(tmp_path / "machine", units=64)
    for name, folder in (("digits", tmp_path / "net"), ("rbm", tmp_path / "machine")):
        files = tiny.files_of(folder)
        releases.put(name, tiny.zipped(files), sum(len(content) for _, content in files))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    releases.source.rename(tmp_path / "dist" / "pretrained")
    run([code], "pretrained.md")
    assert (tmp_path / "saved_models" / "pretrained" / "1" / "saved_model.pb").exists()
