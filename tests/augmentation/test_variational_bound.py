"""The reported bound of rows against enumeration of the units."""

import numpy as np
import pytest
import scipy.special
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.augmentation.test_mean_field_steps import ROWS, fitted
from tests.oracles import PUBLISHED_PRIOR, binary_states, log_bernoulli, log_sum, tiny_model
from tfdsmcmc.augmentation.variational.local_factors import LocalFactors, WeightFactor
from tfdsmcmc.augmentation.variational.mean_field_step import observations
from tfdsmcmc.rows import Rows

X = binary_states(3).astype(np.float32)
H = binary_states(2)
# two kinds of rows, with a tenth of the entries flipped: the hidden units stay in use
KINDS = np.repeat([[1, 1, 0], [0, 0, 1]], 30, 0)
LEARNT = (KINDS ^ (np.random.default_rng(2).random(KINDS.shape) < 0.1)).astype(np.uint8)
PRIOR = tfp.distributions.Normal(0.0, 1.5)


@pytest.fixture(scope="module", params=["full", "diagonal"])
def model(request):
    model = fitted(ds.methods.vb(request.param), 10, LEARNT, 60, prior=PRIOR)[0]
    assert np.abs(model.generative.layers[1].kernel.numpy()).max() > 1
    return model


def means_of(model, x, rounds, integrated):
    """The means of the units, (n, 2), fitted as the bound does."""
    step, factors = model.run.step, model.run.step.factors(model.run.state)
    if not integrated:
        factors = [WeightFactor(mean, tf.zeros_like(covariance)) for mean, covariance in factors]
    start = [tf.fill([len(x), 2], 0.5)]
    return step.local.fit(factors, observations(Rows(x)), start, rounds)[0].units[0].numpy()


def log_joints(theta, x):
    """log p(x, h), (states, n), of weights as `named_weights` has them."""
    _, bias, kernel, visible = (np.asarray(part, np.float64) for part in theta)
    return log_bernoulli(H, bias)[:, None] + log_bernoulli(x[None], (H @ kernel + visible)[:, None])


def draws_of(model, count):
    step, state = model.run.step, model.run.state
    draw = tf.function(lambda seed: step.posterior_draw(state, seed), autograph=False)
    return [draw(tf.constant([7, i])) for i in range(count)]


def test_at_the_means_it_is_that_of_the_fitted_units(model):
    """To six standard errors of 1,000 draws: a right one fails in 2·10⁻⁸ of all seeds, for eight rows."""
    found = ds.augmentation.variational_bound(model, X, num_samples=1000, weights="means")
    q = means_of(model, X, 10, False)
    log_q = (H[:, None] * np.log(q) + (1 - H[:, None]) * np.log1p(-q)).sum(-1)
    joints = log_joints(model.generative.trainable_variables, X)
    exact = (np.exp(log_q) * (joints - log_q)).sum(0)
    assert np.all(np.abs(found.value - exact) < 6 * found.standard_error + 1e-4)
    assert 1e-3 < found.standard_error.max() < 0.05
    assert np.all(exact < log_sum(joints))


def test_with_integrated_weights_it_is_that_over_q(model):
    """As before, the weights drawn from q; and below the predictive probability under q."""
    found = ds.augmentation.variational_bound(model, X, num_samples=4000)
    q = means_of(model, X, 10, True)
    log_q = (H[:, None] * np.log(q) + (1 - H[:, None]) * np.log1p(-q)).sum(-1)
    joints = np.stack([log_joints(theta, X) for theta in draws_of(model, 4000)])
    terms = (np.exp(log_q) * (joints - log_q)).sum(1)
    error = np.hypot(terms.std(0) / np.sqrt(len(terms)), found.standard_error)
    assert np.all(np.abs(found.value - terms.mean(0)) < 6 * error)
    predictive = scipy.special.logsumexp(log_sum(joints, 1), axis=0) - np.log(len(joints))
    assert np.all(found.value < predictive + 6 * error)


def test_a_fit_begins_where_the_recognition_network_says(model):
    """Its units are sure, so that the start is known; of one round, the bound is that of the fit from there."""
    layer = model.recognition.layers[0]
    before = layer.get_weights()
    layer.set_weights([np.zeros_like(before[0]), np.array([40.0, -40.0], np.float32)])
    found = ds.augmentation.variational_bound(
        model, X, num_samples=1000, rounds=1, weights="means", initial="recognition"
    )
    layer.set_weights(before)
    step = model.run.step
    factors = [WeightFactor(mean, tf.zeros_like(part)) for mean, part in step.factors(model.run.state)]
    start = [tf.tile([[1.0, 0.0]], [len(X), 1])]
    q = step.local.fit(factors, observations(Rows(X)), start, 1)[0].units[0].numpy()
    assert np.abs(q - means_of(model, X, 1, False)).max() > 1e-3, "the start makes no difference: choose other weights"
    log_q = (H[:, None] * np.log(q) + (1 - H[:, None]) * np.log1p(-q)).sum(-1)
    exact = (np.exp(log_q) * (log_joints(model.generative.trainable_variables, X) - log_q)).sum(0)
    assert np.all(np.abs(found.value - exact) < 6 * found.standard_error + 1e-4)


@pytest.mark.slow
def test_of_several_starts_the_best_fit_of_each_row_counts(model, monkeypatch):
    """Either unit explains a row of ones, and both together do not: which one a fit ends with depends on its start."""
    step = model.run.step
    data, top = (WeightFactor(mean, tf.zeros_like(part)) for mean, part in step.factors(model.run.state))
    kernel = np.array([[6.0, 6.0, -3.0], [6.0, 6.0, -3.0], [-7.0, -8.0, 9.0]], np.float32)  # two units, then the bias
    factors = [data._replace(mean=tf.constant(kernel)), top._replace(mean=tf.constant([[-1.0], [-1.4]]))]
    monkeypatch.setattr(step, "factors", lambda state: factors)
    theta = None, np.array([-1.0, -1.4]), kernel[:, :2].T, kernel[:, 2]
    rows, found = observations(Rows(X)), []
    for start in binary_states(2).astype(np.float32) * 0.4 + 0.3:
        units = step.local.fit(factors, rows, [tf.tile([start], [len(X), 1])], 10)[0].units
        worth = step.local.bound(factors, rows, LocalFactors(units, step.local.tilts(factors, rows, units)), best=True)
        found.append((worth.numpy(), units[0].numpy()))
    bounds, fits = map(np.array, zip(*found))
    assert np.ptp(bounds, 0).max() > 0.1, "all starts end alike: choose other weights"
    q = np.clip(fits[bounds.argmax(0), np.arange(len(X))], 1e-6, 1 - 1e-6)
    log_q = (H[:, None] * np.log(q) + (1 - H[:, None]) * np.log1p(-q)).sum(-1)
    exact = (np.exp(log_q) * (log_joints(theta, X) - log_q)).sum(0)
    layer = model.recognition.layers[0]
    before = layer.get_weights()
    layer.set_weights([np.zeros_like(part) for part in before])  # the starts are means of coin flips

    def misses(num_starts, seed):
        how = {"num_samples": 1000, "weights": "means", "initial": "recognition", "seed": seed}
        value = ds.augmentation.variational_bound(model, X, num_starts=num_starts, **how)
        return np.abs(value.value - exact) > 6 * value.standard_error + 1e-3

    assert not misses(40, 0).any()
    assert any(misses(1, seed).any() for seed in range(3))
    layer.set_weights(before)


@pytest.mark.slow
def test_the_recognition_network_learns_the_units_of_the_rows(model):
    """At the optimum of a logistic regression the means of σ and of h̄, and of their products with x, agree; and
    all but the recognition network stays."""
    before = [np.array(part) for part in model.generative.get_weights()]
    units = model.run.state.units[0].numpy()
    ds.augmentation.teach_recognition(model, LEARNT, epochs=500, batch_size=60, learning_rate=0.01)
    kernel, bias = sorted(model.recognition.layers[0].get_weights(), key=np.ndim, reverse=True)
    difference = scipy.special.expit(LEARNT @ kernel + bias) - units
    assert np.abs(difference.mean(0)).max() < 0.04
    assert np.abs((difference[:, :, None] * LEARNT[:, None]).mean(0)).max() < 0.04
    assert np.abs(units - units.mean(0)).max() > 0.3, "the units do not depend on the rows: choose others"
    for a, b in zip(before, model.generative.get_weights()):
        np.testing.assert_array_equal(a, b)


def test_what_cannot_be_taught_is_refused(model):
    before = model.recognition.get_weights()
    for wrong, received in (({"epochs": 0}, "epochs=0"), ({"learning_rate": -1.0}, "learning_rate=-1.0")):
        with pytest.raises(ValueError, match=f"Received: {received}"):
            ds.augmentation.teach_recognition(model, LEARNT, **wrong)
    for rows in (LEARNT[1:], LEARNT[::-1], 1 - LEARNT):
        with pytest.raises(ValueError, match=f"the 60 rows of fit.*Received: {len(rows)} rows of a ArraySource"):
            ds.augmentation.teach_recognition(model, rows)
    model.recognition.trainable = False
    with pytest.raises(ValueError, match="weights that learn.*Received: .*frozen"):
        ds.augmentation.teach_recognition(model, LEARNT)
    model.recognition.trainable = True
    for wrong, received in (
        ({"initial": "prior"}, "initial='prior'"),
        ({"num_starts": 2}, "num_starts=2 at 'half'"),
        ({"num_starts": 0, "initial": "recognition"}, "num_starts=0"),
    ):
        with pytest.raises(ValueError, match=f"Received: {received}"):
            ds.augmentation.variational_bound(model, X, **wrong)
    other = tiny_model((2,), prior=PRIOR)
    other.compile(**ds.methods.vb())
    with pytest.raises(ValueError, match="Call fit first.*Received: "):
        ds.augmentation.teach_recognition(other, LEARNT)
    flat = ds.models.from_name("DARN", units=4)
    flat.compile(**ds.methods.vb(), jit_compile=False)
    flat.fit(np.eye(4), verbose=0)
    with pytest.raises(ValueError, match="take latent layers. Received: "):
        ds.augmentation.teach_recognition(flat, np.eye(4))
    other = fitted(ds.methods.polya_gamma_gibbs(), 0)[0]
    with pytest.raises(ValueError, match="Units to learn are those of a model.*Received: one compiled with PolyaGamma"):
        ds.augmentation.teach_recognition(other, ROWS)
    for a, b in zip(before, model.recognition.get_weights()):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
def test_labels():
    """Rows whose label says all about them: with the true labels they are worth more."""
    labels = np.repeat([0, 1], 30)
    generative = ds.GenerativeNetwork([ds.layers.SBN(2, seed=1), ds.layers.SBN(3, seed=2)], context=[2])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]), PRIOR)
    model.compile(**ds.methods.vb())
    history = model.fit(ds.Rows(LEARNT, context=labels), batch_size=60, epochs=15, verbose=0).history
    assert np.diff(history["bound"]).min() > -1e-4
    bound = ds.augmentation.variational_bound
    rows = (ds.Rows(LEARNT, context=each) for each in (labels, 1 - labels))
    right, wrong = (bound(model, each, num_samples=50).mean() for each in rows)
    assert right > wrong + 0.5
    with pytest.raises(ValueError, match="needs a context of 2 entries.*Received: "):
        bound(model, LEARNT)


def test_it_is_of_models_that_learnt_so(model):
    with pytest.raises(ValueError, match="Received: weights='draws'"):
        ds.augmentation.variational_bound(model, X, weights="draws")
    other = tiny_model((2,), prior=PRIOR)
    other.compile(**ds.methods.vb())
    with pytest.raises(ValueError, match="Call fit first.*Received: "):
        ds.augmentation.teach_recognition(other, LEARNT)
    other = fitted(ds.methods.polya_gamma_gibbs(), 0)[0]
    with pytest.raises(ValueError, match="Received: one compiled with PolyaGammaGibbsStep"):
        ds.augmentation.variational_bound(other, X)


def test_missing_entries_and_several_chains():
    """With all of a row missing the bound is 0, as is log p of nothing; of two chains the first counts."""
    model = fitted({**ds.methods.vb(), "num_chains": 2}, 5, prior=PUBLISHED_PRIOR)[0]
    rows = ROWS[:4].astype(np.float32)
    rows[1:] = np.nan
    found = ds.augmentation.variational_bound(model, rows, num_samples=500, weights="means")
    assert np.all(np.abs(found.value[1:]) < 6 * found.standard_error[1:] + 1e-3)
    assert found.value[0] < -0.5
