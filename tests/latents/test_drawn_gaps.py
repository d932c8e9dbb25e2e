"""Missing entries drawn along with z, of a data layer whose units depend on each other, against enumeration."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.gaps import NAN, ROWS, completions, rows_with_gaps
from tests.oracles import PUBLISHED_PRIOR, binary_states, flat, randomize
from tfdsmcmc._common.types import WeightedCompletions
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity

LATENTS = ds.latents.Gibbs(1, burn_in=0, persistent=True, draw_missing=True)


def nade(units):
    return ds.layers.NADE(units, hidden_units=5)


KINDS = [ds.layers.DARN, ds.layers.SBN, pytest.param(nade, marks=pytest.mark.slow, id="NADE")]  # of the data layer


def model_of(kind=ds.layers.DARN, units=3, **arguments):
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.DARN(2), kind(units)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
        prior=arguments.pop("prior", PUBLISHED_PRIOR),
        **arguments,
    )
    randomize(model, 3, scale=0.5 if kind is nade else 1.2)  # smaller, so that its chains move
    return model


def posterior_of(model, row):
    """All pairs (x, z) of a row with gaps, x (S, D) and z (S, 2), and their probabilities given what is observed."""
    pairs = list(itertools.product(completions(row), binary_states(2)))
    x, z = (np.array(part, np.float32) for part in zip(*pairs))
    log_joint = model.generative.log_joint(x, [z]).numpy().astype(np.float64)
    return x, z, np.exp(log_joint - np.logaddexp.reduce(log_joint))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("i", [0, 1, 3])
def test_a_sweep_leaves_the_posterior_where_it_is(kind, i):
    """2^14 exact draws of (x_missing, z), one sweep: chi-square over all states, false failures at most 1e-6."""
    model, row, count = model_of(kind), ROWS[i], 2**14
    x, z, p = posterior_of(model, row)
    chosen = np.random.default_rng(1).choice(len(p), count, p=p)
    rows = rows_with_gaps(np.repeat(row[None], count, 0))
    carry = [tf.constant(part[chosen]) for part in (x, z)]
    latents = ds.latents.Gibbs(2, burn_in=0, persistent=True, draw_missing=True)
    weighted, moved = latents.draw(model.generative, model.recognition, rows, 2, carry)
    assert weighted.x.shape == (2, count, 3) and weighted.z[0].shape == (2, count, 2)
    assert not weighted.log_weights.numpy().any()
    np.testing.assert_array_equal(weighted.x[1], moved[0])
    np.testing.assert_array_equal(weighted.z[0][1], moved[1])
    for some_x, some_z in zip(weighted.x.numpy(), weighted.z[0].numpy()):
        np.testing.assert_array_equal(some_x[:, ~np.isnan(row)], x[chosen][:, ~np.isnan(row)])
        both = np.concatenate([some_x, some_z], 1)
        states = (both[:, None] == np.concatenate([x, z], 1)).all(-1).argmax(1)
        assert np.mean(states != chosen) > 0.2
        assert_frequencies(np.bincount(states, minlength=len(p)), p)


def test_the_wake_update_has_each_draw_with_its_own_data():
    """mean_b Σ_k w̃_k log q(z_k given x_k), of another x for each k and weights that differ."""
    model, rng = model_of(), np.random.default_rng(8)
    x, z = (rng.integers(0, 2, (2, 4, width)).astype(np.float32) for width in (3, 2))
    log_weights = rng.normal(size=(2, 4)).astype(np.float32)
    draws = WeightedCompletions(x, [tf.constant(z)], tf.constant(log_weights), None)
    found = ds.proposals.Wake("adam").surrogate(model.generative, model.recognition, x[1], draws, 0)
    shares = np.exp(log_weights) / np.exp(log_weights).sum(0)
    log_q = [model.recognition.log_prob([tf.constant(z[k])], x[k]).numpy() for k in range(2)]
    np.testing.assert_allclose(found, (shares * log_q).sum(0).mean(), rtol=1e-5)


def test_the_gradient_is_that_of_the_observed_entries():
    """Its mean over 2^14 rows with exact draws is ∇ log p(x_observed; θ), false failures at most 1e-6."""
    model, row, count = model_of(prior={"": None}), ROWS[1], 2**14
    x, z, p = posterior_of(model, row)
    weights = [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]
    variables, of_states = [variable.value for variable in model.generative.trainable_variables], []
    for one_x, one_z in zip(x, z):
        with tf.GradientTape() as tape:
            log_joint = model.generative.log_joint(one_x, [tf.constant(one_z)])
        of_states.append(flat(tape.gradient(log_joint, variables, unconnected_gradients="zero")))
    of_states = np.array(of_states, np.float64)
    chosen = np.random.default_rng(4).choice(len(p), count, p=p)
    rows = rows_with_gaps(np.repeat(row[None], count, 0))
    carry = [tf.constant(part[chosen], tf.uint8) for part in (x, z)]
    estimator = FisherIdentity(model.generative, model.recognition, model.prior, LATENTS)
    gradients, weighted, moved = estimator.gradient(weights, rows, 1.0, (), carry, tf.constant([1, 2]))
    both = np.concatenate([weighted.x[0], weighted.z[0][0]], 1)
    states = (both[:, None] == np.concatenate([x, z], 1)).all(-1).argmax(1)
    np.testing.assert_allclose(flat(gradients), of_states[states].mean(0), rtol=2e-3, atol=2e-4)
    assert_means(of_states[states], p @ of_states)
    assert all(part.dtype == tf.uint8 for part in moved)


@pytest.mark.parametrize("initial", ["prior", "recognition"])
def test_a_chain_starts_with_what_is_observed(initial):
    model = model_of()
    latents = ds.latents.Gibbs(burn_in=1, initial=initial, persistent=True, draw_missing=True)
    rows = rows_with_gaps().map(tf.convert_to_tensor)
    x, z = latents.start(model.generative, model.recognition, rows, seed=1)
    observed = ~np.isnan(ROWS)
    assert x.shape == ROWS.shape and z.shape == (4, 2) and set(np.unique(x)) <= {0.0, 1.0}
    np.testing.assert_array_equal(x.numpy()[observed], ROWS[observed])


@pytest.mark.parametrize("gaps", [False, True])
def test_what_is_observed_is_that_of_the_rows_at_hand(gaps):
    """Not that of an earlier epoch, where rows are binarized anew in each."""
    model, row = model_of(), np.where([False, gaps, False], NAN, [1.0, 1.0, 0.0])[None]
    stale = [tf.constant([[0.0, 0.0, 1.0]]), tf.zeros([1, 2])]
    weighted, moved = LATENTS.draw(model.generative, model.recognition, rows_with_gaps(row), 2, stale)
    for x in (weighted.x[0], moved[0]):
        np.testing.assert_array_equal(x[0, ::2], [1.0, 0.0])


DATA = np.where(np.random.default_rng(5).random((10, 3)) < 0.3, NAN, np.random.default_rng(6).integers(0, 2, (10, 3)))


def fitted(x, epochs=3, callbacks=None, proposal=None, latents=LATENTS, **options):
    model = model_of(seed=1)
    kernel = ds.mcmc.SGLD(learning_rate=0.05)
    model.compile(kernel, latents, proposal, jit_compile=False, steps_per_execution=2, **options)
    model.fit(x, batch_size=4, epochs=epochs, verbose=0, callbacks=callbacks)
    return model


@pytest.mark.parametrize(
    "options", [{}, {"num_chains": 2}, *({"proposal": name} for name in ("wake", "sleep", "wake_sleep", "nvil"))]
)
def test_a_darn_learns_from_rows_with_gaps(options):
    """What is observed stays in the fillings of each chain, whether φ learns and how; K is 2."""
    rows, chains = np.concatenate([DATA, np.ones((1, 3))]), options.get("num_chains", 1)
    model = fitted(rows, 2, latents=ds.latents.Gibbs(2, burn_in=1, persistent=True, draw_missing=True), **options)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    x, z = (np.reshape(part, (chains, 11, -1)) for part in model.run.state.carried)
    observed = ~np.isnan(rows)
    for filled in x:
        np.testing.assert_array_equal(filled[observed], rows[observed])
    assert set(np.unique(x)) == {0, 1} == set(np.unique(z))
    with pytest.raises(ValueError, match="independent given its parents.*Received: DARN"):
        model.evaluate(DATA, verbose=0)


def test_the_recognition_network_is_fitted_to_rows_with_gaps():
    model = fitted(DATA, 1)
    before = [weight.copy() for weight in model.recognition.get_weights()]
    model.refit_recognition(DATA, epochs=2, batch_size=5, verbose=0)
    assert all((a != b).any() for a, b in zip(before, model.recognition.get_weights()))
    with pytest.raises(ValueError, match="Received: DARN"):
        model.refit_recognition(DATA, epochs=1, latents="nais")


def test_there_are_as_many_dreams_as_rows(monkeypatch):
    """Of proposals that draw for themselves; the wake update has each draw with its own data."""
    asked = []
    monkeypatch.setattr(ds.GenerativeNetwork, "sample", lambda self, count, *_: asked.append(count) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        fitted(DATA, 1, latents=ds.latents.Gibbs(2, 1, "recognition", True, True), proposal="sleep")
    assert int(asked[0]) == 4


def test_fillings_go_on_where_a_run_was_stopped(tmp_path):
    whole = fitted(DATA, epochs=4)
    fitted(DATA, epochs=2, callbacks=[keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)])
    again = fitted(DATA, epochs=4, callbacks=[keras.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)])
    for a, b in zip(whole.get_weights(), again.get_weights()):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(whole.run.state.carried, again.run.state.carried):
        np.testing.assert_array_equal(a, b)


def test_methods_hand_it_on():
    for method in (ds.methods.dsgnht_gibbs, ds.methods.dsghmc_gibbs):
        assert method(draw_missing=True)["latents"].draw_missing and not method()["latents"].draw_missing
    latents = ds.latents.Gibbs.from_config(LATENTS.get_config())
    assert latents.draw_missing and latents.persistent


def test_what_cannot_be_is_refused():
    for options in ({"draw_missing": True}, {"draw_missing": 1, "persistent": True}):
        with pytest.raises(ValueError, match="Received: draw_missing="):
            ds.latents.Gibbs(**options)
    real = ds.models.from_name("VAE 2", 3)
    with pytest.raises(ValueError, match="Received: "):
        real.compile(ds.mcmc.SGLD(learning_rate=0.05), LATENTS, None)

    class Layer(ds.layers.StochasticLayer):
        def build(self, input_shape):
            self.parent_units, self.built = 2, True

    with pytest.raises(ValueError, match="data layer that is binary.*Received: Layer"):
        LATENTS.check(ds.GenerativeNetwork([ds.layers.SBN(2), Layer(3)]))
    with pytest.raises(ValueError, match="Received: a network of its data layer alone"):
        ds.latents.Gibbs().check(ds.GenerativeNetwork([ds.layers.SBN(2)]))
    model = model_of()
    model.compile(ds.mcmc.SGLD(learning_rate=0.05), ds.latents.Gibbs(persistent=True), None)
    with pytest.raises(ValueError, match="Received: DARN"):
        model.fit(DATA, verbose=0)


@pytest.mark.parametrize("num_chains", [1, 2])
@pytest.mark.parametrize("layers", [(2,), (2, 2), ()])
def test_rows_with_gaps_are_learnt_in_their_context(layers, num_chains):
    """The log-joint of the gradient and what φ learns are of the filled rows, in the context of their own."""
    rng, lab = np.random.default_rng(3), np.arange(12) % 2
    x = rng.integers(0, 2, (12, 3)).astype(np.float32)
    x[rng.random(x.shape) < 0.2] = np.nan
    generative = ds.GenerativeNetwork([*map(ds.layers.SBN, layers), ds.layers.DARN(3)], context=[2])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([*map(ds.layers.SBN, layers[::-1])]))
    optimizer = keras.optimizers.Adam(0.01) if layers else None
    method = ds.methods.dsgnht_gibbs(draw_missing=True, num_samples=2, optimizer=optimizer, num_chains=num_chains)
    model.compile(**method, jit_compile=False)
    weight = np.where(lab, 0.0, 1.0)
    found = model.fit(ds.Rows(x, context=lab), sample_weight=weight, batch_size=6, epochs=2, verbose=0)
    assert np.isfinite(found.history["log_likelihood"]).all()


def test_draws_of_rows_with_a_context_have_it():
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.DARN(3)], context=[2])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]))
    randomize(model, 4)
    context = np.eye(2, dtype=np.float32)[[0, 1, 1, 0]]
    rows = rows_with_gaps()._replace(context=context).map(tf.convert_to_tensor)
    draws, carry = ds.latents.Gibbs(3, burn_in=1, persistent=True, draw_missing=True).draw(
        model.generative, model.recognition, rows, seed=1
    )
    for k in range(3):
        np.testing.assert_array_equal(draws.x.context[k], context)
    one = model.generative.log_joint(ds.Rows(carry[0], context=context), carry[1:])
    np.testing.assert_allclose(model.generative.log_joint(draws.x, draws.z)[-1], one, rtol=1e-5)
