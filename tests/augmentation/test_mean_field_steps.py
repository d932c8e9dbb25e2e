"""Mean-field and online variational Bayes as steps of a run, and through `compile`."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.conformance.steps import advanced, begun, run_step_test
from tests.oracles import PUBLISHED_PRIOR, tiny_model
from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB
from tfdsmcmc.rows import ArraySource, Rows

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(np.uint8)
SOURCE = ArraySource(Rows(ROWS))
METHODS = {
    "full": lambda: MeanFieldVB("full"),
    "diagonal": lambda: MeanFieldVB("diagonal", rounds=2),
    "online full": lambda: OnlineVB(0.5),
    "online diagonal": lambda: OnlineVB(ds.mcmc.schedules.PolynomialDecay(1.0, 1.0, 0.6), "diagonal", rounds=2),
}


def step_of(method, prior=PUBLISHED_PRIOR, **options):
    model = tiny_model((2,), prior=prior, **options)
    step = method.step_for(model.generative, model.recognition, model.prior)
    step.keep = model
    return step


@pytest.mark.parametrize("name", METHODS)
def test_the_contract_of_steps(name):
    run_step_test(lambda: step_of(METHODS[name]()), SOURCE)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_online_with_all_rows_and_rate_1_is_batch(covariance):
    """Three passes, the online one in a single minibatch, the other in blocks of four rows."""
    batch = advanced(begun(step_of(MeanFieldVB(covariance, rounds=2)), SOURCE), SOURCE, 4, epochs=3)
    online = advanced(begun(step_of(OnlineVB(1.0, covariance, rounds=2)), SOURCE), SOURCE, 10, epochs=3)
    for name in ("weights", "covariances", "scales", "units"):
        for one, other in zip(*(tf.nest.flatten(getattr(run.state, name)) for run in (batch, online)), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=name)
    assert not np.allclose(online.weights[0][-1], step_of(OnlineVB()).keep.generative.weights[-1])
