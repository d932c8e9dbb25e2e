"""Steps, estimators and runs of any method: the conformance suites, and what tenants of other kinds show."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.conformance.estimators import run_estimator_test
from tests.conformance.steps import advanced, begun, run_step_test
from tests.oracles import tiny_model
from tests.training.support import X, estimator_of, step_of, theta_of
from tests.training.tenants import ColumnMeans, ColumnSums, Persistent
from tests.training.test_step import spied_step
from tfdsmcmc.rows import ArraySource, Rows
from tfdsmcmc.training.feeding.feed import feed_of
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep
from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning
from tfdsmcmc.training.steps.several_chains import SeveralChains

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(np.uint8)
SOURCE = ArraySource(Rows(ROWS))


@pytest.mark.parametrize("persistent", [False, True])
def test_fisher_identity(persistent):
    model = tiny_model((2, 2), seed=1)
    latents = ds.latents.Gibbs(2, 1, persistent=True) if persistent else ds.latents.NAIS(3)
    run_estimator_test(estimator_of(model, latents=latents), theta_of(model), tf.constant(X))


def test_an_estimator_whose_particles_the_run_carries():
    run_estimator_test(Persistent(3), [tf.constant([0.3, -1.0, 2.0])], tf.constant(X))


def doubly_stochastic(latents=None, **options):
    model = tiny_model((2,), seed=3, prior={"kernel": ds.priors.Horseshoe(), "": None})
    estimator = estimator_of(model, latents=latents or ds.latents.NAIS(2))
    learning = RecognitionLearning(estimator, ds.proposals.Wake(keras.optimizers.SGD(0.1)), 1)
    kernel = ds.mcmc.SGNHT(learning_rate=0.05)
    step = DoublyStochasticStep(
        model.generative, model.prior, estimator, kernel, 2, learning, jit_compile=False, **options
    )
    step.keep = model  # whose variables these are
    return step


def learning_of(step):
    """φ and its optimizer, where there are any."""
    learning = getattr(getattr(step, "one", step), "learning", None)
    return [*learning.variables, *learning.proposal.optimizer.variables] if learning else []


class Biases:
    """A network of one weight, as a step sees it."""

    layers = ()

    def __init__(self):
        self.named_weights = [("bias", tf.Variable([0.3, -1.0, 2.0]))]


STEPS = {
    "importance samples": doubly_stochastic,
    "persistent chains": lambda: doubly_stochastic(ds.latents.Gibbs(2, 1, persistent=True), interleaved=True),
    "two chains": lambda: SeveralChains(doubly_stochastic(), 2),
    "full passes": lambda: ColumnSums(tf.Variable([0.5, 0.5, 0.5])),
    "full passes of two chains": lambda: SeveralChains(ColumnSums(tf.Variable([0.5, 0.5, 0.5])), 2),
    "particles of the run": lambda: DoublyStochasticStep(
        Biases(), ds.Prior({"": None}), Persistent(3), ds.mcmc.SGLD(learning_rate=0.1), jit_compile=False
    ),
}


LONG = ("persistent chains", "two chains")


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n in LONG else n for n in STEPS])
def test_steps(name):
    run_step_test(STEPS[name], SOURCE, beside=learning_of)


def test_a_step_that_moves_at_the_end_of_a_pass():
    """Exactly the means of the columns after it, the start before it, each row read once; three minibatches of four
    have two rows too many, which do not count."""
    step = ColumnSums(tf.Variable([0.5, 0.5, 0.5]))
    run = begun(step, SOURCE)
    feed = feed_of(SOURCE, 4, 1, [1, 2])
    for number in range(3):
        np.testing.assert_array_equal(run.weights[0][0], [0.5, 0.5, 0.5])
        for block in feed.blocks([number], 0):
            run.advance(block)
    np.testing.assert_allclose(run.weights[0][0], ROWS.mean(0), rtol=1e-6)
    np.testing.assert_array_equal(run.state.reads, np.ones(10))
    advanced(run, SOURCE, 4)
    np.testing.assert_array_equal(run.state.reads, np.full(10, 2))


def test_particles_climb_to_the_exact_answer():
    """At temperature 0 the fixed point of mean x − σ(b) is the log-odds of the columns."""
    network = Biases()
    kernel = ds.mcmc.SGLD(learning_rate=0.5, temperature=0.0)
    step = DoublyStochasticStep(network, ds.Prior({"": None}), Persistent(3, 20_000), kernel, jit_compile=False)
    advanced(begun(step, SOURCE), SOURCE, 10, epochs=60)
    mean = ROWS.mean(0)
    np.testing.assert_allclose(network.named_weights[0][1], np.log(mean / (1 - mean)), atol=0.1)


def test_a_learner_of_another_kind_has_all_of_keras(tmp_path):
    """fit with validation, callbacks, a collector, a file, a resumed run: none of them knows what the step does."""
    model = ColumnMeans()
    model.compile()
    collector = ds.posterior.Collector(tmp_path / "samples", num_samples=2, burn_in=1, every=1)
    history = model.fit(ROWS, batch_size=4, epochs=2, validation_data=ROWS, verbose=0, callbacks=[collector])
    assert set(history.history) == {"read", "val_log_likelihood"}
    np.testing.assert_allclose(model.mean.numpy(), ROWS.mean(0), rtol=1e-6)
    (sample,) = ds.posterior.load(tmp_path / "samples").samples
    np.testing.assert_array_equal(sample.theta[0], model.mean.numpy())
    assert sample.phi == [] and int(model.run.epochs) == 2
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    for each in (model, loaded):
        each.fit(1 - ROWS, batch_size=4, epochs=3, initial_epoch=2, verbose=0)
        np.testing.assert_allclose(each.mean.numpy(), 1 - ROWS.mean(0), rtol=1e-6)
        np.testing.assert_array_equal(each.run.state.reads, np.ones(10))  # of other rows: begun anew
    for bad in ({"steps_per_epoch": 2}, {"x": tf.data.Dataset.from_tensor_slices(ROWS).batch(5)}):
        with pytest.raises(ValueError, match="something of each row|once over all rows.*Received: "):
            model.fit(**{"x": ROWS, "verbose": 0, **bad})


def test_a_learner_of_another_kind_has_several_chains(tmp_path):
    """Each reads all rows in an order of its own; they start apart, and a sample of each is collected."""
    model = ColumnMeans()
    model.compile(num_chains=3)
    apart = model.run.weights
    assert len({weights[0].tobytes() for weights in apart}) == 3
    collector = ds.posterior.Collector(tmp_path, num_samples=1, burn_in=1, every=1)
    model.fit(ROWS, batch_size=4, epochs=2, verbose=0, callbacks=[collector])
    samples = ds.posterior.load(tmp_path).samples
    assert [sample.chain for sample in samples] == [0, 1, 2]
    for weights in (*model.run.weights, *(sample.theta for sample in samples)):
        np.testing.assert_allclose(weights[0], ROWS.mean(0), rtol=1e-6)
    np.testing.assert_array_equal(model.run.state.reads, np.full((3, 10), 2))


def test_interleaved_updates_follow_each_other():
    """θ, φ, θ, φ: each φ-update learns from the draws of the θ-update before it, at its θ."""
    model = tiny_model((2,), seed=8)
    kernel, proposal, *_ = spied_step(model, kernel_steps=3, proposal_steps=2, interleaved=True)
    assert len(kernel.calls) == 3 and len(proposal.calls) == 6
    for number, call in enumerate(proposal.calls):
        before = kernel.calls[number // 2]
        assert call["latents"] is before["aux"][0]
        for value, part in zip(call["theta"], before["state"]):
            np.testing.assert_allclose(value, part + 0.1, rtol=1e-5)
    assert len({call["seed"] for call in (*proposal.calls, *kernel.calls)}) == 9
    # the draws of the second θ-update come from a φ that has moved
    first, second = (kernel.calls[i]["aux"][0] for i in range(2))
    assert np.any(first.log_weights != second.log_weights)


def test_one_update_of_each_is_the_same_in_either_order():
    runs = []
    for interleaved in (False, True):
        model = tiny_model((2,), seed=8)
        step = step_of(model, ds.mcmc.SGLD(learning_rate=0.1), interleaved=interleaved)
        run = advanced(begun(step, SOURCE), SOURCE, 4)
        runs.append([*run.weights[0], *(variable.numpy() for variable in model.recognition.trainable_variables)])
    for one, other in zip(*runs, strict=True):
        np.testing.assert_array_equal(one, other)
