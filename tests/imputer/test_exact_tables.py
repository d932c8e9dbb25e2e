"""Imputers of tables against sums over all rows."""

import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_frequencies, assert_means, assert_near
from tests.imputer.tables import LEVELS, pandas, tiny
from tests.oracles import log_sum, randomize

FINITE = pandas.DataFrame(
    {
        "grade": pandas.Categorical(["low", "mid", "high", "mid"], LEVELS.categories, ordered=True),
        "colour": pandas.Categorical(list("rgbr")),
        "smokes": [True, False, True, True],
    }
)


def test_against_enumeration():
    """At given weights, of a column of each finite kind: the probabilities by z-test, draws and several imputations by
    chi-square, log-likelihoods in the units of the columns; false failures at most 1e-6 each."""
    options = {"burn_in": 15, "thinning": 1, "num_samples": 1, "num_chains": 1, "batch_size": 2**11}
    imputer = tiny(architecture="SBN 2", posterior_samples=0, imputation_options=options).fit(FINITE)
    randomize(imputer.model_, seed=3)
    prior, data = imputer.model_.generative.layers
    places = np.indices((3, 3, 2)).reshape(3, -1).T
    states = np.c_[np.eye(3)[places[:, 0]], np.eye(3)[places[:, 1]], places[:, 2]].astype(np.float32)
    z = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    joint = prior.log_prob(z, tf.zeros([0])).numpy() + data.log_prob(states[:, None], z).numpy()
    log_p = log_sum(joint.astype(np.float64), 1)
    row = FINITE[:1].assign(grade=pandas.Categorical([None], LEVELS.categories, ordered=True))
    table = pandas.concat([row] * 2**11, ignore_index=True)
    kept = (places[:, 1] == 2) & (places[:, 2] == 1)
    want = np.exp(log_p[kept] - log_sum(log_p[kept]))
    found = imputer.probabilities(table)
    assert list(found["grade"].columns) == ["low", "mid", "high"]
    assert_means(found["grade"].to_numpy(), want)
    np.testing.assert_array_equal(found["smokes"], np.tile([0.0, 1.0], (2**11, 1)))
    drawn = [imputer.set_params(strategy="draw").transform(table), *imputer.impute(table, 2)]
    for frame in drawn:
        assert_frequencies(np.bincount(frame["grade"].cat.codes, minlength=3), want)
        assert (frame["colour"] == "r").all()
    assert (drawn[1]["grade"] != drawn[2]["grade"]).any()
    likelihood = imputer.log_likelihood(row, num_samples=20000)
    np.testing.assert_allclose(likelihood.value, log_sum(log_p[kept]), atol=6 * likelihood.standard_error[0] + 1e-4)


@pytest.mark.slow
def test_log_likelihoods_of_gaps_among_columns_that_depend_on_each_other():
    """Against sums over all rows, by z-tests with the stated errors, false failures at most 1e-6 each; of two posterior
    samples the average."""
    table = FINITE.assign(grade=pandas.Categorical(["low", None, "high", "mid"], LEVELS.categories, ordered=True))
    imputer = tiny(architecture="DARN/SBN 2", updates=4, posterior_samples=2).fit(table)
    imputer.posterior_.samples[1] = imputer.posterior_.samples[1]._replace(
        theta=[weight + 0.5 for weight in imputer.posterior_.samples[1].theta]
    )
    places = np.indices((3, 3, 2)).reshape(3, -1).T
    states = np.c_[np.eye(3)[places[:, 0]], np.eye(3)[places[:, 1]], places[:, 2]].astype(np.float32)
    rows, z = imputer.columns_.standardised(table), [np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)[:, None]]
    terms = []
    for sample in imputer.posterior_.samples:
        for variable, value in zip(imputer.model_.generative.trainable_variables, sample.theta, strict=True):
            variable.assign(value)
        joint = log_sum(imputer.model_.generative.log_joint(states, z).numpy().astype(np.float64))
        agrees = ((states == rows.values[:, None]) | ~rows.observed[:, None]).all(-1)
        terms.append(log_sum(np.where(agrees, joint, -np.inf), 1))
    found = imputer.log_likelihood(table, num_samples=3000)
    assert_near(found.value, log_sum(np.array(terms)) - np.log(2), found.standard_error + 1e-5)
    assert (found.standard_error < 0.1).all() and (found.effective_sample_size > 100).all()


@pytest.mark.slow
def test_the_stated_error_is_that_of_so_few_samples():
    """Of two weights p̂ has the stated variance in the mean, by a z-test over 2¹¹ rows that are the same, false failure
    at most 1e-6. The error of a single weight is unknown, and a row with nothing observed has none."""
    imputer = tiny(architecture="DARN/SBN 2", updates=4, posterior_samples=0).fit(FINITE)
    randomize(imputer.model_, seed=3, scale=1.5)
    row = FINITE[:1].assign(grade=pandas.Categorical([None], LEVELS.categories, ordered=True))
    known = np.exp(imputer.log_likelihood(row, num_samples=20000).value)
    table = pandas.concat([row] * 2**11, ignore_index=True)
    found = imputer.log_likelihood(table, num_samples=2)
    estimate = np.exp(found.value) / known
    assert estimate.std() > 0.05
    assert_means(np.square(estimate - 1) - np.square(estimate * found.standard_error), 0.0)
    assert np.isnan(imputer.log_likelihood(row, num_samples=1).standard_error).all()
    nothing = imputer.log_likelihood(table[:1].assign(colour=None, smokes=None), num_samples=1)
    assert nothing.value == 0 and nothing.standard_error == 0
