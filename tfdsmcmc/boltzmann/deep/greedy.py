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


def tie(self: DBN, level: int) -> None:
    """Lets a machine start where the network stays as it was without it: W = W_below', b = a_below, a = b_below.

    Further parameters of the units, such as precisions, are those of the machine below too.
    With it the bound of the network is the log-likelihood of the one below, and what the machine learns raises it.
    Hidden units beyond those of the equation keep their own weights. What they add to log p(v) of the machine,
    Σ_j Γ(a_j + Σ_i v_i W_ij), of binary units with Γ(λ) = log(1 + exp λ), is taken off b as if one visible unit were on
    at a time: b_i = a_below,i − Σ_j [Γ(a_j + W_ij) − Γ(a_j)]. Left are products of weights from two visible units,
    which for small random weights have no common sign; large ones change the network.

    Args:
      level: its place in `rbms`, at least 1; it has no fewer hidden units than the one below has visible ones.

    Raises:
      ValueError: for a place that there is not, or other widths.
    """
    if not 0 < checks.positive_integer("level", level) < len(self.rbms):
        raise ValueError(f"level is a place above the first machine. Received: level={level}")
    check_tie(*self.rbms[level - 1 : level + 1])
    below, rbm = self.rbms[level - 1 : level + 1]
    tied, (hidden_bias, *further) = below.units, [part.numpy() for part in rbm.machine.hidden_weights]
    kernel, (added, nothing) = rbm.kernel.numpy(), _cumulants_beyond(rbm, tied)
    kernel[:, :tied] = below.kernel.numpy().T
    for own, part in zip([hidden_bias, *further], below.machine.visible_weights, strict=True):
        own[:tied] = part
    rbm.kernel.assign(kernel)
    rbm.bias.assign(below.hidden_bias.numpy() - (added - nothing))
    names = ["hidden_bias", *(f"hidden_{name}" for name in rbm.hidden.parameters)]
    for name, own in zip(names, [hidden_bias, *further], strict=True):
        dict(rbm.named_weights)[name].assign(own)
    if rbm.run is not None and rbm.run.num_chains > 1:  # the variables are those of chain 0
        rbm.run.move_to([rbm.run.weights[0]] * rbm.run.num_chains)
    self.parts.follow(level)


def fit(
    self: DBN, x: RowsLike | None = None, y: None = None, *, epochs: int | Sequence[int] = 1,
    callbacks: Sequence[Callbacks | None] | None = None, tied: bool = False, **arguments: Any,
) -> list[keras.callbacks.History]:  # fmt: skip
    """Learns the machines one after the other, from below.

    Args:
      x: what `RBM.fit` takes.
      y: must be None.
      epochs: of each machine: an integer, or a list of them, one for each.
      callbacks: a list of lists of Keras callbacks, one for each machine, so that each has folders of its own. With
        `BackupAndRestore` in each an interrupted fit goes on bit for bit.
      tied: whether machines begin as `tie` has it, those that have learnt nothing so far.
      **arguments: of `RBM.fit`, for all machines.

    Returns:
      A list of `keras.callbacks.History`.

    Raises:
      ValueError: for data or counts that do not fit, or a network that was fine-tuned; nothing is changed then.
    """
    checks.no_targets("fit", y)
    if self.fine_tuned:
        raise ValueError(
            "fit learns the machines one by one, before fine_tune learns all of them: call fine_tune, or fit of a "
            "new network, DBN(dbn.rbms). Received: a network whose recognition weights have learnt"
        )
    histories = _fit(self, x, epochs, callbacks, checks.boolean("tied", tied), arguments)
    if self.run is not None:  # which has to begin at what was learnt
        self.compile(**self.fitting.settings)
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


def _cumulants_beyond(rbm, first):
    """Γ of the hidden units from a place on, by float64: with one visible unit on at a time, (D,), and with none."""
    machine = rbm.machine.cast("float64")
    field, *further = (part[first:] for part in machine.hidden_natural)
    if not field.shape[0]:
        return np.zeros(rbm.units), 0.0
    fields = [field + machine.kernel[:, first:], field]
    return [machine.hidden.cumulant(each, *further).numpy() for each in fields]


def _fit(dbn, x, epochs, callbacks, tied, arguments):
    """The machines one after the other; a list of `keras.callbacks.History`."""
    count = len(dbn.rbms)
    epochs = _one_each("epochs", epochs, count)
    callbacks = [None] * count if callbacks is None else _one_each("callbacks", callbacks, count)
    for number in epochs:
        checks.nonnegative_integer("epochs", number)
    for each in callbacks:
        if not (each is None or isinstance(each, (list, tuple, keras.callbacks.CallbackList))):
            raise ValueError(f"callbacks must be a list for each machine. Received: {type(each).__name__} for one")
    for level, rbm in enumerate(dbn.rbms):
        if rbm.lift != dbn.parts.lift_to(level):
            raise ValueError(
                "A machine learns in one network, the last that it was put into. "
                f"Received: the machine at place {level}, which is in another one"
            )
        if not rbm.theta_variables:
            raise ValueError(
                "fit learns all machines: to learn one alone call `rbm.fit` of it. "
                f"Received: the machine at place {level}, which is frozen"
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
        try:
            histories.append(rbm.fit(source, epochs=epochs[level], callbacks=callbacks[level], **arguments))
        finally:  # an interrupted fit has learnt too
            dbn.parts.follow(level)
    return histories


def _one_each(name, values, count):
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return [values] * count
    if not isinstance(values, (list, tuple)) or len(values) != count:
        raise ValueError(f"{name} must be one for each of the {count} machines. Received: {name}={values!r}")
    return list(values)
