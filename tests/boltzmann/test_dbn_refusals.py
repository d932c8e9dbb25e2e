"""What a deep belief network refuses."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import ROWS, tiny_dbn
from tfdsmcmc.boltzmann import DBN

BAD = {
    "no machines": lambda: DBN([]),
    "no list": lambda: DBN(ds.boltzmann.RBM(3, 2)),
    "what is none": lambda: DBN([ds.boltzmann.RBM(3, 2), "rbm"]),
    "widths": lambda: DBN([ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(3, 2)]),
    "twice": lambda: (lambda rbm: DBN([rbm, rbm]))(ds.boltzmann.RBM(3, 3)),
    "a tie of nothing": lambda: tiny_dbn().tie(2),
    "a tie of other widths": lambda: tiny_dbn((3, 2, 2)).tie(1),
    "epochs": lambda: tiny_dbn().fit(ROWS, epochs=[1, 2, 3]),
    "epochs below 0": lambda: tiny_dbn().fit(ROWS, epochs=-1),
    "callbacks": lambda: tiny_dbn().fit(ROWS, callbacks=[keras.callbacks.Callback()]),
    "one list of callbacks": lambda: tiny_dbn().fit(ROWS, callbacks=[keras.callbacks.Callback()] * 2),
    "data": lambda: tiny_dbn().fit(ROWS[:, :2]),
    "gaps": lambda: tiny_dbn().fit([[np.nan, 0, 1]]),
    "draws": lambda: tiny_dbn().log_likelihood_bound(ROWS, 0),
    "log Z": lambda: DBN([ds.boltzmann.RBM(3, 26), ds.boltzmann.RBM(26, 27)]).log_likelihood_bound(ROWS),
    "samples": lambda: tiny_dbn().sample(0),
    "imputations": lambda: tiny_dbn().impute(ROWS, num_imputations=0),
    "a call": lambda: tiny_dbn()(ROWS),
    "exact draws": lambda: ds.boltzmann.exact_draws(ds.boltzmann.RBM(3, 2), 2.5, 0),
    "no exact draws": lambda: ds.boltzmann.exact_draws(ds.boltzmann.RBM(3, 2), 0, 0),
    "runs": lambda: tiny_dbn().annealed_log_likelihood(ROWS, num_runs=0),
    "schedule": lambda: tiny_dbn().annealed_log_likelihood(ROWS, schedule="published"),
    "probabilities": lambda: tiny_dbn().sample(2, steps=2, probabilities="no"),
    "a batch": lambda: tiny_dbn().train_on_batch(ROWS),
    "evaluate": lambda: tiny_dbn().evaluate(ROWS, num_samples=3),
    "targets": lambda: tiny_dbn().fit(ROWS, ROWS),
    "tied": lambda: tiny_dbn().fit(ROWS, tied="no"),
    "own recognition": lambda: DBN([ds.boltzmann.RBM(3, 2)], own_recognition="no"),
    "not compiled": lambda: tiny_dbn().fine_tune(ROWS),
    "a kernel that samples": lambda: tiny_dbn().compile(ds.mcmc.SGHMC(learning_rate=0.1)),
    "estimator": lambda: tiny_dbn().compile(estimator=ds.boltzmann.ContrastiveDivergence()),
    "a single machine": lambda: tiny_dbn((3, 2)).compile(),
    "steps": lambda: ds.boltzmann.ContrastiveWakeSleep(0),
    "jit": lambda: tiny_dbn().compile(jit_compile="no"),
    "jit of a machine": lambda: ds.boltzmann.RBM(3, 2).compile(jit_compile="no"),
    "jit of a mixture": lambda: ds.boltzmann.MixtureOfBernoullis(3, 2).compile(jit_compile="no"),
    "one by one with recognition of its own": lambda: tiny_dbn(own_recognition=True).fit(ROWS),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()


def test_a_machine_of_another_network_is_named():
    lower, upper, other = ds.boltzmann.RBM(4, 3), ds.boltzmann.RBM(3, 2), ds.boltzmann.RBM(4, 3)
    first = ds.boltzmann.DBN([lower, upper])
    ds.boltzmann.DBN([other, upper])
    with pytest.raises(ValueError, match="Received: the machine at place 1"):
        first.fit(np.zeros((4, 4)), verbose=0)
