"""Greedy learning of a deep belief network: its machines one after the other, from below."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.machines.rbm import RBM
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.rows import source_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.rows.from_users import RowsLike


def fit(
    dbn: DBN,
    x: RowsLike,
    epochs: int | Sequence[int],
    callbacks: Sequence[Callbacks | None] | None,
    tied: bool,
    arguments: dict[str, Any],
) -> list[keras.callbacks.History]:
    """`DBN.fit`; a list of `keras.callbacks.History`."""
    count = len(dbn.rbms)
    epochs = _one_each("epochs", epochs, count)
    callbacks = [None] * count if callbacks is None else _one_each("callbacks", callbacks, count)
    for number in epochs:
        checks.nonnegative_integer("epochs", number)
    for each in callbacks:
        if not (each is None or isinstance(each, (list, tuple, keras.callbacks.CallbackList))):
            raise ValueError(f"callbacks must be a list for each machine. Received: {type(each).__name__} for one")
    for level, rbm in enumerate(dbn.rbms):
        if rbm.lift != dbn.lift_to(level):
            raise ValueError(
                "A machine learns in one network, the last that it was put into. "
                f"Received: the machine at place {level}, which is in another one"
            )
        if tied and level and (rbm.run is None or int(rbm.run.steps) == 0):
            check_tie(dbn.rbms[level - 1], rbm)
    source = source_of("x", x, dbn.units, dbn.support, arguments.pop("mask", None), missing=False)
    dbn.check_rows(source)
    histories = []
    for level, rbm in enumerate(dbn.rbms):
        if rbm.run is None:
            rbm.compile(jit_compile=rbm.uses_xla)
        if tied and level and int(rbm.run.steps) == 0:
            dbn.tie(level)
        histories.append(rbm.fit(source, epochs=epochs[level], callbacks=callbacks[level], **arguments))
        dbn.follow(level)
    return histories


def check_machines(rbms: object) -> None:
    """Raises a ValueError for what does not stack up."""
    kinds = [type(rbm).__name__ for rbm in rbms] if isinstance(rbms, (list, tuple)) else type(rbms).__name__
    if not isinstance(rbms, (list, tuple)) or not rbms or not all(isinstance(rbm, RBM) for rbm in rbms):
        raise ValueError(f"rbms must be a list of one RBM or more, bottom first. Received: {kinds}")
    if len({id(rbm) for rbm in rbms}) < len(rbms):
        raise ValueError("Each machine stands in one place. Received: one of them twice")
    for below, above in zip(rbms, rbms[1:]):
        if above.units != below.hidden_units:
            raise ValueError(
                "Each machine must be as wide as the one below has hidden units. "
                f"Received: {above.units} above {below.hidden_units}"
            )
        if not below.hidden == above.visible == Binary():
            raise ValueError(
                "The units between machines are binary; the lowest visible and the topmost hidden ones may be others. "
                f"Received: {below.hidden!r} below {above.visible!r}"
            )


def check_tie(below: RBM, rbm: RBM) -> None:
    """Raises a ValueError for a machine that cannot begin as the one below upside down."""
    if below.visible != rbm.hidden:
        raise ValueError(
            f"A tied machine has hidden units as the one below has visible ones, {below.visible!r}. "
            f"Received: {rbm.hidden!r}"
        )
    if rbm.hidden_units < below.units:
        raise ValueError(
            f"A tied machine has at least as many hidden units as the one below has visible ones, {below.units}. "
            f"Received: {rbm.hidden_units}"
        )


def _one_each(name, values, count):
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return [values] * count
    if not isinstance(values, (list, tuple)) or len(values) != count:
        raise ValueError(f"{name} must be one for each of the {count} machines. Received: {name}={values!r}")
    return list(values)
