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
    from tfdsmcmc.layers import StochasticLayer

__all__ = ["from_name", "with_data_layer"]

_KINDS = ("SBN", "DARN", "NADE", "VAE")
_FORM = re.compile(r"\s*(\w+)(?:/(\w+))?(?:\s+(\d+(?:-\d+)*))?\s*", re.ASCII)


_EXCHANGED = (SBN, DARN, NADE)  # the data layers of zeros and ones with a kernel and a bias
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


def with_data_layer(model: DeepGenerativeModel, layer: StochasticLayer) -> DeepGenerativeModel:
    """The same latent layers above another data layer, with weights of their own that are equal at first.

    log p(x_j given x_<j, z) of SBN, DARN and NADE is that of a logit b_j + z B_j + t_j(x_<j, z), with t = 0 of SBN. The
    new layer has the B and b of the old one. Its t is 0 at first: the lateral weights of a DARN are 0, and the hidden
    units of a NADE come in pairs, alike but for the sign of V. With V = 0 a NADE would learn W slowly. So an SBN, and
    the DARN or NADE that takes its place, are one density at first, and from any of them a step to SBN leaves t out.

    Where units of the data depend on each other, they may explain the data before the latent layer does, which then
    stays idle. It has something to say before them if a model is learnt under an SBN first.

    Args:
      model: `DeepGenerativeModel` whose data layer is an SBN, DARN or NADE.
      layer: SBN, DARN or NADE of as many units, such as the data layer of another model. One alike is made of it,
        with none of its weights. It has the name of the old one, by which a prior knows the weights.

    Returns:
      `DeepGenerativeModel`, not compiled, with the prior and the seed of the other, whose weights stay as they are.

    Raises:
      ValueError: for layers of other kinds, or of another number of units.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> first = ds.models.from_name("SBN/NADE 2", units=4)
    >>> model = ds.models.with_data_layer(first, ds.layers.NADE(4, hidden_units=8))
    >>> np.allclose(ds.likelihood.exact(model, np.eye(4)).value, ds.likelihood.exact(first, np.eye(4)).value)
    True
    """
    _check_exchange(model, layer)
    *latent, old = model.generative.layers
    new = _copy(layer, name=old.name)
    generative = _network_of(model.generative, [*map(_copy, latent), new])
    recognition = _network_of(model.recognition, [*map(_copy, model.recognition.layers)])
    found = type(model)(generative, recognition, model.prior, model.seed)
    kept = [*zip(latent, generative.layers), *zip(model.recognition.layers, recognition.layers)]
    pairs = [(old.kernel, new.kernel), (old.bias, new.bias)]
    for theirs, ours in [*pairs, *(pair for one, other in kept for pair in zip(one.weights, other.weights))]:
        ours.assign(theirs)
        ours.trainable = theirs.trainable
    _untie(new)
    return found


def _untie(layer):
    """Makes t = 0, so that units are independent given their parents, and leaves all weights free to learn at once."""
    if isinstance(layer, DARN):
        layer.lateral.assign(np.zeros(layer.lateral.shape))
    if isinstance(layer, NADE):
        pairs = layer.hidden_units // 2
        for part in (layer.encoder, *([layer.hidden_kernel] if layer.parent_units else [])):
            values = part.numpy()
            values[:, pairs : 2 * pairs] = values[:, :pairs]
            part.assign(values)
        v = layer.decoder.numpy()
        v[:, pairs : 2 * pairs], v[:, 2 * pairs :] = -v[:, :pairs], 0.0
        layer.decoder.assign(v)


def _check_exchange(model, layer):
    directed = isinstance(model, DeepGenerativeModel)
    old = model.generative.layers[-1] if directed else model
    if not directed or type(old) not in _EXCHANGED:
        what = "a DeepGenerativeModel whose data layer is SBN, DARN or NADE"
        raise ValueError(f"model must be {what}. Received: {type(old).__name__}")
    if type(layer) not in _EXCHANGED or layer.units != old.units:
        what = f"{type(layer).__name__}, units={getattr(layer, 'units', None)}"
        raise ValueError(f"layer must be an SBN, DARN or NADE of {old.units} units. Received: {what}")


def _copy(layer, **other):
    """A layer alike, without weights."""
    return type(layer).from_config({**layer.get_config(), **other})


def _network_of(network, layers):
    """A network alike, of other layers."""
    return type(network)(**{**network.get_config(), "layers": layers})


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
