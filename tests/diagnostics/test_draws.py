"""The scales of shrinkage priors that a diagnostic draws given the weights: at joint draws of weights and scales from
the prior, E[−w · ∇ log p(w given λ)]/d = 1 with λ drawn anew given w, whatever the scales are.

Given the new λ, d times the reading has the χ² law of d degrees of freedom, so a mean of n readings has the standard
error √(2/(nd)): z-tests at 10⁻⁶.
"""

import itertools
import types

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.slow_cases import mostly_slow
from tfdsmcmc import random
from tfdsmcmc.diagnostics.draws import LogPrior
from tfdsmcmc.priors import ColumnThreeParameterBetaNormal, Horseshoe, ThreeParameterBetaNormal

FLOOR = 0.015
GROUPS = {"entry": (40, 100), "parent": (1000, 4), "unit": (4, 1000)}  # many groups


def readings(prior, weights, uses_xla=False):
    """The mean of −w · ∇ log p(w given λ)/d over weights, and its standard error."""
    model = types.SimpleNamespace(prior=ds.Prior(prior), named_weights=[("w", None)], uses_xla=uses_xla)
    log_prior, found = LogPrior(model), []
    for number, value in enumerate(weights):
        value = tf.constant(value, tf.float32)
        auxiliary = log_prior.scales([value], random.as_seed(number))
        with tf.GradientTape() as tape:
            tape.watch(value)
            density = model.prior.log_prob(["w"], [value], auxiliary)
        found.append(-np.mean(value * tape.gradient(density, value), dtype=np.float64))
    return np.mean(found), np.sqrt(2 / (len(found) * weights[0].size))


def drawn(prior, shape, scale, rng):
    """Weights from the prior at a scale τ."""
    groups = np.empty(prior._sum(tf.zeros(shape)).shape)
    variance = scale**2 * rng.gamma(prior.a, size=groups.shape) / rng.gamma(prior.b, size=groups.shape)
    return np.sqrt(variance + prior.minimum_scale**2) * rng.normal(size=shape)


def drawn_columns(prior, shape, scale, rng):
    """Weights from the prior with scales for columns, all of them the same, or by the prior where there is none."""
    columns = (1,) if len(shape) == 1 else (shape[0], 1)
    phi = rng.gamma(0.5, size=columns) / rng.gamma(0.5) if scale is None else np.full(columns, scale**2)
    variance = rng.gamma(prior.a, size=shape) * phi / rng.gamma(prior.b, size=shape)
    return np.sqrt(variance + prior.minimum_scale**2) * rng.normal(size=shape)


FAR = mostly_slow(
    [("general", "unit", 0.02)], itertools.product(("horseshoe", "general"), GROUPS, (0.004, 0.02, 0.2, 3.0))
)


def learnt(kind, group):
    shape = (0.5, 0.5) if kind == "horseshoe" else (0.8, 1.7)
    return ThreeParameterBetaNormal(*shape, 1.0, FLOOR, True, group)


@pytest.mark.parametrize(("kind", "group", "scale"), FAR)
def test_a_learnt_scale_may_be_far_from_where_its_prior_is(kind, group, scale):
    """15 weights of 4,000 entries at τ from a 250th to three times the scale τ₀ of its law. The 1,000 groups or more
    tell τ, so that it is as if drawn from the prior, to a share of some 1/1,000; an error of 3 in a hundred shows."""
    prior, rng = learnt(kind, group), np.random.default_rng(1)
    value, error = readings(prior, [drawn(prior, GROUPS[group], scale, rng) for _ in range(15)])
    assert error < 0.006
    assert_near(value, 1.0, error)


def test_sweeps_from_the_scale_of_the_prior_do_not_settle(monkeypatch):
    """What the draws by quadrature are for: a right chain would read some 30 in a hundred too cold."""
    prior, rng = learnt("horseshoe", "entry"), np.random.default_rng(1)
    monkeypatch.setattr(prior, "draw_auxiliary", prior.initial_auxiliary)
    assert readings(prior, [drawn(prior, (30, 200), 0.02, rng)])[0] < 0.8


JOINT = mostly_slow(
    [("parent", True, 0.01)],
    itertools.product(("entry", "parent", "unit", "tensor"), (True, False), (0.01, 0.1, 3.0)),
)


@pytest.mark.parametrize(("group", "is_learnt", "scale"), JOINT)
def test_joint_draws_of_weights_and_scales(group, is_learnt, scale):
    """Exact: τ fixed, or from its half-Cauchy law, for each of 50 weights of 240 entries; 7 in a hundred shows."""
    prior, rng = ThreeParameterBetaNormal(0.7, 0.5, scale, FLOOR, is_learnt, group), np.random.default_rng(2)
    scales = scale * (np.abs(rng.standard_cauchy(50)) if is_learnt else np.ones(50))
    value, error = readings(prior, [drawn(prior, (12, 20), part, rng) for part in scales])
    assert error < 0.014
    assert_near(value, 1.0, error)


@pytest.mark.parametrize("floor", [pytest.param(0.0, marks=pytest.mark.slow), FLOOR])
@pytest.mark.parametrize(
    ("shape", "scale", "count"),
    [
        ((8, 30), None, 50),
        pytest.param((240,), 0.02, 50, marks=pytest.mark.slow),
        pytest.param((4, 1000), 0.004, 15, marks=pytest.mark.slow),
        pytest.param((4, 1000), 0.02, 15, marks=pytest.mark.slow),
        pytest.param((4, 1000), 3.0, 15, marks=pytest.mark.slow),
    ],
)
def test_scales_of_columns(shape, scale, count, floor):
    """Joint draws, exact; and columns of so many entries of one scale that these tell it, but for some 1/1,000 (the
    single column of a bias: 1/200)."""
    prior, rng = ColumnThreeParameterBetaNormal(0.5, 0.7, floor), np.random.default_rng(3)
    value, error = readings(prior, [drawn_columns(prior, shape, scale, rng) for _ in range(count)])
    assert error < 0.014
    assert_near(value, 1.0, error)


@pytest.mark.compiled
@pytest.mark.parametrize(
    "prior",
    [Horseshoe(), pytest.param(ColumnThreeParameterBetaNormal(minimum_scale=FLOOR), marks=pytest.mark.slow)],
    ids=["horseshoe", "columns"],
)
def test_compiled_sweeps(prior):
    """Joint draws, exact, as models have their sweeps by default: 7 in a hundred shows."""
    rng = np.random.default_rng(4)
    draw, scale = (drawn, prior.global_scale) if isinstance(prior, Horseshoe) else (drawn_columns, None)
    value, error = readings(prior, [draw(prior, (12, 20), scale, rng) for _ in range(50)], uses_xla=True)
    assert_near(value, 1.0, error)
