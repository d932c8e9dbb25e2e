"""One sweep of Gibbs sampling over the binary units above a table's columns.

The parameters of the columns are linear in the units, λ = e W + b, and, where columns depend on each other, in columns
that stay as they are. With W_j the row of unit j and s = 1 where v_j = 0 and −1 where it is 1, the log-odds are

    l_j + s Σ_c (log p_c(y_c; λ + s W_j) − log p_c(y_c; λ))

over the columns that are observed, where l_j is the unit's own logit. λ and the second sum are kept: a unit costs one
evaluation of the columns and no product of matrices. Where it turns over, λ + s W_j and the first sum take their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.layers import SBN, Mixed
from tfdsmcmc.rows import as_rows
from tfdsmcmc.sweeps.averaged import parents_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.rows import Rows


def takes(factors: Sequence[Any], place: int) -> bool:
    """Whether a variable's children are columns of tables, without inner networks, and its own units independent."""
    children = [factor.layer for factor in factors if factor.parent == place]
    own = [factor.layer for factor in factors if factor.parent != place]
    linear = all(type(layer) is Mixed and not layer.hidden_units for layer in children)
    return bool(children) and linear and all(type(layer) is SBN for layer in own)


def sweep_columns(
    factors: Sequence[Any],
    values: Sequence[tf.Tensor | Rows],
    place: int,
    seed: Seed,
    update: tf.Tensor | None = None,
    chances: bool = False,
) -> list[tf.Tensor]:
    """`gibbs.sweep_any` where `takes(factors, place)`; arguments and results as there."""
    current = as_rows(values[place]).values
    units = current.shape[-1]
    uniform = random.open_uniform([units, tf.shape(current)[0]], seed)
    linear, tables = tf.zeros_like(current), []
    for factor in factors:
        if factor.parent == place:
            tables.append((factor.layer, as_rows(values[factor.child]), factor.power))
        else:
            linear += factor.power * factor.layer.logits(parents_of(factor, values))
    old = tf.transpose(current)

    def densities(parameters):
        return [
            layer.columns_log_factor(rows.values, rows.observed, part)
            for (layer, rows, _), part in zip(tables, parameters, strict=True)
        ]

    def draw_unit(j, parameters, kept, *told):
        sign = 1.0 - 2.0 * old[j]
        moved = [
            part + sign[:, tf.newaxis] * layer.kernel[j] for (layer, *_), part in zip(tables, parameters, strict=True)
        ]
        turned, log_odds = densities(moved), linear[:, j]
        for (*_, power), new, before in zip(tables, turned, kept, strict=True):
            log_odds += sign * power * (new - before)
        chance = tf.sigmoid(log_odds)
        drawn = tf.cast(uniform[j] < chance, chance.dtype)
        if update is not None:
            drawn = tf.where(update[:, j], drawn, old[j])
        turns = drawn != old[j]
        parameters = [tf.where(turns[:, tf.newaxis], *pair) for pair in zip(moved, parameters, strict=True)]
        kept = [tf.where(turns, *pair) for pair in zip(turned, kept, strict=True)]
        return j + 1, parameters, kept, *(array.write(j, part) for array, part in zip(told, (drawn, chance)))

    parameters = [layer.columns_parameters(rows.values, current) for layer, rows, _ in tables]
    told = [tf.TensorArray(current.dtype, units) for _ in range(1 + chances)]
    start = (0, parameters, densities(parameters), *told)
    told = loops.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)[3:]
    return [tf.transpose(array.stack()) for array in told]
