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
λ the logits of those targets as the units are, t their values, and s = 1 where v_lj = 0 and −1 where it is 1, the
log-odds are

    l_j + t · A_j − s Σ_d log (1 + exp(λ_d + s A_jd)) + s Σ_d log (1 + exp λ_d)

where l_j is the unit's own logit. The second sum is kept: for each unit the first one alone is evaluated, and it takes
the second's place where the unit turns over, as λ + s A_j takes that of λ. So the kept sum is at all times that of the
logits as they are, and no errors add up in it. `targets` says how XLA takes the sums, `operations` how TensorFlow does
without it. Above the columns of a table `columns` does so with their laws.

A sweep hands on the probability that each unit was drawn with, σ(its log-odds), where that is asked for. Under the law
that the sweep keeps, its mean is that of the unit, E σ(…) = P(v_lj = 1), and its variance is at most that of the drawn
unit (Rao-Blackwell).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling, loops
from tfdsmcmc.layers import DARN, SBN
from tfdsmcmc.networks import data_log_prob
from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.sweeps import averaged as averaged_sweeps
from tfdsmcmc.sweeps import columns
from tfdsmcmc.sweeps.operations import draw_units
from tfdsmcmc.sweeps.targets import NEVER, Targets, summed

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, Seed
    from tfdsmcmc.layers.base import StochasticLayer
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.supports import Support

_Values: TypeAlias = "Sequence[tf.Tensor | Rows]"  # [x, z_1, …, z_L]


class Factor(NamedTuple):
    """log p(child given parent) · power.

    Attributes:
      layer: the stochastic layer.
      child: the place of its values in the list [x, z_1, …, z_L].
      parent: the place of its parents there; None for a layer without parents.
      power: scalar, a number or a tensor.
      reads: the support of x, where x is the parent: what the layer sees of it.
    """

    layer: StochasticLayer
    child: int
    parent: int | None
    power: Number = 1.0
    reads: Support | None = None


def generative_factors(
    network: GenerativeNetwork, power: Number = 1.0, data_power: Number | None = None
) -> list[Factor]:
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


def recognition_factors(network: RecognitionNetwork, power: Number = 1.0) -> list[Factor]:
    """The factors of q(z given x), the layer nearest to the data first."""
    reads = [network.support, *[None] * len(network.layers)]
    return [Factor(layer, i + 1, i, power, reads[i]) for i, layer in enumerate(network.layers)]


def sweep_all(
    network: GenerativeNetwork, rows: Rows, z: Sequence[tf.Tensor], seed: Seed
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Draws each latent unit of a generative network, from the data upwards, and then the missing entries of x.

    Where the units of the data layer are independent given z, z is drawn given x_observed alone, with x_missing summed
    out, and x_missing from its law given z: a z that had to explain what stands in the gaps, noise at first, would be
    slow to leave it. Elsewhere each missing unit is drawn in turn given all others, or moved by the layer's own chain.

    Args:
      network: `GenerativeNetwork` of binary latent layers.
      rows: `Rows` (n, D), with gaps and their present fillings as values.
      z: list of (n, H_l).
      seed: int32 of shape (2,).

    Returns:
      (x, z), the filled rows (n, D) and the new z.
    """
    return _swept(network, rows, z, seed, False)[:2]


def sweep_all_and_mean(
    network: GenerativeNetwork, rows: Rows, z: Sequence[tf.Tensor], seed: Seed
) -> tuple[tf.Tensor, list[tf.Tensor], tf.Tensor | None]:
    """`sweep_all` and what it knows of the mean of x, at no further cost; arguments as there.

    Returns:
      (x, z, mean): the third (n, D), what is observed and the probabilities that missing bits were drawn with, where
      these were drawn one by one; else None.
    """
    return _swept(network, rows, z, seed, True)


def sweep(
    factors: Sequence[Factor], values: _Values, place: int, seed: Seed, update: tf.Tensor | None = None
) -> tf.Tensor:
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
    return _form_of(factors, place)(values, place, seed, update)[0]


def sweep_any(
    factors: Sequence[Factor],
    values: _Values,
    place: int,
    seed: Seed,
    update: tf.Tensor | None = None,
    chances: bool = False,
) -> list[tf.Tensor]:
    """`sweep` for layers of any kind; each factor's child or parent is the variable.

    Returns:
      [new values], and behind them with `chances` the probabilities that units were drawn with, all (n, units).
    """
    current = as_rows(values[place]).values
    units = current.shape[-1]
    uniform = random.open_uniform([units, tf.shape(current)[0]], seed)

    def draw_unit(j, value, *told):
        here = tf.one_hot(j, units)
        both = tf.stack([value * (1.0 - here), value * (1.0 - here) + here])
        moved = values[place]._replace(values=both) if isinstance(values[place], Rows) else both
        trial = [*values[:place], moved, *values[place + 1 :]]
        density = sum(factor.power * _log_prob(factor, trial) for factor in factors)
        chance = tf.sigmoid(density[1] - density[0])
        drawn = tf.where((uniform[j] < chance)[:, tf.newaxis], both[1], both[0])
        drawn = drawn if update is None else tf.where(update[:, j][:, tf.newaxis], drawn, value)
        return j + 1, drawn, *(array.write(j, chance) for array in told)

    state = (0, current, *(tf.TensorArray(current.dtype, units) for _ in range(chances)))
    _, drawn, *told = loops.while_loop(lambda j, *_: j < units, draw_unit, state, maximum_iterations=units)
    return [drawn, *(tf.transpose(array.stack()) for array in told)]


def sweep_logistic(
    factors: Sequence[Factor],
    values: _Values,
    place: int,
    seed: Seed,
    update: tf.Tensor | None = None,
    chances: bool = False,
) -> list[tf.Tensor]:
    """`sweep_any` where each factor is an SBN or a DARN."""
    current = as_rows(values[place]).values
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
    if compiling.by_operations():
        drawn, log_odds = draw_units(current, uniform, linear, within, targets, update)
        return [drawn, tf.sigmoid(log_odds)] if chances else [drawn]
    targets, softplus_sums = summed(targets)
    old = tf.transpose(current)

    def draw_unit(j, rows, logits, sums, linear, *told):
        sign = 1.0 - 2.0 * old[j][:, tf.newaxis]
        log_odds, turned = linear[:, j], []
        for target, row, here, kept in zip(targets, rows, logits, sums):
            turned.append(softplus_sums(here, sign, row))
            log_odds -= sign[:, 0] * target.power * tf.reduce_sum(turned[-1] - kept, -1)
        chance = tf.sigmoid(log_odds)
        new = tf.cast(uniform[j] < chance, chance.dtype)
        if update is not None:
            new = tf.where(update[:, j], new, old[j])
        change = (new - old[j])[:, tf.newaxis]
        if within is not None:
            linear += change * within[j]
        logits = [here + change * row for here, row in zip(logits, rows)]
        sums = [tf.where(change != 0, there, kept) for there, kept in zip(turned, sums)]
        # XLA on a CPU makes scalar code of the loop over targets if it has to find row j inside it
        rows = [target.weights[tf.minimum(j + 1, units - 1)] for target in targets]
        told = [array.write(j, part) for array, part in zip(told, (new, chance))]
        return j + 1, rows, logits, sums, linear, *told

    rows, logits = [target.weights[0] for target in targets], [target.logits for target in targets]
    sums = [softplus_sums(here, 0.0, row) for here, row in zip(logits, rows)]
    start = (0, rows, logits, sums, linear, *(tf.TensorArray(current.dtype, units) for _ in range(1 + chances)))
    told = loops.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)[5:]
    return [tf.transpose(array.stack()) for array in told]


def _form_of(factors, place):
    """Function of the other arguments of `sweep_any`, in the form that suits these factors."""
    around = [factor for factor in factors if place in (factor.child, factor.parent)]
    if averaged_sweeps.takes(around):
        form = averaged_sweeps.sweep_averaged
    elif columns.takes(around, place):
        form = columns.sweep_columns
    else:
        logistic = all(type(factor.layer) in (SBN, DARN) for factor in around)  # a subclass may have logits of its own
        form = sweep_logistic if logistic else sweep_any
    return functools.partial(form, around)


def _swept(network, rows, z, seed, chances):
    """(x, z, mean or None) of `sweep_all`."""
    seeds = tf.unstack(random.split(seed, len(z) + 1))
    x, data_layer = rows.values, network.layers[-1]
    # of rows with gaps the sweeps sum out what is missing, of a tensor nothing
    given = rows if data_layer.factorised else rows._replace(observed=None)
    factors, values = generative_factors(network), [given, *z]
    for place in range(1, len(values)):
        values[place] = sweep(factors, values, place, seeds[place])
    z = values[1:]
    if rows.complete:
        return x, z, None
    if data_layer.factorised:
        return data_layer.complete(x, rows.observed, network.data_parents(rows, z), seeds[0])[0], z, None
    if data_layer.redraws:
        return data_layer.redrawn(x, rows.observed, network.data_parents(rows, z), seeds[0]), z, None
    missing = tf.logical_not(rows.observed)
    x, *told = _form_of(factors, 0)(values, 0, seeds[0], missing, chances)
    return x, z, tf.where(missing, told[0], x) if chances else None


def _as_parent(factor, value, child):
    """(t · A_j of each unit, (n, H); the targets): the child's units."""
    layer, logits = factor.layer, factor.layer.logits(value)
    if type(layer) is DARN:
        logits += tf.matmul(child.values, layer.lateral_kernel())
    counted = child.values
    if not child.complete:
        counted = tf.where(child.observed, counted, 0.0)
        logits = tf.where(child.observed, logits, NEVER)
    linear = tf.matmul(counted, layer.kernel.value, transpose_b=True)
    return linear, Targets(layer.kernel.value, logits, factor.power)


def _within(factor, value, parents):
    """(power · (U + Uᵀ), the targets): the later units of a DARN's own layer."""
    lateral = factor.layer.lateral_kernel()
    logits = factor.layer.logits(parents) + tf.matmul(value, lateral)
    return factor.power * (lateral + tf.transpose(lateral)), Targets(lateral, logits, factor.power)


def _log_prob(factor, values):
    return data_log_prob(factor.layer, as_rows(values[factor.child]), _parents(factor, values))


def _parents(factor, values):
    """The values of the factor's parents: of rows with gaps what a recognition network sees."""
    return averaged_sweeps.parents_of(factor, values)
