"""Gibbs sampling against enumeration: for every kind of layer a sweep keeps the exact posterior, and reaches it."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.oracles import binary_states, flat, randomize, state_numbers, tiny_model
from tests.training.support import estimator_of, theta_of

SBN, DARN, NADE, MLP = ds.layers.SBN, ds.layers.DARN, ds.layers.NADE, ds.layers.MLPBernoulli
NADE3 = {"hidden_units": 3}

# layers top first: every kind on top, in the middle, and next to the data
CHAINS = {
    "SBN": [SBN(2), SBN(3), SBN(4)],
    "DARN": [DARN(2, ordering=[1, 0]), DARN(3, ordering=[2, 0, 1]), DARN(4)],
    "SBN below DARN": [DARN(3), SBN(2), DARN(3)],
    "DARN below SBN": [SBN(2), DARN(3), SBN(3)],
    "NADE": [NADE(2, **NADE3), NADE(3, **NADE3), NADE(4, **NADE3)],
    "MLPBernoulli": [MLP(2), MLP(3, hidden_units=[3]), MLP(4, hidden_units=[3])],
    "mixed": [NADE(2, **NADE3), SBN(3), MLP(4, hidden_units=[3])],
    "one layer": [SBN(4), SBN(3)],
}


def network(name):
    generative = ds.GenerativeNetwork([type(layer).from_config(layer.get_config()) for layer in CHAINS[name]])
    randomize(generative, seed=3, scale=1.0)
    return generative


def posterior(generative, x):
    """(p(z given x) of one row, the states as list of (S, H_l), nearest to the data first)."""
    widths = generative.latent_units
    states = binary_states(sum(widths))
    z = np.split(states.astype(np.float32), np.cumsum(widths)[:-1], axis=1)
    log_joint = generative.log_joint(tf.constant(x, tf.float32), z).numpy().astype(np.float64)
    p = np.exp(log_joint - log_joint.max())
    return p / p.sum(), z


def numbers(z):
    return state_numbers(np.concatenate([np.asarray(part) for part in z], -1))


def exact_draws(p, z, count, seed):
    states = np.random.default_rng(seed).choice(len(p), count, p=p)
    return [tf.constant(part[states]) for part in z]


@pytest.mark.parametrize("name", list(CHAINS))
def test_a_sweep_keeps_the_posterior(name):
    """32,768 exact draws of one row's posterior, one sweep: chi-square over all states, false failures at most 1e-6.
    Catches a wrong sign, a missing term of the layer above, below or within, a unit drawn from old values."""
    generative = network(name)
    x = (np.arange(generative.units) % 3 == 0).astype(np.float32)
    p, z = posterior(generative, x)
    assert p.max() < 0.9, "there is little to sample: choose other weights"
    start = exact_draws(p, z, 2**15, seed=1)
    moved = ds.latents.Gibbs().sweep(generative, x, start, seed=2)
    assert [part.shape for part in moved] == [part.shape for part in start]
    assert np.mean(numbers(moved) != numbers(start)) > 0.2, "the chain does not move"
    assert_frequencies(np.bincount(numbers(moved), minlength=len(p)), p)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "NADE" else name for name in CHAINS]
)
def test_a_chain_forgets_where_it_started(name):
    """From one state, and from its opposite, some sweeps lead to the posterior."""
    generative = network(name)
    x = (np.arange(generative.units) % 2).astype(np.float32)
    p, z = posterior(generative, x)
    for state in (0, -1):
        chain = [tf.repeat(tf.constant(part[state][None]), 2**12, 0) for part in z]
        for seed in range(12):
            chain = ds.latents.Gibbs().sweep(generative, x, chain, seed)
        assert_frequencies(np.bincount(numbers(chain), minlength=len(p)), p)


def test_rows_have_their_own_posteriors():
    generative = network("SBN")
    x = np.array([[1, 0, 0, 1], [0, 1, 1, 0]], np.float32)
    laws = [posterior(generative, row) for row in x]
    start = [exact_draws(p, z, 2**14, seed=i) for i, (p, z) in enumerate(laws)]
    start = [tf.stack(parts, 1) for parts in zip(*start)]  # (draws, rows, H): the rows broadcast
    moved = ds.latents.Gibbs().sweep(generative, x.astype(np.uint8), start, seed=4)
    for i, (p, _) in enumerate(laws):
        assert_frequencies(np.bincount(numbers([part[:, i] for part in moved]), minlength=len(p)), p)


def test_draws_are_successive_states_of_one_chain():
    """K kept states are K sweeps, after the burn-in of a new chain; the carry is the last of them."""
    model = tiny_model((2, 1), seed=1)
    gibbs, x = ds.latents.Gibbs(num_samples=4, burn_in=3), np.ones((5, 3), np.float32)
    count, sweep = [], gibbs.sweep
    gibbs.sweep = lambda *arguments: count.append(1) or sweep(*arguments)
    weighted, carry = gibbs.draw(model.generative, model.recognition, x, 1)
    assert len(count) == 7
    for kept, last in zip(weighted.z, carry):
        np.testing.assert_array_equal(kept[-1], last)
    gibbs.draw(model.generative, model.recognition, x, 2, carry)
    assert len(count) == 7 + 4
    np.testing.assert_array_equal(weighted.log_weights, np.zeros((4, 5)))


def test_the_theta_gradient_from_exact_chains_is_that_of_the_likelihood():
    """Chains that stand at exact draws, one sweep, K = 1: E ∇ log p(x, z) is ∇ log p(x), of 16,384 independent rows,
    false failures at most 1e-6."""
    from tests.oracles import Oracle

    model = tiny_model((2, 1), seed=5, prior={"": None})
    oracle, row = Oracle(model), np.array([[1, 0, 1]], np.float32)
    carry = exact_draws(oracle.posterior(row)[:, 0], [part.astype(np.float32) for part in oracle.z], 2**14, seed=6)
    estimator, x = estimator_of(model, latents=ds.latents.Gibbs(1)), np.repeat(row, 2**14, 0)
    gradients, weighted, _ = estimator.gradient(theta_of(model), x, 1.0, (), carry, [1, 2])
    values = flat(oracle.joint_gradient(row), 2)[oracle.state(weighted.z)[0], 0]
    np.testing.assert_allclose(flat(gradients), values.mean(0), rtol=1e-3, atol=1e-4)
    assert_means(values, flat(oracle.likelihood_gradient(row), 1)[0])


def test_a_layer_of_its_own_logits_is_swept_as_it_is():
    """A subclass of SBN that the fast sweep does not know."""

    class Tripled(ds.layers.SBN):
        def logits(self, parents):
            return 3.0 * super().logits(parents)

    generative = ds.GenerativeNetwork([Tripled(2), Tripled(3)])
    randomize(generative, seed=1, scale=0.5)
    p, z = posterior(generative, np.array([1, 0, 1], np.float32))
    start = exact_draws(p, z, 2**14, seed=1)
    moved = ds.latents.Gibbs().sweep(generative, np.array([1, 0, 1], np.float32), start, seed=2)
    assert_frequencies(np.bincount(numbers(moved), minlength=len(p)), p)


def test_sweeps_take_bits_of_any_type_and_refuse_other_widths():
    generative, gibbs = ds.models.from_name("SBN/SBN 2-2", units=4).generative, ds.latents.Gibbs()
    x, z = np.zeros((5, 4), np.uint8), [np.ones((5, 2), np.uint8)] * 2
    found = gibbs.sweep(generative, x, z, 0)
    for one, other in zip(found, gibbs.sweep(generative, x, [part.astype(np.float32) for part in z], 0), strict=True):
        np.testing.assert_array_equal(one, other)
    for bad in ((x, []), (x, z[:1]), (x[:, :3], z), (x, [z[0], z[1][:, :1]])):
        with pytest.raises(ValueError, match="x and z must have the widths.*Received: "):
            gibbs.sweep(generative, *bad, 0)


def test_what_gibbs_cannot_do_is_refused():
    model = ds.models.from_name("VAE 2", units=3)
    with pytest.raises(ValueError, match="binary latent layers. Received: MLPGaussian"):
        model.compile(latents=ds.latents.Gibbs())
    starts = [{"initial": "data"}, {"initial": ["data"]}]
    for arguments in ({"num_samples": 0}, {"burn_in": -1}, *starts, {"persistent": 1}):
        with pytest.raises(ValueError, match=f"Received: {next(iter(arguments))}="):
            ds.latents.Gibbs(**arguments)
