"""The weights of a deep belief network: those of its machines, and recognition weights where it has some of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.boltzmann.deep.lift import Lift
from tfdsmcmc.boltzmann.deep.stack import Stack
from tfdsmcmc.boltzmann.deep.wake_sleep import stack_of
from tfdsmcmc.boltzmann.machines.layer import RecognitionKernels
from tfdsmcmc.boltzmann.partition.exact import machine_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM


class StackWeights:
    """R and W of the machines of a network.

    Args:
      rbms: list of `RBM`, bottom first.

    Attributes:
      own: `RecognitionKernels`, or None where R = W.
    """

    def __init__(self, rbms: Sequence[RBM]):
        self.rbms: list[RBM] = list(rbms)
        self.own: RecognitionKernels | None = None

    @property
    def machines(self) -> list[Machine]:
        """The present weights, a list of `Machine`, bottom first."""
        return [machine_of(rbm) for rbm in self.rbms]

    @property
    def recognition_kernels(self) -> list[keras.Variable]:
        """R^l of all machines but the topmost, a list of variables; W^l where the network has none of its own."""
        return [rbm.kernel for rbm in self.rbms[:-1]] if self.own is None else list(self.own.kernels)

    @property
    def differ(self) -> bool:
        """Whether recognition weights are others than the machines'."""
        pairs = () if self.own is None else zip(self.own.kernels, self.rbms)
        return any(not np.array_equal(kernel, rbm.kernel) for kernel, rbm in pairs)

    def follow(self, level: int) -> None:
        """Sets the recognition weights above a machine to its own, R = W, where the network has some."""
        if self.own is not None and level < len(self.own.kernels):
            self.own.kernels[level].assign(self.rbms[level].kernel)

    @property
    def stack(self) -> Stack:
        """The present weights, a `Stack`."""
        kernels = [kernel.value for kernel in self.recognition_kernels]
        check_finite("the recognition weights", kernels)
        return Stack(self.machines, [tf.cast(kernel, tf.float32) for kernel in kernels])

    def stack_at(self, theta: Sequence[TensorLike]) -> Stack:
        """The `Stack` of a list of tensors in the order of `theta_variables`.

        Hidden biases of lower machines are no weights of a network without recognition weights of its own: they are
        the present ones.
        """
        if self.own is not None:
            return stack_of(theta)
        count = 2 * (len(self.rbms) - 1)
        lower, top = theta[:count], theta[count:]
        present = [rbm.machine.cast(tf.float32) for rbm in self.rbms]
        pairs = zip(lower[::2], lower[1::2], present)
        machines = [own._replace(kernel=kernel, bias=bias) for kernel, bias, own in pairs]
        machines.append(type(present[-1])(*top))
        return Stack(machines, list(lower[::2]))

    @property
    def theta_variables(self) -> list[keras.Variable]:
        """What `fine_tune` learns, in the order of `wake_sleep.stack_of`; without recognition weights that are not the
        network's own."""
        lower = [variable for rbm in self.rbms[:-1] for variable in (rbm.kernel, rbm.bias)]
        own = [] if self.own is None else zip(self.own.kernels, self.rbms)
        recognition = [variable for kernel, rbm in own for variable in (kernel, rbm.hidden_bias)]
        return [*lower, *self.rbms[-1].theta_variables, *recognition]

    @property
    def all_theta(self) -> list[keras.Variable]:
        """θ, whether or not it is frozen."""
        count = len(self.rbms[-1].theta_variables)
        place = 2 * (len(self.rbms) - 1)
        theta = self.theta_variables
        return [*theta[:place], *self.rbms[-1].all_theta, *theta[place + count :]]

    def lift_to(self, level: int) -> Lift | None:
        """The `Lift` from the data to a place in `rbms`; None for the lowest."""
        return Lift(self.rbms[:level], self.recognition_kernels[:level]) if level else None

    def lift_machines(self) -> None:
        """Lets each machine learn from rows drawn up to it."""
        for level, rbm in enumerate(self.rbms):
            rbm.learn_above(self.lift_to(level))

    def separated(self) -> RecognitionKernels:
        """Gives the network recognition weights of its own, as its machines have them."""
        self.own = RecognitionKernels([rbm.units for rbm in self.rbms], name="recognition")
        self.own.build()
        for kernel, rbm in zip(self.own.kernels, self.rbms):
            kernel.assign(rbm.kernel)
        return self.own
