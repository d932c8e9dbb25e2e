"""Sweeps that TensorFlow runs operation after operation, where exponentials leave float32, and where they are used."""

import os
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import randomize, tiny_model
from tfdsmcmc._common.compiling import program
from tfdsmcmc.rows import Rows
from tfdsmcmc.serving.saved_model.content import functions_of
from tfdsmcmc.serving.saved_model.signatures import signatures
from tfdsmcmc.sweeps import averaged, gibbs, operations
from tfdsmcmc.sweeps.targets import NEVER, Targets

SBN = ds.layers.SBN

# the weight from each of two units to each of eight targets, the bias of these, the value that units have at first
FARTHER_THAN_FLOAT32 = {
    "too small, and back": (50.0, -95.0, 0.0),
    "too large": (60.0, 40.0, 0.0),
    "too large, and back": (-60.0, 95.0, 0.0),
    "too small for a moment": (-88.0, 88.5, 0.0),
    "turned off": (60.0, -30.0, 1.0),
}


def latent_biases(weight, data_bias, first):
    """Such that the first unit has log-odds of 0.5, and the second as well once the first has turned over, where half
    of eight targets are on."""

    def slope(others):
        lower, upper = (np.logaddexp(0, data_bias + weight * (others + own)) for own in (0, 1))
        return 4 * weight - 8 * (upper - lower)

    return [0.5 - slope(first), 0.5 - slope(1 - first)]


def network_of(weight, data_bias, biases, targets=8):
    network = ds.GenerativeNetwork([SBN(len(biases)), SBN(targets)])
    network.sample(1, seed=0)
    top, bottom = network.layers
    top.bias.assign(biases)
    bottom.kernel.assign(tf.broadcast_to(tf.constant(weight, tf.float32), bottom.kernel.shape))
    bottom.bias.assign(tf.fill([targets], data_bias))
    return network


def swept(network, x, z, form, run):
    factors = gibbs.generative_factors(network)
    return run(lambda: form(factors, [x, z], 1, [0, 1], None, True), False)()


@pytest.mark.parametrize(
    ("weight", "data_bias", "biases", "targets", "first", "rows"),
    [
        (-50.0, 5.0, [198.0, 160.0], 8, 1.0, 200),  # λ rises where a unit is turned off
        (86.9, -87.5, [-348.6], 8, 0.0, 1),  # it would rise by a unit that might have turned over
        (-87.4, 87.9, [-88.0], 2, 0.0, 1),  # a factor of exp λ that is no normal number
    ],
)
def test_what_tells_that_exponentials_were_too_small(weight, data_bias, biases, targets, first, rows):
    network = network_of(weight, data_bias, biases, targets)
    x = tf.constant(np.tile(np.arange(targets) < targets // 2, (rows, 1)), tf.float32)
    z, factors = tf.fill([rows, len(biases)], first), gibbs.generative_factors(network)
    forms = [
        program(lambda seed, form=form: form(factors, [x, z], 1, seed, None, True), False)
        for form in (gibbs.sweep_logistic, gibbs.sweep_any)
    ]
    for seed in range(8):
        (fast, chances), (plain, expected) = (form(tf.constant([0, seed])) for form in forms)
        np.testing.assert_array_equal(fast, plain)
        np.testing.assert_allclose(chances, expected, atol=2e-4)


@pytest.mark.parametrize("name", FARTHER_THAN_FLOAT32)
@pytest.mark.parametrize("run", [program, lambda function, _: function], ids=["program", "eager"])
def test_sweeps_that_leave_float32_are_made_again(name, run):
    """The same uniform numbers give the same units and chances as the layers' own log-probabilities, of which some are
    well within 0 and 1."""
    weight, data_bias, first = FARTHER_THAN_FLOAT32[name]
    network = network_of(weight, data_bias, latent_biases(weight, data_bias, first))
    x = np.zeros((200, 8), np.float32)
    x[:, :4] = 1
    forms = (gibbs.sweep_logistic, gibbs.sweep_any)
    (fast, chances), (plain, expected) = (swept(network, x, tf.fill([200, 2], first), form, run) for form in forms)
    assert np.ptp(plain, axis=0).min() == 1 and np.any((expected > 0.1) & (expected < 0.9))
    np.testing.assert_array_equal(fast, plain)
    np.testing.assert_allclose(chances, expected, atol=2e-4)


def exact_forms(monkeypatch):
    """A list that has an entry for each term of the slower form, which is looked at without a trace alone."""
    asked = []
    slow = operations._LOGITS._replace(term=lambda kept: asked.append(1) or tf.nn.softplus(kept))
    monkeypatch.setattr(operations, "_LOGITS", slow)
    return asked


def test_no_sweep_is_made_again_without_need(monkeypatch):
    """Gaps, ordinary weights and targets that are off for good need none."""
    asked = exact_forms(monkeypatch)
    rng = np.random.default_rng(0)
    network = network_of(0.0, -1.0, [0.0] * 5, targets=20)
    network.layers[1].kernel.assign(rng.normal(size=(5, 20)))
    x, z = (rng.integers(0, 2, (30, width)).astype(np.float32) for width in (20, 5))
    x[:, 0] = 0
    for bias in (-95.0, 0.5):
        network.layers[1].bias.assign([bias, *rng.normal(size=19)])
        for observed in (None, tf.constant(rng.random((30, 20)) < 0.5)):
            swept(network, Rows(tf.constant(x), observed), tf.constant(z), gibbs.sweep_logistic, lambda f, _: f)
    assert not asked
    hard = network_of(50.0, -95.0, latent_biases(50.0, -95.0, 0.0))
    swept(hard, tf.ones([30, 8]), tf.zeros([30, 2]), gibbs.sweep_logistic, lambda f, _: f)
    assert asked


def test_weights_whose_exponentials_are_no_normal_numbers():
    """They take λ from 88 to 0 in one step: how a processor rounds such small numbers is its own choice."""
    for weight, fits in ((86.0, True), (-86.0, True), (88.0, False), (-88.0, False)):
        padded = operations._padded(Targets(tf.fill([1, 8], weight), tf.zeros([2, 8]), 1.0))
        found = operations._fits(
            [padded], [tf.ones([2, 8])], tf.ones([1, 2]), tf.zeros([1, 2], tf.bool), tf.ones([1, 2])
        )
        assert bool(found) == fits


def test_targets_that_no_row_has_are_passed_over():
    logits = np.zeros((3, 300), np.float32)
    logits[:, 100:] = NEVER
    logits[1, 200] = np.nan  # which is not to be lost
    padded = operations._padded(Targets(tf.ones([2, 300]), tf.constant(logits), 1.0))
    assert padded.parts == 24 and padded.logits.shape == (3, 120) and padded.weights.shape == (2, 120)
    assert np.isnan(padded.logits).sum() == 1


def test_averages_pass_over_them_too(monkeypatch):
    """Units averaged over draws: in a program the same draws as at once, of five of eight targets."""
    layers = [ds.layers.UnitAverage(SBN(units), 3) for units in (3, 8)]
    for layer, parents in zip(layers, (0, 3), strict=True):
        layer.build((None, parents))
        randomize(layer, seed=parents, scale=1.5)
    factors = [gibbs.Factor(layers[1], 0, 1), gibbs.Factor(layers[0], 1, None)]
    rng = np.random.default_rng(0)
    x, z = (tf.constant(rng.integers(0, 2, (50, width)), tf.float32) for width in (8, 3))
    observed = np.tile(np.arange(8) < 4, [50, 1])
    observed[0, :5] = False, True, True, True, True
    rows, widths = Rows(x, tf.constant(observed)), []
    total = averaged._total
    monkeypatch.setattr(
        averaged, "_total", lambda logits, signs: widths.append(logits.shape[-1]) or total(logits, signs)
    )
    each = [run(lambda: gibbs.sweep(factors, [rows, z], 1, [0, 1]), False)() for run in (program, lambda f, _: f)]
    np.testing.assert_array_equal(*each)
    assert set(widths) == {None, 5} and np.mean(each[0] != z) > 0.2
    plain = gibbs.sweep_any(factors, [rows, z], 1, [0, 1])[0]
    assert np.mean(np.any(each[0] != plain, 1)) < 0.05


def test_a_run_that_diverged_is_seen():
    network = network_of(1.0, 0.0, [0.0, 0.0])
    network.layers[1].bias.assign([np.nan, *[0.0] * 7])
    _, chances = swept(network, tf.zeros([4, 8]), tf.zeros([4, 2]), gibbs.sweep_logistic, program)
    assert np.isnan(chances).all()


def test_saved_models_have_this_form(monkeypatch):
    asked = []
    form = operations.draw_units
    monkeypatch.setattr(gibbs, "draw_units", lambda *arguments: asked.append(1) or form(*arguments))
    functions = functions_of(tiny_model((3, 2), units=4), None, None, None, False, None)
    signatures(functions, ["impute"], 1000)
    assert asked and functions.settings["sweeps"] == 10


@pytest.mark.slow
def test_programs_that_tensorflow_looks_for_leave_it_alone(tmp_path):
    """With automatic clusters, as XLA cannot take shapes that are known when it runs alone."""
    script = tmp_path / "script.py"
    script.write_text(
        "import numpy as np, tfdsmcmc as ds\n"
        "model = ds.models.from_name('SBN/SBN 5-3', 8, seed=0)\n"
        "model.compile(kernel='sgld', jit_compile=False)\n"
        "mask = np.tile(np.arange(8) < 4, (3, 1))\n"
        "print(model.impute(np.eye(3, 8), mask=mask, method='gibbs', seed=1).sum())\n"
    )
    flags = {"TF_XLA_FLAGS": "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit --tf_xla_min_cluster_size=2"}
    environment = {**os.environ, **flags}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
