"""Several chains over θ in one step: each moves as one chain alone would, and φ learns from their mean."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import flat, tiny_model
from tests.training.support import batch_of, phi_of, step_of, theta_of
from tfdsmcmc import random
from tfdsmcmc.rows import ArraySource, Rows, source_of
from tfdsmcmc.training.chains import each_chain, mean_over_chains, of_chain, over_chains, seeds_of
from tfdsmcmc.training.doubly_stochastic import StepState
from tfdsmcmc.training.feed import feed_of
from tfdsmcmc.training.starts import fresh_weights

CHAINS = 3
SEED = tf.constant([3, 4])
X = np.array([[[1, 0, 0], [0, 1, 1]], [[1, 1, 0], [0, 0, 1]], [[0, 0, 0], [1, 0, 1]]], np.float32)


@pytest.mark.parametrize("in_graph", [False, True])
def test_a_function_is_called_for_each_chain_in_turn(in_graph):
    """Nests, None and what the function assigns; a single chain gets the plain call."""
    total = tf.Variable(1.0)

    def function(pair, nothing):
        assert nothing is None
        total.assign(2.0 * total + pair["a"])
        return pair["a"] * pair["b"], None, [total.read_value()]

    def run(a, b):
        like = (tf.TensorSpec([2]), None, [tf.TensorSpec([])])
        return over_chains(function, 3, ({"a": a, "b": b}, None), like)

    run = tf.function(run, autograph=False) if in_graph else run
    a, b = tf.constant([1.0, 2.0, 4.0]), tf.reshape(tf.range(6.0), [3, 2])
    product, nothing, (totals,) = run(a, b)
    np.testing.assert_array_equal(product, a[:, None] * b)
    np.testing.assert_array_equal(totals, [3.0, 8.0, 20.0])
    assert nothing is None and product.shape == (3, 2)
    assert over_chains(lambda value: value, 1, ("plain",), None) == "plain"


def test_seeds_and_stacks_of_chains():
    np.testing.assert_array_equal(seeds_of(SEED, 1), SEED)
    folded = [random.fold(SEED, c) for c in range(3)]
    np.testing.assert_array_equal(seeds_of(SEED, 3), folded)
    seeds, doubled = each_chain(lambda part, seed: (seed, 2 * part), 3, SEED, tf.range(3))
    np.testing.assert_array_equal(seeds, folded)
    np.testing.assert_array_equal(doubled, [0, 2, 4])
    np.testing.assert_array_equal(each_chain(lambda seed: seed, 1, SEED), SEED)
    assert float(mean_over_chains([tf.constant([1.0, 2.0, 6.0])], 3)[0]) == 3.0


def start_of(kernel, with_scales=True):
    """States of three chains with weights of their own, stacked."""
    states = []
    for c in range(CHAINS):
        theta = theta_of(tiny_model((2,), seed=20 + c))
        scales = [tf.fill(part.shape, 0.1 + c) for part in theta if part.shape.rank == 2] if with_scales else []
        states.append(StepState(theta, kernel.bootstrap_results(theta, seed=c), scales))
    return tf.nest.map_structure(lambda *parts: None if parts[0] is None else tf.stack(parts), *states)


KERNELS = {
    "SGNHT": lambda: ds.mcmc.SGNHT(learning_rate=0.05, thermostat="scalar"),
    "MAP": lambda: ds.mcmc.MAP(optimizer=keras.optimizers.Adam(0.05)),
}


@pytest.mark.parametrize(("name", "redraw"), [pytest.param("SGNHT", True, marks=pytest.mark.slow), ("MAP", False)])
def test_each_chain_steps_as_one_alone_and_phi_along_the_mean(name, redraw):
    """On its minibatch, with its seed, from the same φ: to rounding the same θ, results, scales and metrics.

    SGD moves φ by its rate times a gradient, so that the move of three chains is the mean of the three moves. Catches
    chains that share a draw, a minibatch or a state, and a sum in the place of a mean."""
    kernel = KERNELS[name]()
    model = tiny_model((2,), seed=6, prior={"kernel": ds.priors.Horseshoe(), "": None})
    proposal = ds.proposals.Wake(keras.optimizers.SGD(0.1), redraw)
    steps = {n: step_of(model, kernel, 4, proposal, num_chains=n) for n in (1, CHAINS)}
    variables = model.recognition.trainable_variables
    phi, start = phi_of(model), start_of(kernel)

    def moved(state, x, seed, num_chains):
        """The step's results, and the move of φ, which is taken back."""
        step = tf.function(steps[num_chains].step, autograph=False)
        state, metrics = step(state, batch_of(x), seed)
        move = flat(phi_of(model)) - flat(phi)
        for variable, value in zip(variables, phi):
            variable.assign(value)
        return state, metrics, move

    state, metrics, move = moved(start, X, SEED, CHAINS)
    moves, alone = [], []
    for c in range(CHAINS):
        own = of_chain(start, c)
        one, own_metrics, own_move = moved(own, X[c], random.fold(SEED, c), 1)
        for a, b in zip(tf.nest.flatten(of_chain(state, c)), tf.nest.flatten(one), strict=True):
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        assert np.any(flat(own.weights) != flat(one.weights)) and one.auxiliary
        moves.append(own_move)
        alone.append(own_metrics)
    np.testing.assert_allclose(move, np.mean(moves, 0), rtol=1e-4, atol=1e-6)
    assert np.max(np.std(moves, 0)) > 1e-3
    for name, mean in metrics.items():
        np.testing.assert_allclose(mean, np.mean([own[name] for own in alone]), rtol=1e-5)


def test_the_second_step_of_phi_begins_where_the_first_ended_for_all_chains():
    """Each chain's surrogate sees its own θ and draws, seeds that no other has, and the φ of all."""
    model = tiny_model((2,), seed=6)
    kernel = ds.mcmc.SGLD(learning_rate=0.01)
    seen = []

    class Spy(ds.proposals.Wake):
        def surrogate(self, generative, recognition, x, latents, seed):
            seen.append((flat(phi_of(model)), flat(theta_of(model)), flat(latents.z), tuple(seed.numpy())))
            return super().surrogate(generative, recognition, x, latents, seed)

    step = step_of(model, kernel, 4, Spy(keras.optimizers.SGD(0.1)), proposal_steps=2, num_chains=CHAINS)
    state, _ = step.step(start_of(kernel, with_scales=False), batch_of(X), SEED)
    phi, theta, z, seeds = zip(*seen)
    assert len(seen) == 2 * CHAINS and len(set(seeds)) == 2 * CHAINS
    for c in range(CHAINS):
        np.testing.assert_array_equal(phi[c], phi[0])
        np.testing.assert_array_equal(phi[CHAINS + c], phi[CHAINS])
        np.testing.assert_array_equal(theta[c], flat(of_chain(state.weights, c)))
        np.testing.assert_array_equal(theta[CHAINS + c], theta[c])
        np.testing.assert_array_equal(z[CHAINS + c], z[c])
    assert np.any(phi[0] != phi[CHAINS])
    assert int(step.learning.proposal.optimizer.iterations) == 2


# ---- where chains start


def network(seed=None):
    return ds.GenerativeNetwork(
        [
            ds.layers.SBN(30, seed=seed),
            ds.layers.NADE(30, hidden_units=30, seed=seed, bias_initializer=keras.initializers.Constant(0.7)),
            ds.layers.SBN(30, seed=seed),
        ]
    )


@pytest.mark.parametrize("seed", [None, 5])
def test_further_chains_start_at_draws_of_the_layers_own_initializers(seed):
    """Glorot's law of each matrix: a uniform one of variance 1/30, with the limit √0.1; false failures at most 1e-6. No
    two matrices are equal, of one chain or of two, and the network's own stay as they are."""
    generative = network(seed)
    before = [variable.numpy() for variable in generative.trainable_variables]
    chains = [fresh_weights(generative, random.fold(SEED, c)) for c in range(2)]
    matrices = [part for weights in (before, *chains) for part in weights if part.ndim == 2 and part.size == 900]
    assert len(matrices) == 3 * 5
    assert len({part.tobytes() for part in matrices}) == len(matrices)
    squares = np.array([np.mean(part.astype(np.float64) ** 2) for part in matrices])
    assert_near(squares, 1 / 30, np.sqrt(0.1**2 / 5 - 1 / 30**2) / 30)
    assert max(np.abs(part).max() for part in matrices) <= np.sqrt(0.1) + 1e-6
    names = [name for name, _ in generative.named_weights]
    for name, *parts in zip(names, before, *chains, strict=True):
        if parts[0].ndim == 1:
            constant = 0.7 if name.startswith("nade") and name.endswith("/bias") else 0
            assert all(np.all(part == np.float32(constant)) for part in parts)
    for a, b in zip(before, generative.trainable_variables):
        np.testing.assert_array_equal(a, b)
    for a, b in zip(chains[0], fresh_weights(network(seed), random.fold(SEED, 0)), strict=True):
        np.testing.assert_array_equal(a, b)  # a function of the seed alone


def test_frozen_layers_are_left_out():
    generative = network()
    generative.layers[1].trainable = False
    shapes = [part.shape for part in fresh_weights(generative, SEED)]
    assert shapes == [tuple(variable.shape) for variable in generative.trainable_variables]


# ---- the rows that chains read


def test_each_chain_reads_an_array_in_an_order_of_its_own():
    rows = ArraySource(Rows(np.arange(10)[:, None].astype(np.uint8)))
    feed = feed_of(rows, 4, 2, SEED, num_chains=CHAINS)
    blocks = [block for numbers in ([0, 1], [2]) for block in feed.blocks(numbers, 7)]
    assert [(b.index.shape, b.count) for b in blocks] == [((2, CHAINS, 4), 2), ((2, CHAINS, 4), 1)]
    orders = np.concatenate([block.index[: block.count] for block in blocks]).transpose(1, 0, 2).reshape(CHAINS, -1)
    for order in orders:
        assert sorted(order[:10]) == list(range(10))
        np.testing.assert_array_equal(order[10:], order[:2])
    assert len({tuple(order) for order in orders}) == CHAINS
    plain = feed_of(rows, 4, 2, SEED, shuffle=False, num_chains=CHAINS)
    (block,) = plain.blocks([0, 1], 7)
    np.testing.assert_array_equal(block.index, np.arange(8).reshape(2, 1, 4) + np.zeros((2, CHAINS, 4)))


def test_chains_share_the_minibatches_of_a_dataset():
    x = (np.arange(12).reshape(6, 2) % 2).astype(np.float32)
    source = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(2), 2, True)
    feed = feed_of(source, 100, 3, SEED, num_chains=CHAINS)
    (block,) = feed.blocks([batch.numpy() for batch in feed.dataset], 0)
    assert block.places.shape == (3, CHAINS, 2) and block.count == 3
    for c in range(CHAINS):
        np.testing.assert_array_equal(np.concatenate([block.rows.values[row] for row in block.places[:, c]]), x)
