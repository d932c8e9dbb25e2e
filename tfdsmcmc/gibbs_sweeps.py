"""One sweep of Gibbs sampling over the binary units of a layer.

A density over x = v_0 and z_1 = v_1, …, z_L = v_L is given as a product of factors, each a layer's conditional
distribution raised to a power, in which missing entries of x are summed out:

    log f(v) = Σ_i power_i · log p_i(v_child(i) given v_parent(i))

A generative network is such a product, and so is each density on the way from one network to another. Unit j of v_l is
drawn given everything else, one unit after the other. Its log-odds are the difference of log f at v_lj = 1 and
v_lj = 0, in which the factors count whose child or parent is v_l.

`sweep_any` evaluates this as it stands, for layers of any kind: two log-probabilities of each such factor for each
unit. Where all of them are of the kinds SBN and DARN their logits are linear in v_lj, and `sweep_logistic` keeps them
up to date. With A_j the row of weights from unit j (to the child, and, in a DARN, to the later units of its own layer),
λ the logits of those targets at v_lj = 0, and t their values, the log-odds are

    l_j + t · A_j − Σ_d log (1 + exp(λ_d + A_jd)) / (1 + exp λ_d)

where l_j is the unit's own logit. A term of the sum is max(A, 0), which goes to t · A, and a logarithm that needs one
exponential and cannot overflow: with e = exp(−|λ|) and q = exp(−|A|), made once a sweep, it is log (1 + e q)/(1 + e)
where λ and A have the same sign and log (e + q)/(1 + e) where they have not. Only where |λ| and |A| both pass 87, where
e and q vanish in float32, it saturates.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.distributions.sum_log import sum_log
from tfdsmcmc.layers import DARN, SBN
from tfdsmcmc.networks import data_log_prob
from tfdsmcmc.rows import as_rows


class Factor(NamedTuple):
    """log p(child given parent) · power.

    Attributes:
      layer: the stochastic layer.
      child: the place of its values in the list [x, z_1, …, z_L].
      parent: the place of its parents there; None for a layer without parents.
      power: scalar, a number or a tensor.
    """

    layer: Any
    child: int
    parent: int | None
    power: Any = 1.0


class _Targets(NamedTuple):
    """Bernoulli variables whose logits are linear in the units that are drawn: weights (H, D), logits (n, D), and which
    of them are observed, (n, D) or None for all."""

    weights: Any
    logits: Any
    power: Any
    observed: Any


def generative_factors(network, power=1.0, data_power=None):
    """The factors of p(x, z), the data layer first.

    Args:
      network: `GenerativeNetwork`.
      power: of every factor.
      data_power: of the data layer's; by default `power`.
    """
    layers = network.layers[::-1]
    parents = [*range(1, len(layers)), None]
    powers = [power if data_power is None else data_power, *[power] * (len(layers) - 1)]
    return [Factor(*parts) for parts in zip(layers, range(len(layers)), parents, powers)]


def recognition_factors(network, power=1.0):
    """The factors of q(z given x), the layer nearest to the data first."""
    return [Factor(layer, i + 1, i, power) for i, layer in enumerate(network.layers)]


def sweep(factors, values, place, seed, update=None):
    """Draws each unit of one variable once given the rest.

    Args:
      factors: list of `Factor`.
      values: [x, z_1, …, z_L], tensors (n, units); x may be `Rows` with gaps where z is drawn.
      place: of the variable in that list; its units are binary.
      seed: int32 of shape (2,).
      update: (n, units), True where a unit is drawn and False where it keeps its value; None to draw all.

    Returns:
      (n, units), the new values.
    """
    around = [factor for factor in factors if place in (factor.child, factor.parent)]
    logistic = all(type(factor.layer) in (SBN, DARN) for factor in around)  # a subclass may have logits of its own
    return (sweep_logistic if logistic else sweep_any)(around, values, place, seed, update)


def sweep_any(factors, values, place, seed, update=None):
    """`sweep` for layers of any kind; each factor's child or parent is the variable."""
    current = values[place]
    units = current.shape[-1]
    uniform = random.open_uniform([units, tf.shape(current)[0]], seed)

    def draw_unit(j, value):
        here = tf.one_hot(j, units)
        both = tf.stack([value * (1.0 - here), value * (1.0 - here) + here])
        trial = [*values[:place], both, *values[place + 1 :]]
        density = sum(factor.power * _log_prob(factor, trial) for factor in factors)
        one = _draw(uniform[j], density[1] - density[0])
        drawn = tf.where(one[:, tf.newaxis] > 0, both[1], both[0])
        return j + 1, drawn if update is None else tf.where(update[:, j][:, tf.newaxis], drawn, value)

    return tf.while_loop(lambda j, _: j < units, draw_unit, (0, current), maximum_iterations=units)[1]


def sweep_logistic(factors, values, place, seed, update=None):
    """`sweep` where each factor is an SBN or a DARN; each factor's child or parent is the variable."""
    current = values[place]
    units = current.shape[-1]
    uniform = random.open_uniform([units, tf.shape(current)[0]], seed)
    # what does not change: each unit's own logit and t · A_j
    linear, targets, within = tf.zeros_like(current), [], None
    for factor in factors:
        if factor.parent == place:
            more, target = _as_parent(factor, current, as_rows(values[factor.child]))
            linear += factor.power * more
            targets.append(target)
        else:
            linear += factor.power * factor.layer.logits(_parents(factor, values))
            if type(factor.layer) is DARN:
                symmetric, target = _within(factor, current, _parents(factor, values))
                linear += tf.matmul(current, symmetric)
                within = symmetric if within is None else within + symmetric
                targets.append(target)
    targets = _merged(targets)
    for target in targets:
        linear -= target.power * _rows_of(tf.nn.relu(target.weights), target.observed)
    signs = [target.weights >= 0 for target in targets]
    q = [tf.exp(-tf.abs(target.weights)) for target in targets]
    old = tf.transpose(current)

    def draw_unit(j, logits, linear, draws):
        log_odds, at_zero = linear[:, j], []
        for i, target in enumerate(targets):
            at_zero.append(logits[i] - old[j][:, tf.newaxis] * target.weights[j])
            e = tf.exp(-tf.abs(at_zero[i]))
            ratios = tf.where((at_zero[i] >= 0) == signs[i][j], 1.0 + e * q[i][j], e + q[i][j]) / (1.0 + e)
            if target.observed is not None:
                ratios = tf.where(target.observed > 0, ratios, 1.0)
            log_odds -= target.power * sum_log(ratios)
        new = _draw(uniform[j], log_odds)
        if update is not None:
            new = tf.where(update[:, j], new, old[j])
        if within is not None:
            linear += (new - old[j])[:, tf.newaxis] * within[j]
        logits = [part + new[:, tf.newaxis] * target.weights[j] for part, target in zip(at_zero, targets)]
        return j + 1, logits, linear, draws.write(j, new)

    start = (0, [target.logits for target in targets], linear, tf.TensorArray(current.dtype, units))
    draws = tf.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)[-1]
    return tf.transpose(draws.stack())


def _as_parent(factor, value, child):
    """(t · A_j of each unit, (n, H); the targets): the child's units."""
    layer, observed = factor.layer, None if child.complete else tf.cast(child.observed, value.dtype)
    logits = layer.logits(value)
    if type(layer) is DARN:
        logits += tf.matmul(child.values, layer.lateral_kernel())
    counted = child.values if observed is None else child.values * observed
    linear = tf.matmul(counted, layer.kernel.value, transpose_b=True)
    return linear, _Targets(layer.kernel.value, logits, factor.power, observed)


def _within(factor, value, parents):
    """(power · (U + Uᵀ), the targets): the later units of a DARN's own layer."""
    lateral = factor.layer.lateral_kernel()
    logits = factor.layer.logits(parents) + tf.matmul(value, lateral)
    return factor.power * (lateral + tf.transpose(lateral)), _Targets(lateral, logits, factor.power, None)


def _merged(targets):
    """The targets; those of power 1 as one, so that their logarithms are taken together."""
    plain = [t for t in targets if isinstance(t.power, float) and t.power == 1.0 and t.observed is None]
    if len(plain) < 2:
        return targets
    others = [t for t in targets if not any(t is p for p in plain)]
    weights, logits = (tf.concat(parts, 1) for parts in list(zip(*plain))[:2])
    return [_Targets(weights, logits, 1.0, None), *others]


def _rows_of(weights, observed):
    """Σ_d A_jd over the targets that count: (H,) or (n, H)."""
    return tf.reduce_sum(weights, 1) if observed is None else tf.matmul(observed, weights, transpose_b=True)


def _log_prob(factor, values):
    return data_log_prob(factor.layer, as_rows(values[factor.child]), _parents(factor, values))


def _parents(factor, values):
    """The values of the factor's parents: of rows with gaps what a recognition network sees."""
    return tf.zeros([0]) if factor.parent is None else as_rows(values[factor.parent]).values


def _draw(uniform, log_odds):
    return tf.cast(uniform < tf.sigmoid(log_odds), log_odds.dtype)
