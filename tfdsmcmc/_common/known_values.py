"""Values of tensors that are known where they are passed: eager ones, and constants of a graph.

TensorFlow, which takes seconds to import, is imported by the call.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Array


def known_value(tensor: tf.Tensor) -> Array | None:
    """The numbers of a tensor in double precision; None where they are not known, as within a loop, or are none.

    A variable has none, as it may change.
    """
    import tensorflow as tf

    value, dtype = tf.get_static_value(tensor), tf.as_dtype(tensor.dtype)
    if value is None or not (dtype.is_floating or dtype.is_integer):
        return None
    return np.asarray(value, np.float64)


def plain(value: object) -> object:
    """A number in place of a scalar tensor or variable whose value is known now, as configurations have it; anything
    else as it is."""
    import tensorflow as tf

    known = known_value(tf.convert_to_tensor(value)) if tf.is_tensor(value) else None
    return value if known is None or known.ndim else float(known)
