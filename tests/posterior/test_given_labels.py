"""Samples with biases of the top layer for each label: kept, and evaluated against enumeration."""

import warnings

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import PUBLISHED_PRIOR, Oracle, binary_states, log_bernoulli, log_sum, tiny_model
from tests.posterior.support import sample_of
from tfdsmcmc.posterior import Posterior, store
from tfdsmcmc.posterior.samples import Samples

ROWS = binary_states(3)[[1, 6, 2, 7, 4]].astype(np.float32)
LABELS = np.array([2, 0, 2, 1, 0])
BIASES = np.random.default_rng(5).normal(0, 2, (2, 3, 2)).astype(np.float32)


def posterior_of(folder, count=2):
    """A posterior of samples of asymmetric weights with biases for three labels, and their models."""
    models = [tiny_model((2,), seed=seed) for seed in range(1, count + 1)]
    for number, (model, biases) in enumerate(zip(models, BIASES)):
        store.write_sample(folder, sample_of(model, 10 + number)._replace(label_biases=biases))
    return ds.posterior.load(folder), models


def exact(models):
    """log (1/M) Σ_m p(x given y, θ_m), (n, Y), by the sum over all z."""
    found = []
    for model, biases in zip(models, BIASES):
        (_, (kernel, bias)), z = Oracle(model).theta, binary_states(2)
        given_z = log_bernoulli(ROWS[:, None], z @ kernel.astype(np.float64) + bias)  # (n, S)
        found.append([log_sum(given_z + log_bernoulli(z, own), 1) for own in biases])
    return log_sum(np.array(found), 0).T - np.log(len(models))


def test_the_exact_law(tmp_path):
    """Within six standard errors, and the biases of any other label are farther off.

    By the delta method a value is outside with a chance of 2·10⁻⁹. A probability is off by at most a quarter of what
    the difference of two logarithms is.
    """
    posterior, models = posterior_of(tmp_path)
    want = exact(models)
    found = posterior.log_likelihood(models[0], ROWS, num_samples=20000, labels=LABELS, average="draws")
    own = want[np.arange(5), LABELS]
    assert (np.abs(found.value - own) < 6 * found.standard_error).all()
    others = np.array([np.delete(row, label) for row, label in zip(want, LABELS)])
    assert (np.abs(others - own[:, None]) > 6 * found.standard_error[:, None]).all()
    largest = found.standard_error.max()
    assert largest < 0.02
    frequencies = np.array([5.0, 1.0, 2.0])
    for given, log_p in ((None, 0.0), (frequencies, np.log(frequencies))):
        probabilities = posterior.label_probabilities(models[0], ROWS, given, num_samples=20000)
        joint = want + log_p
        joint = np.exp(joint - log_sum(joint, 1)[:, None])
        np.testing.assert_allclose(probabilities, joint, atol=6 * 2**0.5 * largest / 4)
        assert np.abs(np.roll(joint, 1, 1) - joint).max() > 0.3
    assert (posterior.label_probabilities(models[0], ROWS, [0, 1, 1], num_samples=4)[:, 0] == 0).all()


def test_given_a_label_all_is_of_that_network(tmp_path):
    posterior, models = posterior_of(tmp_path)
    given = posterior.given_label(2)
    for sample, whole, biases in zip(given.samples, posterior.samples, BIASES):
        np.testing.assert_array_equal(sample.theta[1], biases[2])
        np.testing.assert_array_equal(whole.label_biases, biases)
        for i in (0, 2, 3):
            np.testing.assert_array_equal(sample.theta[i], whole.theta[i])
    store.update_mean(tmp_path, list(posterior.samples), 2)  # the stored mean is of the labels' mean bias
    np.testing.assert_allclose(given.mean()[0][1], BIASES[:, 2].mean(0), rtol=1e-6)
    np.testing.assert_array_equal(given[1:].samples[0].theta[1], BIASES[1, 2])
    np.testing.assert_array_equal(given.samples[1:][0].theta[1], BIASES[1, 2])
    with pytest.warns(ds.posterior.LabelsLeftOut):
        posterior.log_likelihood(models[0], ROWS, num_samples=4)
    gaps = np.where(np.eye(*ROWS.shape), np.nan, ROWS)
    with pytest.warns(ds.posterior.LabelsLeftOut):
        models[0].impute(gaps, num_samples=1, posterior=posterior)
    with pytest.warns(ds.posterior.LabelsLeftOut), pytest.raises(ValueError, match="version"):
        ds.serving.export(models[0], tmp_path / "served", version=0, posterior=posterior)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ds.posterior.LabelsLeftOut)
        given.log_likelihood(models[0], ROWS, num_samples=4)


@pytest.mark.parametrize(
    ("name", "num_chains"),
    [("vb", 2), *(pytest.param(*case, marks=pytest.mark.slow) for case in (("vb", 1), ("polya_gamma_gibbs", 2)))],
)
def test_a_collector_keeps_them(tmp_path, name, num_chains):
    """Of Gibbs sampling those of the state; of variational Bayes draws, of which the layer's bias is the mean."""
    model = tiny_model((2,), prior=PUBLISHED_PRIOR)
    model.compile(**getattr(ds.methods, name)(labels=LABELS), num_chains=num_chains)
    collector = ds.posterior.Collector(tmp_path, num_samples=1, burn_in=0, every=1)
    model.fit(ROWS, batch_size=5, epochs=1, verbose=0, callbacks=[collector])
    posterior, present = ds.posterior.load(tmp_path), ds.posterior.present(model)
    shares = np.bincount(LABELS) / 5
    state = np.reshape(model.run.state.label_biases[0], (num_chains, 3, 2))
    for chain in range(num_chains):
        sample, now = posterior.samples[chain], present.samples[chain]
        assert sample.chain == now.chain == chain and [len(sample.theta), len(sample.phi)] == [4, 2]
        np.testing.assert_array_equal(now.label_biases, state[chain])
        np.testing.assert_allclose(sample.theta[1], shares @ sample.label_biases, rtol=1e-5)
        assert np.array_equal(sample.label_biases, state[chain]) == (name == "polya_gamma_gibbs")
    np.testing.assert_array_equal(present.given_label(1).samples[0].theta[1], state[0, 1])
    np.testing.assert_array_equal(present.samples[0].theta[2], model.generative.layers[1].kernel)
    assert ds.posterior.store.draw_of(model)[0].label_biases.tolist() == posterior.samples[0].label_biases.tolist()


def test_a_checksum_is_of_them_too():
    sample = sample_of(tiny_model((2,)), 1)
    sums = {store.checksum([sample._replace(label_biases=part)]) for part in (None, BIASES[0], BIASES[1])}
    assert len(sums) == 3


def test_what_does_not_fit(tmp_path):
    posterior, (model, _) = posterior_of(tmp_path / "labels")
    for label in (3, -1, 1.0, True, "a"):
        with pytest.raises(ValueError, match="label must be in 0, …, 2. Received: label="):
            posterior.given_label(label)
    for frequencies in ([1, 1], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], "abc"):
        with pytest.raises(ValueError, match="one for each label.* Received: frequencies="):
            posterior.label_probabilities(model, ROWS, frequencies)
    with pytest.raises(ValueError, match="a label for each of 5 rows. Received: 4 labels"):
        posterior.log_likelihood(model, ROWS, labels=LABELS[1:])
    with pytest.raises(ValueError, match="labels must be in 0, …, 2. Received: labels from 0 to 3"):
        posterior.log_likelihood(model, ROWS, labels=LABELS + (LABELS == 2))
    with pytest.raises(ValueError, match="Received: samples given the label 1"):
        posterior.given_label(1).given_label(1)
    for unfit in (tiny_model((2,)), "model"):
        with pytest.raises(ValueError, match="of a compiled model. Received: "):
            ds.posterior.present(unfit)
    unlabelled = Posterior(None, [sample_of(model, 1)])
    with pytest.raises(ValueError, match="Received: samples without labels"):
        unlabelled.label_probabilities(model, ROWS)
    bad = sample_of(model, 30)._replace(label_biases=np.zeros((3, 5), np.float32))
    for theta in (bad.theta, bad.theta[:1]):
        store.write_sample(tmp_path / "labels", bad._replace(theta=theta))
        with pytest.raises(ValueError, match="biases of labels of the shape.* Received: "):
            ds.posterior.load(tmp_path / "labels")
    with pytest.raises(ValueError, match="finite"):
        store.write_sample(tmp_path, bad._replace(label_biases=np.full((3, 2), np.nan)))


def test_a_posterior_of_some_samples_has_labels_and_others_not(tmp_path):
    posterior_of(tmp_path)
    store.write_sample(tmp_path, sample_of(tiny_model((2,)), 50))
    with pytest.raises(ValueError, match="must have the same shapes"):
        ds.posterior.load(tmp_path)


def test_they_are_cut_by_chains():
    given = Samples(["a", "b", "c"], [0, 1, 0], label=2)
    assert given[:2].label == given.take([0, 2]).label == 2 and given.take([0, 2]).paths == ["a", "c"]
