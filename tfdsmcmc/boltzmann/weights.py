"""Weights that a density is asked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc._common.finite import check_finite

if TYPE_CHECKING:
    from tfdsmcmc._common.types import ThetaAndPhi
    from tfdsmcmc.training.fitting.learner import Learner


def parts_at(model: Learner, weights: ThetaAndPhi | None, name: str) -> Any:
    """θ as a list of float32 tensors: the model's own, frozen or not, or the first of a pair (θ, φ); checked.

    Args:
      model: with `all_theta`.
      weights: pair of lists of arrays, or None.
      name: what to call them in an error.

    Raises:
      ValueError: for other shapes, or what is not finite.
    """
    variables = model.all_theta
    parts = variables if weights is None else weights[0]
    expected, found = ([tuple(np.shape(part)) for part in group] for group in (variables, parts))
    if found != expected:
        raise ValueError(f"{name} have the shapes {expected}. Received: shapes {found}")
    parts = [tf.cast(tf.convert_to_tensor(part), tf.float32) for part in parts]
    check_finite(name, parts)
    return parts
