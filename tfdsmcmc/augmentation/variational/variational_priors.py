"""The priors of a model's weights as mean-field variational Bayes has them.

    Normal, around 0                        as it is
    StudentT, around 0                      a precision for each weight
    ColumnThreeParameterBetaNormal          as published; without a floor
    ThreeParameterBetaNormal, Horseshoe     scales on a grid
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc.augmentation.variational.grid_scales import GridScales
from tfdsmcmc.augmentation.variational.scale_factors import NormalScales, StudentTScales, ThreeParameterScales
from tfdsmcmc.augmentation.variational.weight_factors import LayerPrior
from tfdsmcmc.priors import ColumnThreeParameterBetaNormal, ThreeParameterBetaNormal

if TYPE_CHECKING:
    from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape
    from tfdsmcmc.priors.prior import Prior

tfd = tfp.distributions


def layer_prior(prior: Prior, shape: LayerShape, names: Sequence[str]) -> LayerPrior:
    """The priors of a layer's weights.

    Args:
      prior: `Prior`.
      shape: `LayerShape`.
      names: of the kernel, the bias and, where there are, the lateral weights.

    Raises:
      ValueError: for a prior that is none of the module's.
    """
    kernel, bias, *lateral = names
    parts = zip(shape.columns, [kernel, lateral[0] if lateral else None, bias])
    return LayerPrior(
        shape,
        [
            (columns, _scales(name, prior.for_weight(name), shape.mask[:, columns], name == bias))
            for columns, name in parts
            if columns.stop > columns.start
        ],
    )


def _scales(name, member, mask, is_bias):
    kind = type(member)
    if kind is ColumnThreeParameterBetaNormal and member.minimum_scale == 0:
        return ThreeParameterScales(member.a, member.b, mask)
    if isinstance(member, ThreeParameterBetaNormal):
        # the one column of a bias
        group = "parent" if is_bias and member.group != "entry" else member.group
        tau_group = "parent" if is_bias and member.global_scale_group != "tensor" else member.global_scale_group
        return GridScales(member, group, mask, tau_group)
    if kind in (tfd.Normal, tfd.StudentT):
        names = ("loc", "scale") if kind is tfd.Normal else ("loc", "df", "scale")
        loc, *values = [tf.get_static_value(getattr(member, part)) for part in names]
        if loc is not None and loc == 0 and all(value is not None for value in values):
            return (NormalScales if kind is tfd.Normal else StudentTScales)(*map(float, values), mask)
    raise ValueError(
        "Variational Bayes needs priors that are normal around 0 given scales: Normal and StudentT of numbers, "
        "ColumnThreeParameterBetaNormal without a floor, Horseshoe and ThreeParameterBetaNormal. "
        f"Received: {'a flat prior' if member is None else member} for the weight {name!r}"
    )
