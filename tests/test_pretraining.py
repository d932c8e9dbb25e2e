"""Learning layer by layer: what each layer learns from, and that the whole model gains by it."""

import types

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.model.support import patterns
from tfdsmcmc import pretraining

ROWS = patterns(60)


def model_of(*widths, seed=2):
    layers = [ds.layers.SBN(width, seed=place) for place, width in enumerate([*reversed(widths), 4])]
    recognition = ds.RecognitionNetwork([ds.layers.SBN(width, seed=9) for width in widths])
    return ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), recognition, seed=seed)


def learnt(model, **options):
    return ds.pretrain(model, ROWS, batch_size=30, steps_per_execution=2, jit_compile=False, **options)


@pytest.mark.slow
def test_layers_learn_one_after_the_other(monkeypatch):
    """The data layer is what it alone has learnt, and the second learns from the first one's units."""
    model, alone = model_of(3, 2), model_of(3, 2)
    seen, units = [], pretraining._units
    monkeypatch.setattr(pretraining, "_units", lambda part, x: seen.append(units(part, x)) or seen[-1])
    start = [part.copy() for part in model.get_weights()]
    histories = learnt(model, epochs=[4, 0])
    assert [len(history.epoch) for history in histories] == [4, 0]
    learnt(alone, epochs=[4, 3])
    top, middle, data = model.generative.layers
    for one, other in zip(data.weights, alone.generative.layers[-1].weights):
        np.testing.assert_array_equal(one, other)
    assert (middle.bias.numpy() != alone.generative.layers[1].bias.numpy()).any()
    np.testing.assert_array_equal(seen[0], seen[1])
    assert seen[0].shape == (60, 3) and set(np.unique(seen[0])) <= {0, 1}
    moved = [(a != b).any() for a, b in zip(start, model.get_weights()) if a.size]
    assert any(moved) and not all(moved)
    assert alone.generative.layers[0].bias.numpy().tolist() != top.bias.numpy().tolist()


@pytest.mark.slow
@pytest.mark.parametrize("method", [None, "rws"])
def test_the_model_gains(method):
    """Ten epochs of each layer by Gibbs sampling or reweighted wake-sleep: the exact likelihood rises by 0.3 nats."""
    model = model_of(3, 2)
    before = ds.likelihood.exact(model, ROWS).mean()
    options = {} if method is None else {"method": ds.methods.rws(0.05)}
    phi = [part.numpy() for part in model.recognition.trainable_variables]
    learnt(model, epochs=10, **options)
    assert float(ds.likelihood.exact(model, ROWS).mean()) > float(before) + 0.3
    same = [np.array_equal(a, b) for a, b in zip(phi, model.recognition.trainable_variables)]
    assert all(same) if method is None else not any(same)
    model.compile(**ds.methods.polya_gamma_gibbs(burn_in=3), jit_compile=False)
    model.fit(ROWS, epochs=2, verbose=0)
    assert float(ds.likelihood.exact(model, ROWS).mean()) > float(before)


@pytest.mark.parametrize("method", ["vb", "online_vb"])
def test_by_variational_bayes(method, monkeypatch):
    """Its units are means: the next layer learns from draws of them."""
    model, units, means, seen = model_of(3, 2), pretraining._units, [], []
    monkeypatch.setattr(pretraining, "_units", lambda part, x: (
        means.append(part.run.state.units[0].numpy()), seen.append(units(part, x)))[1] or seen[-1])  # fmt: skip
    learnt(model, epochs=[2, 1], method=getattr(ds.methods, method)())
    assert set(np.unique(seen[0])) == {0, 1} and ((means[0] > 0) & (means[0] < 1)).all()
    # to six standard errors of 180 draws of variance ¼ at most: a right one fails in 2·10⁻⁹ of all seeds
    assert abs((seen[0] - means[0]).mean()) < 6 * 0.5 / np.sqrt(180)


def test_a_prior_knows_the_weights_of_a_layer_that_learns_alone():
    """By whole names: the layer between, learnt once without its parents and once as the model's, has one name."""
    model = model_of(3, 2)
    names = [name for name, _ in model.generative.named_weights]
    found = [[name for name, _ in pretraining._alone(model, number).generative.named_weights] for number in (1, 2)]
    top, middle, data = (layer.name for layer in model.generative.layers)
    assert found[0] == [f"{name}/{weight}" for name in (middle, data) for weight in ("kernel", "bias")]
    assert found[1] == [f"{name}/{weight}" for name in (top, middle) for weight in ("kernel", "bias")]
    prior = {f"^{name}$": tfp.distributions.Normal(0.0, 1.0) for name in names}
    histories = learnt(ds.DeepGenerativeModel(model.generative, model.recognition, prior), epochs=1)
    assert [len(history.epoch) for history in histories] == [1, 1]


@pytest.mark.parametrize("dtype", [np.uint8, np.float32])
def test_draws_are_their_own_next_rows(dtype):
    """As Gibbs sampling keeps them, in bytes, and as means of 0 and 1."""
    kept = tf.constant(np.random.default_rng(0).integers(0, 2, (5, 3)).astype(dtype))
    part = types.SimpleNamespace(seed=1, run=types.SimpleNamespace(state=types.SimpleNamespace(units=[kept])))
    found = pretraining._units(part, None)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, kept)


def test_what_is_refused():
    model = model_of(3, 2)
    before = model.get_weights()
    for epochs in (-1, [1], [1, 2, 3], 0.5):
        with pytest.raises(ValueError, match="epochs must be .*Received: epochs="):
            learnt(model, epochs=epochs)
    with pytest.raises(ValueError, match="Received"):
        ds.pretrain(model, ROWS + 0.5, 1)
    for old, new in zip(before, model.get_weights()):
        np.testing.assert_array_equal(old, new)
    plain = ds.models.from_name("NADE", units=4)
    with pytest.raises(ValueError, match="takes latent layers. Received"):
        ds.pretrain(plain, ROWS, 1)
