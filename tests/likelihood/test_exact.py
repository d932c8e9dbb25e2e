"""Enumeration against the NumPy oracle, and against a closed form at the largest size."""

import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, log_bernoulli, sigmoid, tiny_model
from tfdsmcmc.supports import Real


@pytest.mark.parametrize("latent_units", [(1,), (3,), (2, 3), (1, 3, 2), (12,)])
def test_every_row_is_exact(latent_units):
    model = tiny_model(latent_units, units=4, seed=1)
    x = binary_states(4)
    got = ds.likelihood.exact(model, x)
    np.testing.assert_allclose(got.value, Oracle(model).log_likelihood(x), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(np.exp(got.value).sum(), 1.0, atol=1e-5)
    np.testing.assert_array_equal(got.standard_error, np.zeros(16))
    np.testing.assert_array_equal(got.effective_sample_size, np.full(16, np.inf))
    mean = got.mean()
    assert mean.standard_error == 0.0 and mean == pytest.approx(got.value.mean())


@pytest.mark.parametrize("entries", [1, 200, 3000])
def test_chunks_of_states_make_no_difference(monkeypatch, entries):
    model = tiny_model((3, 2), units=4, seed=2)
    x = binary_states(4)[3:10]
    monkeypatch.setattr(sys.modules["tfdsmcmc.likelihood.exact"], "_CHUNK_ENTRIES", entries)
    np.testing.assert_allclose(ds.likelihood.exact(model, x).value, Oracle(model).log_likelihood(x), rtol=1e-5)


def test_twenty_latent_units():
    """Each unit drives one pixel alone, so that p(x) = Π_j Σ_z p(z) p(x_j given z)."""
    model = tiny_model((20,), units=20, seed=3)
    top, data = model.generative.layers
    data.kernel.assign(tf.linalg.diag(tf.linalg.diag_part(data.kernel.value)))
    a, b, w = (np.asarray(v, np.float64) for v in (top.bias.numpy(), data.bias.numpy(), np.diag(data.kernel.numpy())))
    x = np.random.default_rng(4).integers(0, 2, (2, 20))
    off, on = (np.exp([[log_bernoulli([v], [c]) for v, c in zip(row, logits)] for row in x]) for logits in (b, b + w))
    want = np.log(sigmoid(a) * on + sigmoid(-a) * off).sum(1)
    np.testing.assert_allclose(ds.likelihood.exact(model, x).value, want, rtol=1e-5)


class _Real(ds.layers.SBN):
    support = Real()


def test_it_needs_few_and_binary_latent_units():
    with pytest.raises(ValueError, match=r"at most 20 latent units. Received: 21 of \[20, 1\]"):
        ds.likelihood.exact(tiny_model((20, 1)), np.zeros((1, 3)))
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([_Real(2), ds.layers.SBN(3)]), ds.RecognitionNetwork([ds.layers.SBN(2)])
    )
    with pytest.raises(ValueError, match="binary latent layers. Received: layers"):
        ds.likelihood.exact(model, np.zeros((1, 3)))


def test_weights_that_are_not_finite_are_refused():
    """θ alone counts: φ takes no part."""
    for network, refuses in (("generative", True), ("recognition", False)):
        model = tiny_model()
        weight = getattr(model, network).weights[-1]
        weight.assign(np.full(weight.shape, np.nan))
        if refuses:
            with pytest.raises(ValueError, match="the generative network must be finite.*Received: "):
                ds.likelihood.exact(model, np.zeros((1, 3)))
        else:
            assert np.isfinite(ds.likelihood.exact(model, np.zeros((1, 3))).value).all()


@pytest.mark.parametrize(
    "x", [[[0, 1, np.inf]], [[0, 1, 0.5]], np.zeros((2, 4)), np.zeros(3), np.zeros((0, 3)), None, [["0", "1", "1"]]]
)
def test_bad_data(x):
    with pytest.raises(ValueError, match="^x must .*Received: "):
        ds.likelihood.exact(tiny_model(), x)
