"""Machines whose weights were learnt elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.boltzmann.machines.rbm import RBM

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.boltzmann.units import UnitsLike


def rbm_from_arrays(
    kernel: ArrayLike,
    bias: ArrayLike | None = None,
    hidden_bias: ArrayLike | None = None,
    visible: UnitsLike = "binary",
    hidden: UnitsLike = "binary",
    seed: int = 0,
    **further: ArrayLike,
) -> RBM:
    """An `RBM` with given weights, for log Z, samples and log-likelihoods of a machine made elsewhere.

    The weights are those of exp(v'W h + b'v + a'h): others may write the energy, which is minus that, or take kernels
    of hidden × visible units. For spins, v and h of ±1, say `visible="spin", hidden="spin"`; `units.spin` has the
    machine of zeros and ones that is the same.

    Args:
      kernel: W, (D, M), visible × hidden units.
      bias: b, (D,); by default 0.
      hidden_bias: a, (M,); by default 0.
      visible: kind of the visible units, one of `boltzmann.units` or its name.
      hidden: that of the hidden ones.
      seed: of the `RBM`.
      **further: arrays of the parameters that the units have beside their biases, under the names of the weights, such
        as `log_precision`; by default their initial values.

    Raises:
      ValueError: for arrays that do not fit together, entries that are not finite, or names of no weights.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> couplings = np.array([[0.5, -1.0], [0.2, 0.3], [0.0, 1.0]])
    >>> ising = ds.boltzmann.rbm_from_arrays(couplings, visible="spin", hidden="spin")
    >>> round(ds.boltzmann.exact_log_partition(ising), 3)
    4.497
    """
    given = {"kernel": kernel, "bias": bias, "hidden_bias": hidden_bias, **further}
    arrays = {name: _array(name, value) for name, value in given.items() if value is not None}
    if "kernel" not in arrays or arrays["kernel"].ndim != 2 or 0 in arrays["kernel"].shape:
        raise ValueError(f"kernel must be of the shape (visible, hidden units). Received: shape={np.shape(kernel)}")
    _check_orientation(**arrays)
    rbm = RBM(*arrays["kernel"].shape, seed=seed, visible=visible, hidden=hidden)
    variables = dict(rbm.named_weights)
    for name, array in arrays.items():
        if name not in variables:
            raise ValueError(f"The weights of this machine are {list(variables)}. Received: {name}")
        if array.shape != tuple(variables[name].shape):
            raise ValueError(f"{name} must be of the shape {tuple(variables[name].shape)}. Received: {array.shape}")
    for name, array in arrays.items():
        variables[name].assign(array)
    return rbm


def _array(name, value):
    """A float32 array."""
    try:
        array = np.asarray(value).astype(np.float32)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be an array of numbers. Received: {type(value).__name__}") from None
    check_finite(name, [array])
    return array


def _check_orientation(kernel, bias=None, hidden_bias=None, **further):
    """Tells a kernel of hidden × visible units from other mistakes, where the biases say which is which."""
    sizes = tuple(None if part is None else part.shape for part in (bias, hidden_bias))
    turned = kernel.shape[::-1]
    fits = all(size in (None, (n,)) for size, n in zip(sizes, kernel.shape))
    if not fits and all(size in (None, (n,)) for size, n in zip(sizes, turned)):
        raise ValueError(
            f"kernel must be visible × hidden units, {turned} by the biases: transpose it. Received: {kernel.shape}"
        )
