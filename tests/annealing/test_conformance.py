"""The contract of paths, over the latent variables of networks and over what is no network."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.annealing.enumeration import KINDS, model_of, states_of
from tests.annealing.machines import Tempered, TwoMachines, all_states, log_partitions
from tests.conformance.paths import run_path_test
from tests.slow_cases import mostly_slow
from tfdsmcmc.annealing import Path
from tfdsmcmc.annealing.latent_paths import PATHS, path_over_latents
from tfdsmcmc.likelihood import exact

ROW = np.array([[1, 1, 0]], np.float32)


# the tiny MLP's posterior is too near its prior, and too far from its proposal, for the suite to have power there
CASES = [case for case in itertools.product(KINDS, PATHS) if case not in (("MLP", "prior"), ("MLP", "recognition"))]


@pytest.mark.parametrize(("kind", "name"), mostly_slow(list(itertools.product(["SBN"], PATHS)), CASES))
def test_paths_over_latents(kind, name):
    model = model_of(KINDS[kind]())

    def make(num_runs):
        return path_over_latents(name, model.generative, model.recognition, tf.constant(ROW), copies=num_runs)

    run_path_test(make, states_of(model.generative), exact(model, ROW).value[0])


@pytest.mark.parametrize("kind", [TwoMachines, Tempered])
def test_a_path_over_machines(kind):
    """Without data, with a dictionary as its state; the ratio of the normalisers, or the second alone."""
    log_first, log_second = log_partitions(kind(1))
    run_path_test(kind, all_states(), log_second - (log_first if kind is TwoMachines else 0.0))


class _WrongTemperature(TwoMachines):
    def move(self, beta, state, seed, step_size=None):
        return super().move(beta**2, state, seed)


class _WrongStart(TwoMachines):
    def start(self, seed):
        state = super().start(seed)
        return {**state, "second": tf.ones_like(state["second"])}


class _WrongIncrement(TwoMachines):
    def increment(self, before, after, state):
        return 1.1 * super().increment(before, after, state)


class _Stuck(TwoMachines):
    def move(self, beta, state, seed, step_size=None):
        return state, None


@pytest.mark.parametrize("wrong", [_WrongTemperature, _WrongStart, _WrongIncrement, _Stuck])
def test_the_suite_can_fail(wrong):
    with pytest.raises(AssertionError):
        run_path_test(wrong, all_states())


def test_what_a_path_must_define():
    path = Path(3)
    for call in (lambda: path.start(0), lambda: path.log_density(0.5, None), lambda: path.move(0.5, None, 0)):
        with pytest.raises(NotImplementedError):
            call()
    assert path.step_size is None and np.all(path.log_start(None) == np.zeros(3))
