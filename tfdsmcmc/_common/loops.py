"""Loops of TensorFlow, one iteration at a time.

Without XLA TensorFlow begins some ten iterations at once, and knows the loops within each by a hash of their place.
Those of neighbouring iterations may share one where loops stand three deep, the more often the more iterations the
first two have. Then the results of the whole loop are lost without an error. Iterations of one chain wait for each
other anyway: what is lost is that a second thread prepares the next one. XLA has no such hash. The loops of TFP's own
kernels, as of HMC when it anneals, are theirs: they are not many.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest


def while_loop(
    cond: Callable[..., Any],
    body: Callable[..., Any],
    loop_vars: Any,
    shape_invariants: Any = None,
    maximum_iterations: int | tf.Tensor | None = None,
) -> Any:
    """`tf.while_loop`, with `parallel_iterations=1`."""
    limits = {"parallel_iterations": 1, "maximum_iterations": maximum_iterations}
    return tf.while_loop(cond, body, loop_vars, shape_invariants, **limits)


def map_fn(fn: Callable[..., Nest], elems: Nest, fn_output_signature: Nest) -> Any:
    """`tf.map_fn`, with `parallel_iterations=1`."""
    return tf.map_fn(fn, elems, parallel_iterations=1, fn_output_signature=fn_output_signature)
