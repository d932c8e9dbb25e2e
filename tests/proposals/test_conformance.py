"""Each objective against the contract."""

import functools

import pytest

import tfdsmcmc as ds
from tests.conformance.proposals import run_proposal_test
from tests.oracles import randomize, tiny_model


def discrete():
    return tiny_model((2,), seed=1)


def continuous():
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.MLPGaussian(2), ds.layers.MLPBernoulli(3, hidden_units=[4])]),
        recognition=ds.RecognitionNetwork([ds.layers.MLPGaussian(2, hidden_units=[4])]),
    )
    randomize(model, seed=1, scale=0.5)
    return model


@pytest.mark.parametrize(
    ("proposal", "model", "draws"),
    [
        (ds.proposals.Wake, discrete, False),
        (ds.proposals.Sleep, discrete, True),
        (functools.partial(ds.proposals.WakeSleep, redraw=True, sleep_weight=0.3), discrete, True),
        (functools.partial(ds.proposals.IWAE, bound="elbo"), continuous, True),
        (functools.partial(ds.proposals.NVIL, baseline_units=4, decay=0.6), discrete, True),
    ],
    ids=["Wake", "Sleep", "WakeSleep", "IWAE", "NVIL"],
)
def test_conformance(proposal, model, draws):
    run_proposal_test(proposal, model, draws)
