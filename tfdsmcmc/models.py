"""The architectures of the papers, by the names that the papers give them.

"SBN/NADE 200-100" is a generative network of SBN layers and a recognition network of NADE layers, with 200 latent
units next to the data and 100 above them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.layers import DARN, NADE, SBN, MLPBernoulli, MLPGaussian
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike

__all__ = ["from_name"]

_KINDS = ("SBN", "DARN", "NADE", "VAE")
_FORM = re.compile(r"\s*(\w+)(?:/(\w+))?(?:\s+(\d+(?:-\d+)*))?\s*", re.ASCII)


_WIDEST = 1_000_000  # units of a layer: beyond it the weights of two layers fill any memory


def from_name(
    name: str,
    /,
    units: int,
    hidden_units: int | Sequence[int] = 200,
    data_logits: TensorLike | None = None,
    **arguments: Any,
) -> DeepGenerativeModel:
    """A model by its name in the papers: "P-model/Q-model sizes", nearest to the data first.

    The kinds of layers are SBN, DARN, NADE and VAE. VAE stands for continuous latent layers, `MLPGaussian`, below a
    standard normal top and above a data layer `MLPBernoulli`; it goes with itself alone. "SBN 200" is "SBN/SBN 200". A
    kind without sizes is its layer alone, without latent variables: "NADE" is the plain NADE, "DARN" the fully visible
    sigmoid belief network, "SBN" a product of Bernoulli distributions.

    Args:
      name: such as "SBN/SBN 200-200".
      units: D, the width of the data.
      hidden_units: hidden units of each NADE layer, and of the one inner layer of each VAE layer; a list for the widths
        of several inner layers of VAE layers, the one next to the parents first.
      data_logits: (D,), where the bias of the data layer starts, such as the log-odds of the mean of the data; by
        default 0.
      **arguments: of `DeepGenerativeModel`, such as `prior` and `seed`.

    Returns:
      `DeepGenerativeModel`.

    Raises:
      ValueError: if the name has another form, or a size is out of range.

    Example:

    >>> import tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN/NADE 20-10", units=64)
    >>> [type(layer).__name__ for layer in model.generative.layers], model.generative.latent_units
    (['SBN', 'SBN', 'SBN'], [20, 10])
    """
    generative_kind, recognition_kind, sizes = _parsed(name)
    units = checks.positive_integer("units", units)
    if (largest := max([units, *sizes])) > _WIDEST:
        raise ValueError(f"A layer has at most {_WIDEST:,} units. Received: one of {largest:,} units")
    inner_layers = isinstance(hidden_units, (list, tuple)) and generative_kind == "VAE"
    if not inner_layers:  # the layers check those of a list
        hidden_units = checks.positive_integer("hidden_units", hidden_units)
    bias = "zeros" if data_logits is None else keras.initializers.Constant(_checked_logits(data_logits, units))
    data_layer = MLPBernoulli if generative_kind == "VAE" else _layer_class(generative_kind)
    inner = _inner(generative_kind, hidden_units)
    latent = [_layer_class(generative_kind)(size, **inner) for size in reversed(sizes)]
    recognition = [_layer_class(recognition_kind)(size, **_inner(recognition_kind, hidden_units)) for size in sizes]
    return DeepGenerativeModel(
        generative=GenerativeNetwork([*latent, data_layer(units, bias_initializer=bias, **inner)]),
        recognition=RecognitionNetwork(recognition),
        **arguments,
    )


def _parsed(name):
    """(P, Q, sizes) of a name."""
    match = _FORM.fullmatch(name) if isinstance(name, str) else None
    kinds = match and (match[1], match[2] or match[1])
    fits = match and set(kinds) <= set(_KINDS) and len({kind == "VAE" for kind in kinds}) == 1
    if not fits or not (match[3] or match[2] is None and kinds[0] != "VAE"):
        raise ValueError(
            f"A name is P-model/Q-model sizes, such as 'SBN/SBN 200-200', of the kinds {list(_KINDS)}; VAE goes with "
            f"VAE alone. Received: name={name!r}"
        )
    sizes = match[3].split("-") if match[3] else []
    return *kinds, [checks.positive_integer("a size", int(size)) for size in sizes]


def _checked_logits(logits, units):
    try:
        array = np.asarray(logits, np.float32)
    except (TypeError, ValueError):
        array = np.full(0, np.nan)
    if array.shape != (units,) or not np.isfinite(array).all():
        raise ValueError(f"data_logits must be {units} finite numbers. Received: data_logits={logits!r}")
    return array


def _layer_class(kind):
    return {"SBN": SBN, "DARN": DARN, "NADE": NADE, "VAE": MLPGaussian}[kind]


def _inner(kind, hidden_units):
    widths = list(hidden_units) if isinstance(hidden_units, (list, tuple)) else [hidden_units]
    return {"NADE": {"hidden_units": hidden_units}, "VAE": {"hidden_units": widths}}.get(kind, {})
