"""Kinds of units of a Boltzmann machine's layers, one a file."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import keras

from tfdsmcmc.boltzmann.units.base import Units
from tfdsmcmc.boltzmann.units.binary import Binary
from tfdsmcmc.boltzmann.units.categorical import Categorical
from tfdsmcmc.boltzmann.units.gaussian import Gaussian
from tfdsmcmc.boltzmann.units.spin import Spin

__all__ = ["Binary", "Categorical", "Gaussian", "Spin", "Units", "kind_of"]

UnitName: TypeAlias = Literal["binary", "spin", "gaussian"]
UnitsLike: TypeAlias = Units | UnitName | dict[str, Any]
_NAMED = {"binary": Binary, "spin": Spin, "gaussian": Gaussian}


def kind_of(name: str, value: UnitsLike) -> Units:
    """The kind of units of what a user passes: one, its name or its configuration.

    Args:
      name: what to call it in an error.
      value: `Units`, a name of those without arguments, or what `keras.saving.serialize_keras_object` makes of units.

    Raises:
      ValueError: for something else.
    """
    if isinstance(value, str) and value in _NAMED:
        return _NAMED[value]()
    found = keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value
    if not isinstance(found, Units):
        raise ValueError(
            f"{name} must be units, such as Categorical([3, 2]), or one of {list(_NAMED)}. Received: {name}={value!r}"
        )
    return found
