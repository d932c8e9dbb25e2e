"""Gibbs sweeps over the units of a layer where networks are averaged unit by unit over draws of their weights.

A density is a product of factors as in `gibbs_sweeps`, of kinds SBN and DARN, each over M sets of weights (1 for a
layer that is no average): p̄(t given v) = Π_d (1/M) Σ_m σ(τ_d λ_md), with τ = 2t − 1 and λ_m the logits of the targets
t. Logits are linear in a unit v_j, with the row A_mj of weights. With s = 1 where v_lj = 0 and −1 where it is 1, the
log-odds of the unit are

    l_j + s Σ_d [log Σ_m σ(τ_d (λ_md + s A_mjd)) − log Σ_m σ(τ_d λ_md)]

where l_j is the unit's own logit, averaged too; in a DARN it goes with the units before it, and the later units of the
layer are targets. λ_m and the second sum are kept and follow each unit that turns over, so that a sweep over H units
takes H M D exponentials a row, where the layers' own log-probabilities would take 2 H products of matrices.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling, loops
from tfdsmcmc.distributions.autoregressive_bernoulli import earlier_to_later
from tfdsmcmc.distributions.row_blocks import in_blocks
from tfdsmcmc.layers import DARN, SBN, UnitAverage
from tfdsmcmc.layers.unit_average import averaged_logits
from tfdsmcmc.rows import Rows, as_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed

_FARTHEST = 80.0  # of a logit, as in the layers
_BLOCK_ENTRIES = 2**19  # logits held at a time: 2 MiB, which stay in a core's cache


class _Targets(NamedTuple):
    """Bernoulli variables whose logits are linear in the units that are drawn.

    Attributes:
      weights: (M, H, D).
      logits: (M, n, D), at the present units.
      signs: (n, D), 2t − 1; 0 for what does not count.
      total: (n,), Σ_d log Σ_m σ(τ_d λ_md) over those that count.
      power: scalar.
      own: whether they are the units themselves.
    """

    weights: Any
    logits: Any
    signs: Any
    total: Any
    power: Any
    own: bool


def takes(factors: Sequence[Any]) -> bool:
    """Whether some layers of the factors are averages, and all of kinds whose logits are linear."""
    layers = [factor.layer for factor in factors]
    linear = all(layer.kind in (SBN, DARN) for layer in layers)
    return linear and any(isinstance(layer, UnitAverage) for layer in layers)


def sweep_averaged(
    factors: Sequence[Any],
    values: Sequence[tf.Tensor | Rows],
    place: int,
    seed: Seed,
    update: tf.Tensor | None = None,
    chances: bool = False,
) -> list[tf.Tensor]:
    """`gibbs_sweeps.sweep_any` where `takes(factors)`; each factor's child or parent is the variable.

    Args:
      factors: list of `gibbs_sweeps.Factor`.
      values: [x, z_1, …, z_L], tensors (n, units); x may be `Rows` with gaps where z is drawn.
      place: of the variable in that list.
      seed: int32 of shape (2,).
      update: (n, units), True where a unit is drawn; None to draw all.
      chances: whether to tell the probabilities that units were drawn with.

    Returns:
      [new values], and behind them with `chances` those probabilities, all (n, units).
    """
    rows, latent_parts = as_rows(values[0]), values[1:]
    shape = as_rows(values[place]).values.shape
    uniform = tf.transpose(random.open_uniform([shape[-1], tf.shape(rows.values)[0]], seed))
    optional = [part for part in (None if rows.complete else rows.observed, update) if part is not None]
    given = [] if rows.context is None else [rows.context]
    # in one type, as they are worked off in blocks
    parts = [uniform, rows.values, *latent_parts, *given, *(tf.cast(part, tf.float32) for part in optional)]

    def of_block(uniform, x, *others):
        latent, others = list(others[: len(latent_parts)]), list(others[len(latent_parts) :])
        context = others.pop(0) if given else None
        optional = [part > 0 for part in others]
        mask = optional.pop() if update is not None else None
        data = Rows(x, None if rows.complete else optional.pop(), context)
        return tuple(_sweep(factors, [data, *latent], place, uniform, mask, chances)), ()

    widest = max(_weights(factor.layer)[0].shape[0] * factor.layer.units for factor in factors)
    found, _ = in_blocks(of_block, parts, max(1, _BLOCK_ENTRIES // widest), 1 + chances)
    return [tf.ensure_shape(part, shape) for part in found]


def parents_of(factor: Any, values: Sequence[tf.Tensor | Rows]) -> tf.Tensor:
    """The values of a factor's parents; the context of the rows above the top, or (0,).

    Of what a recognition layer sees of rows, its factor's parent 0, it is all that it sees."""
    if factor.parent is None:
        context = as_rows(values[0]).context
        return tf.zeros([0]) if context is None else tf.cast(context, tf.float32)
    if factor.parent:
        return as_rows(values[factor.parent]).values
    rows = as_rows(values[0])
    seen = rows.values if factor.reads is None else factor.reads.seen(rows.values)
    return seen if rows.context is None else tf.concat([tf.cast(part, tf.float32) for part in (seen, rows.context)], -1)


def _sweep(factors, values, place, uniform, update, chances):
    """The sweep of a block of rows; the uniform numbers are (n, units)."""
    current = as_rows(values[place]).values
    linear, targets = tf.zeros_like(current), []
    for factor in factors:
        if factor.parent == place:
            targets.append(_children(factor, current, as_rows(values[factor.child])))
            continue
        parents = parents_of(factor, values)
        if factor.layer.kind is SBN:
            linear += factor.power * factor.layer.unit_logits(None, parents)
        else:
            targets.append(_within(factor, current, parents))

    def draw_unit(j, logits, signs, totals, *told):
        old = current[:, j]
        sign, log_odds, turned = 1.0 - 2.0 * old, linear[:, j], []
        for target, here, own_signs, total in zip(targets, logits, signs, totals):
            there = here + sign[:, tf.newaxis] * target.weights[:, j, tf.newaxis, :]
            turned.append((there, _total(there, own_signs)))
            log_odds += target.power * sign * (turned[-1][1] - total)
            if target.own:
                own = averaged_logits(here[:, :, j])
                # once the unit has turned over, its own term is that of the new value
                turned[-1] = there, turned[-1][1] + sign * own
                log_odds += target.power * own
        chance = tf.sigmoid(log_odds)
        new = tf.cast(uniform[:, j] < chance, current.dtype)
        if update is not None:
            new = tf.where(update[:, j], new, old)
        over = new != old
        logits = [tf.where(over[:, tf.newaxis], there, here) for (there, _), here in zip(turned, logits)]
        totals = [tf.where(over, after, before) for (_, after), before in zip(turned, totals)]
        here = tf.one_hot(j, current.shape[-1]) * tf.where(over, -2.0, 0.0)[:, tf.newaxis]
        signs = [part * (1.0 + here) if target.own else part for target, part in zip(targets, signs)]
        return j + 1, logits, signs, totals, *(array.write(j, part) for array, part in zip(told, (new, chance)))

    start = [[getattr(target, name) for target in targets] for name in ("logits", "signs", "total")]
    units = current.shape[-1]
    state = (0, *start, *(tf.TensorArray(current.dtype, units) for _ in range(1 + chances)))
    told = loops.while_loop(lambda j, *_: j < units, draw_unit, state, maximum_iterations=units)[4:]
    return [tf.transpose(array.stack()) for array in told]


def _children(factor, value, child):
    """The child's units as targets."""
    kernel, bias, lateral = _weights(factor.layer)
    logits = tf.einsum("np,mpd->mnd", value, kernel) + bias[:, tf.newaxis]
    if lateral is not None:
        logits += tf.einsum("np,mpd->mnd", child.values, lateral)
    signs = 2.0 * child.values - 1.0
    if not child.complete:
        signs = tf.where(child.observed, signs, 0.0)
        if compiling.by_operations():
            with compiling.apart():  # what no row has observed is passed over
                some = tf.where(tf.reduce_any(child.observed, 0))[:, 0]
                kernel, logits, signs = (tf.gather(part, some, axis=-1) for part in (kernel, logits, signs))
    return _Targets(kernel, logits, signs, _total(logits, signs), factor.power, False)


def _within(factor, value, parents):
    """The units of a DARN's own layer as targets."""
    kernel, bias, lateral = _weights(factor.layer)
    logits = tf.einsum("np,mpd->mnd", value, lateral) + bias[:, tf.newaxis]
    if parents.shape[-1]:
        logits += tf.einsum("np,mpd->mnd", parents, kernel)
    signs = 2.0 * value - 1.0
    return _Targets(lateral, logits, signs, _total(logits, signs), factor.power, True)


def _total(logits, signs):
    """Σ_d log Σ_m σ(τ_d λ_md), (n,)."""
    if logits.shape[0] == 1:  # a layer as it is, however large its logits
        each = tf.math.log_sigmoid(signs * logits[0])
    else:
        probabilities = tf.sigmoid(tf.clip_by_value(signs * logits, -_FARTHEST, _FARTHEST))
        each = tf.math.log(tf.reduce_sum(probabilities, 0))
    return tf.reduce_sum(tf.where(signs == 0, 0.0, each), -1)


def _weights(layer):
    """(W (M, parent width, D), b (M, D), U (M, D, D) or None) of an SBN or a DARN, averaged or not."""
    if isinstance(layer, UnitAverage):
        kernel, bias, *lateral = layer.stacks()
    else:
        kernel, bias, *lateral = (tf.convert_to_tensor(part)[tf.newaxis] for part in layer.weights)
    if layer.kind is SBN:
        return kernel, bias, None
    (lateral,) = lateral
    units = layer.units
    return kernel, bias, lateral * earlier_to_later(tf.ones([units, units]), layer.ordering)
