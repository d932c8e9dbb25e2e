"""Priors of a user's own, subclasses of `WeightPrior` and of those that there are."""

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.priors.base import SweepDraws


def test_a_prior_of_ones_own():
    """A subclass of the contract is all that it takes: its auxiliary tensor is started, drawn and given back."""

    class Scaled(ds.priors.WeightPrior):
        auxiliary_count = 1

        def log_prob(self, value, auxiliary):
            return -tf.reduce_sum(tf.square(value)) / auxiliary[0]

        def initial_auxiliary(self, value, seed):
            return [tf.constant(2.0)]

        def update_auxiliary(self, value, auxiliary, seed):
            return [auxiliary[0] + tf.reduce_sum(value)]

    prior = ds.Prior({"kernel": Scaled(), "": None})
    names, values = ["a/bias", "a/kernel"], [tf.ones([5]), tf.ones([3])]
    auxiliary = prior.initial_auxiliary(names, values, seed=0)
    assert [float(part) for part in auxiliary] == [2.0]
    assert float(prior.log_prob(names, values, auxiliary)) == -1.5
    assert [float(part) for part in prior.update_auxiliary(names, values, auxiliary, seed=1)] == [5.0]


def test_a_prior_may_keep_its_auxiliary_tensors_or_ask_for_numbers_alone():
    class Fixed(ds.priors.WeightPrior):
        auxiliary_count = 1

        def log_prob(self, value, auxiliary):
            return -tf.reduce_sum(tf.square(value)) / auxiliary[0]

    class Drawn(Fixed):
        def sweep_draws(self, shape):
            return SweepDraws((3,), [])

        def swept(self, value, auxiliary, normal, gamma):
            return [normal + 100.0]

    prior = ds.Prior({"fixed": Fixed(), "drawn": Drawn()})
    kept, drawn = prior.update_auxiliary(["fixed", "drawn"], [tf.ones([2])] * 2, [tf.ones([3])] * 2, seed=1)
    assert np.all(kept == 1.0) and np.all(np.abs(drawn - 100.0) < 10.0)


def test_a_sweep_that_a_subclass_defines_is_its_own():
    """Whatever the numbers are that its base class would take."""

    class Sevens(ds.priors.Horseshoe):
        def update_auxiliary(self, value, auxiliary, seed):
            super().update_auxiliary(value, auxiliary, seed)
            return [tf.fill(part.shape, 7.0) for part in auxiliary]

    prior = ds.Prior({"a": Sevens(group="parent"), "": ds.priors.Horseshoe(group="parent")})
    names, values = ["a", "b", "a2"], [tf.ones([2, 3])] * 3
    auxiliary = prior.update_auxiliary(names, values, prior.initial_auxiliary(names, values, 1), 2)
    assert [np.all(part == 7.0) for part in auxiliary] == [True, False, True]
