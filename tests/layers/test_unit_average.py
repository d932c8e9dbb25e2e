"""The average unit by unit: against tables of all states, made of each draw's own joint distribution."""

import json

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.layers import references
from tests.oracles import binary_states, log_sum, randomize, state_numbers

ORDER = [2, 0, 3, 1]
KINDS = {
    "SBN": (lambda: ds.layers.SBN(4), references.sbn, None),
    "DARN": (lambda: ds.layers.DARN(4, ordering=ORDER), references.darn(ORDER), ORDER),
    "NADE": (lambda: ds.layers.NADE(4, hidden_units=3, ordering=ORDER), references.nade(ORDER), ORDER),
    "MLPBernoulli": (lambda: ds.layers.MLPBernoulli(4, hidden_units=[5]), references.mlp_bernoulli, None),
}
STATES = binary_states(4).astype(np.float32)


def average_of(kind, parent_units, num_draws=3, scale=1.2):
    """A built average with asymmetric weights, and its weights draw by draw."""
    layer = ds.layers.UnitAverage(KINDS[kind][0](), num_draws)
    layer.build((None, parent_units))
    randomize(layer, seed=parent_units + 1, scale=scale)
    return layer, [[weight[m] for weight in layer.get_weights()] for m in range(num_draws)]


def table(kind, draws, parents):
    """log p̄ of every state: the conditional probabilities of each draw by summing its joint table, then averaged."""
    _, reference, ordering = KINDS[kind]
    order = range(4) if ordering is None else ordering
    joints = [np.exp(reference(weights, STATES.astype(np.float64), parents)) for weights in draws]
    total = np.zeros(len(STATES))
    for place, unit in enumerate(order):
        before, upto = list(order[:place]), [*order[:place], unit]
        same = (STATES[:, None, upto] == STATES[None, :, upto]).all(-1)
        given = (STATES[:, None, before] == STATES[None, :, before]).all(-1)
        conditionals = [(same @ joint) / (given @ joint) for joint in joints]
        total += np.log(np.mean(conditionals, 0))
    return total


def parents_of(width, rows=3):
    return np.random.default_rng(width).integers(0, 2, (rows, width)).astype(np.float32)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [3, 0])
def test_its_law_is_the_product_of_averaged_conditionals(kind, width):
    """The average of the joint tables, the usual mistake, is another law, by more than a tenth of a nat somewhere."""
    layer, draws = average_of(kind, width)
    for row in parents_of(width):
        expected = table(kind, draws, row.astype(np.float64))
        np.testing.assert_allclose(layer.log_prob(STATES, row[None]), expected, rtol=2e-5, atol=2e-5)
        np.testing.assert_allclose(log_sum(expected), 0, atol=1e-9)
        joint = np.log(np.mean([np.exp(KINDS[kind][1](w, STATES.astype(np.float64), row)) for w in draws], 0))
        assert np.abs(expected - joint).max() > 0.1


@pytest.mark.parametrize("kind", KINDS)
def test_one_draw_is_the_layer_itself(kind):
    """To the last digits, for logits of hundreds too."""
    layer, (weights,) = average_of(kind, 3, num_draws=1, scale=60.0)
    plain = KINDS[kind][0]()
    plain.build((None, 3))
    plain.set_weights(weights)
    parents = parents_of(3)[:, None]
    expected = plain.log_prob(STATES, parents).numpy()
    assert expected.min() < -100
    np.testing.assert_allclose(layer.log_prob(STATES, parents), expected, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(layer.sample(parents, 5, [7]).shape, plain.sample(parents, 5, [7]).shape)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("width", [3, 0])
def test_its_draws_follow_the_law(kind, width):
    layer, draws = average_of(kind, width)
    row = parents_of(width)[1]
    y, log_prob = layer.sample_and_log_prob(tf.constant(row), 3, [20_000])
    np.testing.assert_allclose(log_prob, layer.log_prob(y, row), rtol=1e-4, atol=1e-5)
    probabilities = np.exp(table(kind, draws, row.astype(np.float64)))
    assert_frequencies(np.bincount(state_numbers(y), minlength=16), probabilities)


@pytest.mark.parametrize("kind", KINDS)
def test_gaps_are_filled_by_its_conditionals(kind):
    """Over weighted completions: E[w] = p̄(y_observed), as the table has it; and the weight that a value is given."""
    layer, draws = average_of(kind, 3)
    row, observed = parents_of(3)[2], np.array([True, False, False, True])
    value = np.array([1.0, np.nan, np.nan, 0.0], np.float32)
    rows = [np.repeat(part[None], 20_000, 0) for part in (value, observed, row)]
    y, log_weight = layer.complete(*rows, seed=4)
    agree = (STATES[:, observed] == value[observed]).all(1)
    probabilities = np.exp(table(kind, draws, row.astype(np.float64)))
    assert_means(np.exp(log_weight.numpy())[:, None], [probabilities[agree].sum()])
    np.testing.assert_array_equal(y.numpy()[:, observed], np.repeat(value[None, observed], 20_000, 0))
    again = layer.completion_log_weight(y[:50], rows[1][:50], rows[2][:50])
    np.testing.assert_allclose(again, log_weight[:50], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", ["SBN", "MLPBernoulli"])
def test_what_is_missing_drops_out(kind):
    layer, draws = average_of(kind, 3)
    row, observed = parents_of(3)[0], np.array([True, False, True, False])
    logs = table(kind, draws, row.astype(np.float64))
    for state in STATES[::3]:
        agree = (STATES[:, observed] == state[observed]).all(1)
        found = layer.observed_log_prob(state, observed, row)
        np.testing.assert_allclose(found, log_sum(logs[agree]), rtol=2e-5, atol=2e-5)


def real_average():
    layer = ds.layers.UnitAverage(ds.layers.MLPGaussian(2, hidden_units=[3]), 3)
    layer.build((None, 2))
    randomize(layer, seed=1, scale=0.8)
    parents, laws = parents_of(2), []
    for m in range(3):
        plain = ds.layers.MLPGaussian(2, hidden_units=[3])
        plain.build((None, 2))
        plain.set_weights([weight[m] for weight in layer.get_weights()])
        law = plain.distribution(parents)
        laws.append((law.mean().numpy(), law.stddev().numpy()))
    loc, scale = (np.stack(part).astype(np.float64) for part in zip(*laws))
    return layer, parents, loc, scale


def test_real_units_are_mixtures_of_normals():
    """Densities, means, variances and gaps against SciPy's; the distribution function of draws."""
    layer, parents, loc, scale = real_average()
    law = layer.distribution(parents)
    y = np.random.default_rng(0).normal(0, 2, (5, 3, 2)).astype(np.float32)
    terms = np.log(scipy.stats.norm.pdf(y[None], loc[:, None], scale[:, None]).mean(0))
    np.testing.assert_allclose(law.log_prob(y), terms.sum(-1), rtol=1e-5, atol=1e-5)
    observed = np.array([True, False])
    np.testing.assert_allclose(layer.observed_log_prob(y, observed, parents), terms[..., 0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(law.mean(), loc.mean(0), rtol=1e-5, atol=1e-6)
    second = (scale**2 + loc**2).mean(0)
    np.testing.assert_allclose(law.variance(), second - loc.mean(0) ** 2, rtol=1e-4)
    assert (law.batch_shape, law.event_shape) == ((3,), (2,))
    drawn = layer.sample(tf.constant(parents), 7, [4_000]).numpy()
    for i, j in np.ndindex(3, 2):
        mixture = lambda v, i=i, j=j: scipy.stats.norm.cdf(v[..., None], loc[:, i, j], scale[:, i, j]).mean(-1)  # noqa: E731
        assert scipy.stats.kstest(drawn[:, i, j], mixture).pvalue > 1e-7
    # each unit chooses a component for itself: given z the units are independent
    assert abs(np.corrcoef(drawn[:, 0].T)[0, 1]) < 5.3 / 4_000**0.5


def test_variances_far_from_zero_do_not_cancel():
    law = ds.distributions.IndependentNormalMixture([[3000.1], [3000.3], [3000.2]], [[0.1]] * 3)
    np.testing.assert_allclose(law.variance(), [0.01 + 0.02 / 3], rtol=0.01)


def test_a_standard_normal_top_layer_stays_one():
    layer = ds.layers.UnitAverage(ds.layers.MLPGaussian(2), 3)
    layer.build((None, 0))
    assert not layer.weights
    np.testing.assert_allclose(layer.log_prob([[0.0, 1.0]], tf.zeros([0])), [-np.log(2 * np.pi) - 0.5], rtol=1e-6)


@pytest.mark.parametrize("kind", [*KINDS, "MLPGaussian"])
def test_configuration_and_file_keep_it(kind, tmp_path):
    layer = real_average()[0] if kind == "MLPGaussian" else average_of(kind, 3)[0]
    config = keras.saving.serialize_keras_object(layer)
    twin = keras.saving.deserialize_keras_object(json.loads(json.dumps(config)))
    assert twin.layer.get_config() == layer.layer.get_config() and twin.name == layer.layer.name
    for name in ("num_draws", "units", "binary", "factorised", "kind", "ordering"):
        assert getattr(twin, name) == getattr(layer, name)
    width = layer.parent_units
    inputs = keras.Input((width,))
    model = keras.Model(inputs, layer(inputs))
    model.save(tmp_path / "layer.keras")
    loaded = keras.saving.load_model(tmp_path / "layer.keras").layers[-1]
    parents, y = parents_of(width, 5), np.ones((5, layer.units), np.float32)
    np.testing.assert_array_equal(loaded.log_prob(y, parents), layer.log_prob(y, parents))


@pytest.mark.compiled
@pytest.mark.parametrize("kind", [*KINDS, "MLPGaussian"])
def test_compiled_it_is_the_same(kind):
    layer = real_average()[0] if kind == "MLPGaussian" else average_of(kind, 3)[0]
    parents = parents_of(layer.parent_units, 5)

    def both(parents):
        y = layer.sample(parents, 3, [2])
        return y, layer.log_prob(y, parents)

    plain, fast = both(tf.constant(parents)), tf.function(both, jit_compile=True, autograph=False)(parents)
    np.testing.assert_allclose(plain[0], fast[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(plain[1], fast[1], rtol=1e-5, atol=1e-5)


def test_weights_that_are_frozen_are_the_same_in_all_draws():
    plain = ds.layers.SBN(2)
    plain.build((None, 1))
    randomize(plain, seed=2)
    plain.trainable = False
    layer = ds.layers.UnitAverage(plain, 3)
    layer.build((None, 1))
    assert not layer.trainable_variables
    np.testing.assert_allclose(layer.log_prob([[1.0, 0.0]], [[1.0]]), plain.log_prob([[1.0, 0.0]], [[1.0]]), rtol=1e-5)


@pytest.mark.parametrize(
    ("layer", "num_draws"), [("SBN", 2), (ds.layers.SBN(2), 0), (ds.layers.UnitAverage(ds.layers.SBN(2), 2), 2)]
)
def test_what_cannot_be_averaged_is_refused(layer, num_draws):
    with pytest.raises(ValueError, match="Received: "):
        ds.layers.UnitAverage(layer, num_draws)


def test_a_layer_of_unknown_kind_is_refused_by_name():
    class Odd(ds.layers.SBN):
        factorised = False

    layer = ds.layers.UnitAverage(Odd(2), 2)
    layer.build((None, 0))
    with pytest.raises(ValueError, match="Received: Odd"):
        layer.log_prob([[1.0, 0.0]], tf.zeros([0]))
