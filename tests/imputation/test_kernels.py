"""One step of each kernel keeps p(x_missing, z given x_observed), which is enumerated."""

import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_frequencies
from tests.imputation.support import MASKS, NETWORKS, ROW, copies, counts, joint, pair
from tests.oracles import state_numbers
from tfdsmcmc.imputation import kernels
from tfdsmcmc.rows import Rows

COUNT = 2**14


def exact_draws(generative, mask, seed):
    """(x, z, state numbers, probabilities of the states z-major) from the exact law."""
    rows, z, log_joint = joint(generative, ROW, mask)
    p = np.exp(log_joint - log_joint.max()).ravel()
    p /= p.sum()
    chosen = np.random.default_rng(seed).choice(len(p), COUNT, p=p)
    states, completions = np.divmod(chosen, len(rows))
    return tf.constant(rows[completions]), [tf.constant(part[states]) for part in z], chosen, p


def numbers(x, z, mask):
    missing_units = np.asarray(x)[:, ~mask]
    return state_numbers(np.concatenate([*[np.asarray(part) for part in z], missing_units], 1))


@pytest.mark.parametrize("kernel", ["gibbs", "metropolis"])
@pytest.mark.parametrize("name", list(NETWORKS))
def test_a_step_keeps_the_law(name, kernel):
    """16,384 exact draws, one step: chi-square over all states of (z, x_missing), false failures at most 1e-6. Catches
    a layer left out of a sweep where it should move, a ratio upside down, a lost weight of `complete`."""
    networks, mask = pair(name), MASKS["some"]
    x, z, before, p = exact_draws(networks.generative, mask, seed=1)
    assert p.max() < 0.9, "there is little to sample: choose other weights"
    step = kernels.KERNELS[kernel]
    rows = Rows(x, copies(mask, COUNT))
    moved, moved_z, accepted, _ = step(networks.generative, networks.recognition, rows, z, tf.constant([5, 6]))
    np.testing.assert_array_equal(moved.observed, rows.observed)
    np.testing.assert_array_equal(moved.values.numpy()[:, mask], x.numpy()[:, mask])
    after = numbers(moved.values, moved_z, mask)
    assert np.mean(after != before) > 0.15, "the chain does not move"
    for old, new in zip(z, moved_z):
        assert np.any(old != new)
    assert_frequencies(np.bincount(after, minlength=len(p)), p)
    assert (accepted is None) == (kernel == "gibbs")
    if accepted is not None:
        assert 0.1 < np.mean(accepted) < 1.0


def test_the_start_knows_nothing_of_what_is_missing():
    """Fair coins in the gaps, z from q at the filled row; a row with nothing observed starts at a draw of the model."""
    networks = pair("SBN")
    observed = tf.concat([copies(MASKS["some"], COUNT), copies(MASKS["all missing"], COUNT)], 0)
    rows = Rows(copies(ROW, 2 * COUNT), observed)
    (x, known, *_), z = kernels.start(networks.generative, networks.recognition, rows, [1, 2], passes=0)
    np.testing.assert_array_equal(known, observed)
    assert_frequencies(counts(x[:COUNT], MASKS["some"]), np.full(4, 0.25))
    np.testing.assert_array_equal(x.numpy()[:COUNT, MASKS["some"]], np.repeat(ROW[None, MASKS["some"]], COUNT, 0))
    rows, states, log_joint = joint(networks.generative, ROW, MASKS["all missing"])
    found = numbers(x[COUNT:], [part[COUNT:] for part in z], MASKS["all missing"])
    assert_frequencies(np.bincount(found, minlength=log_joint.size), np.exp(log_joint).ravel())
    log_q = networks.recognition.log_prob([part[:, None] for part in states], rows).numpy()
    exact = np.exp(log_q)[:, agreeing(rows)].mean(1)
    z_found = state_numbers(np.concatenate([part[:COUNT] for part in z], 1))
    assert_frequencies(np.bincount(z_found, minlength=len(exact)), exact)


@pytest.mark.parametrize("passes", [1, 3])
def test_passes_draw_what_is_missing_and_the_latents_in_turn(passes):
    """x_missing ~ p(x_missing given z), z ~ q(z given x): the law of (z, x_missing) after some of them, enumerated."""
    networks, mask = pair("SBN"), MASKS["some"]
    completions, states, log_joint = joint(networks.generative, ROW, mask)
    x_given_z = np.exp(log_joint) / np.exp(log_joint).sum(1, keepdims=True)
    q = np.exp(networks.recognition.log_prob([part[:, None] for part in states], completions).numpy())
    law = q / len(completions)
    for _ in range(passes):
        law = q * (law.sum(1) @ x_given_z)
    rows = Rows(copies(ROW, COUNT), copies(mask, COUNT))
    rows, z = kernels.start(networks.generative, networks.recognition, rows, [3, 4], passes)
    np.testing.assert_array_equal(rows.values.numpy()[:, mask], np.repeat(ROW[None, mask], COUNT, 0))
    found = np.bincount(numbers(rows.values, z, mask), minlength=law.size)
    assert_frequencies(found, law.ravel())


def test_there_are_ten_passes_by_default():
    networks, rows = pair("SBN"), Rows(copies(ROW, 64), copies(MASKS["some"], 64))
    states = [
        np.concatenate(kernels.start(networks.generative, networks.recognition, rows, [3, 4], *passes)[1], 1)
        for passes in ((), (10,), (9,))
    ]
    np.testing.assert_array_equal(states[0], states[1])
    assert (states[0] != states[2]).any()


def test_rows_of_which_nothing_is_known_and_dependent_units_have_no_passes():
    networks = pair("SBN")
    rows = Rows(copies(ROW, COUNT), copies(MASKS["all missing"], COUNT))
    rows, z = kernels.start(networks.generative, networks.recognition, rows, [5, 6])
    *_, log_joint = joint(networks.generative, ROW, MASKS["all missing"])
    found = np.bincount(numbers(rows.values, z, MASKS["all missing"]), minlength=log_joint.size)
    assert_frequencies(found, np.exp(log_joint).ravel())
    networks = pair("DARN")
    rows = Rows(copies(ROW, 8), copies(MASKS["some"], 8))
    with_them, without = (
        kernels.start(networks.generative, networks.recognition, rows, [7, 8], passes) for passes in (5, 0)
    )
    tf.nest.map_structure(np.testing.assert_array_equal, with_them, without)


def agreeing(rows):
    """Which of all rows agree with what is observed."""
    mask = MASKS["some"]
    return (rows[:, mask] == ROW[mask]).all(1)
