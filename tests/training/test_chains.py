"""Several chains in one step: each moves as one chain alone would, with a recognition network of its own."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import tiny_model
from tests.training.support import batch_of, step_of
from tfdsmcmc import random
from tfdsmcmc.rows import ArraySource, Rows, source_of
from tfdsmcmc.supports import Binary
from tfdsmcmc.training.feeding.feed import feed_of
from tfdsmcmc.training.steps.chains import each_chain, mean_over_chains, of_chain, over_chains, seeds_of
from tfdsmcmc.training.steps.doubly_stochastic import StepState
from tfdsmcmc.training.steps.several_chains import SeveralChains
from tfdsmcmc.training.steps.starts import fresh_weights

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


KERNELS = {
    "SGNHT": lambda: ds.mcmc.SGNHT(learning_rate=0.05, thermostat="scalar"),
    "MAP": lambda: ds.mcmc.MAP(optimizer=keras.optimizers.Adam(0.05)),
}
PROPOSALS = {
    "wake": lambda: ds.proposals.Wake(keras.optimizers.Adam(0.1)),
    "nvil": lambda: ds.proposals.NVIL(keras.optimizers.Adam(0.1), baseline_units=2),
}


def several_of(kernel, proposal):
    """(model, step of one chain, that of three) on the weights of one model."""
    model = tiny_model((2,), seed=6, prior={"kernel": ds.priors.Horseshoe(), "": None})
    one = step_of(model, KERNELS[kernel](), 4, PROPOSALS[proposal](), proposal_steps=2)
    return model, one, SeveralChains(one, CHAINS)


def begun(step):
    """A state of chains that start apart, with what they assign."""
    weights = [[variable.numpy() for variable in step.variables]]
    weights += [step.fresh_weights(random.fold(SEED, c)) for c in range(1, CHAINS)]
    return step.init(None, SEED, [tf.constant(np.stack(parts)) for parts in zip(*weights, strict=True)], 10.0)


def assigned(step):
    """Of one chain: φ, then what else is assigned."""
    beside = {id(variable) for variable in step.beside}
    return [*step.beside, *(variable for variable in step.assigned if id(variable) not in beside)]


@pytest.mark.parametrize(
    ("kernel", "proposal"), [("SGNHT", "wake"), pytest.param("MAP", "nvil", marks=pytest.mark.slow)]
)
def test_each_chain_steps_as_one_alone_with_its_own_phi(kernel, proposal):
    """On its minibatches, with its seeds: to rounding the same θ, results, scales, φ, slots of φ's optimizer, baseline
    and metrics, step after step. Catches chains that share a draw, a minibatch, a state or a recognition network."""
    _, one, several = several_of(kernel, proposal)
    start = begun(several)
    before = [variable.numpy() for variable in assigned(one)]
    step = tf.function(several.step, autograph=False)
    state, middle = start, None
    for seed in (SEED, SEED + 1):
        state, metrics = step(state, batch_of(X), seed)
        middle = middle or state
    variables = [variable.numpy() for variable in assigned(one)]
    count, alone = len(one.variables), []
    step = tf.function(one.step, autograph=False)
    for c in range(CHAINS):
        own = of_chain(start, c)
        for variable, value in zip(assigned(one), [*own.weights[count:], *own.assigned], strict=True):
            variable.assign(value)
        plain = StepState(*own[:-1])._replace(weights=own.weights[:count])
        for seed in (SEED, SEED + 1):
            plain, own_metrics = step(plain, batch_of(X[c]), random.fold(seed, c))
        theirs = of_chain(state, c)
        pairs = [(theirs.weights[:count], plain.weights), (theirs[1:-1], plain[1:])]
        pairs.append(([*theirs.weights[count:], *theirs.assigned], [v.numpy() for v in assigned(one)]))
        for a, b in zip(tf.nest.flatten([p[0] for p in pairs]), tf.nest.flatten([p[1] for p in pairs]), strict=True):
            if a is not None:
                np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)
        alone.append(own_metrics)
    # the variables are those of chain 0; those of no two chains are equal, nor as they were
    for place, (value, old) in enumerate(zip(variables, before, strict=True)):
        parts = [*state.weights[count:], *state.assigned][place]
        np.testing.assert_array_equal(value, parts[0])
        if value.size > 1:
            assert np.any(parts[0] != parts[1]) and np.any(parts[1] != parts[2]) and np.any(value != old)
    for name, mean in metrics.items():
        np.testing.assert_allclose(mean, np.mean([own[name] for own in alone]), rtol=1e-5)


def test_what_callbacks_set_between_steps_is_chain_0s():
    """Slots of the optimizer, of chain 0; its learning rate, of all."""
    _, one, several = several_of("SGNHT", "wake")
    optimizer = one.learning.proposal.optimizer
    assert not any(variable is optimizer.learning_rate for variable in one.assigned)
    state = begun(several)
    optimizer.variables[2].assign(optimizer.variables[2] + 1.0)
    still, _ = several.step(state, batch_of(X), SEED)
    optimizer.variables[2].assign(optimizer.variables[2] - optimizer.variables[2])
    other, _ = several.step(state, batch_of(X), SEED)
    same = [[np.all(a[c] == b[c]) for a, b in zip(still.assigned, other.assigned)] for c in range(CHAINS)]
    assert not all(same[0]) and all(same[1]) and all(same[2])


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


@pytest.mark.parametrize("frozen", [lambda layer: layer, lambda layer: layer.bias])
def test_what_is_frozen_is_left_out(frozen):
    generative = network()
    frozen(generative.layers[1]).trainable = False
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
    (block,) = plain.blocks([0, 1], 5)  # behind 20 rows
    np.testing.assert_array_equal(block.index, np.arange(8).reshape(2, 1, 4) + np.zeros((2, CHAINS, 4)))


def test_chains_share_the_minibatches_of_a_dataset():
    x = (np.arange(12).reshape(6, 2) % 2).astype(np.float32)
    source = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(2), 2, Binary())
    feed = feed_of(source, 100, 3, SEED, num_chains=CHAINS)
    (block,) = feed.blocks([batch.numpy() for batch in feed.dataset], 0)
    assert block.places.shape == (3, CHAINS, 2) and block.count == 3
    for c in range(CHAINS):
        np.testing.assert_array_equal(np.concatenate([block.rows.values[row] for row in block.places[:, c]]), x)
