"""The mode of the posterior, by a Keras optimizer in the interface of the kernels.

    θ ← the optimizer's step for the gradient −g,      T = 0

It climbs the log target: with the gradient of the log posterior to the maximum a posteriori (MAP), with a flat prior
to the maximum likelihood, the point estimate that sampling is compared with.

Keras keeps the state of an optimizer in variables, a kernel keeps its own in the kernel results. So each optimizer
gets variables of the parts' shapes, which serve within a step only: θ and the state are written into them, Keras
applies the gradients, and both are read back. A step thus depends on its arguments alone.
"""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, NamedTuple

import keras
import tensorflow as tf

from tfdsmcmc._common import checks, optimizing
from tfdsmcmc.mcmc import climb_plan
from tfdsmcmc.mcmc.base import StochasticGradientKernel

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, GradientFn, KernelResults, LearningRate, Number, OptimizerLike


class MAPResults(NamedTuple):
    """Kernel results.

    Attributes:
      optimizer_variables: list of the values of `optimizer.variables`: iterations, learning rate where it is a number,
        and slots.
      step: int32 scalar.
      skipped_steps: int32 scalar, the steps whose gradient or new state was not finite.
    """

    optimizer_variables: list[tf.Tensor]
    step: tf.Tensor
    skipped_steps: tf.Tensor


@keras.saving.register_keras_serializable("tfdsmcmc")
class MAP(StochasticGradientKernel):
    """Gradient ascent of the log target with a Keras optimizer; copies share the optimizer.

    A chain begins with the optimizer as it was at the first `bootstrap_results`. To set `optimizer.learning_rate`
    later changes nothing, as the results hold it: use a schedule. Steps that are skipped are none for the optimizer.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      optimizer: `keras.optimizers.Optimizer` that nothing else uses, or its name; an object serves one set of shapes.
      temperature: 0, the only one.

    Raises:
      ValueError: for what is no optimizer or another temperature; on use, for an optimizer that was built before or
        has served a state of other shapes or types, and for a state whose shapes are not all known.

    Example:

    >>> import keras, tensorflow as tf, tfdsmcmc as ds
    >>> kernel = ds.mcmc.MAP(lambda x, seed: [3.0 - x], keras.optimizers.SGD(0.5))
    >>> state = [tf.zeros([2])]
    >>> results = kernel.bootstrap_results(state)
    >>> for step in range(20):
    ...     state, results = kernel.one_step(state, results, seed=step)
    >>> state[0].numpy().round(3).tolist()
    [3.0, 3.0]
    """

    def __init__(
        self,
        gradient_fn: GradientFn | None = None,
        optimizer: OptimizerLike = "adam",
        temperature: Number = 0.0,
        name: str = "map",
    ):
        # in a compiled loop the temperature may be 0/N, a tensor whose value is not known
        known = tf.get_static_value(temperature) if tf.is_tensor(temperature) else temperature
        super().__init__(gradient_fn, temperature, name, optimizer=checks.optimizer(optimizer))
        if known is not None and float(known) != 0.0:
            raise ValueError(f"temperature must be 0, as nothing is drawn. Received: temperature={temperature!r}")

    @property
    def optimizer(self) -> keras.optimizers.Optimizer:
        return self._parameters["optimizer"]

    @property
    def learning_rate(self) -> LearningRate:
        """The optimizer's, a number or a schedule."""
        optimizer = getattr(self.optimizer, "inner_optimizer", self.optimizer)  # of one that scales the loss
        rate = optimizer.get_config()["learning_rate"]
        return keras.saving.deserialize_keras_object(rate) if isinstance(rate, dict) else rate

    def latent_power(self, kernel_results: KernelResults, warm_up: int) -> Number:
        return climb_plan.latent_power(kernel_results.step, warm_up)

    def get_config(self) -> Config:
        return {**super().get_config(), "optimizer": keras.optimizers.serialize(self.optimizer)}

    def _step_size(self, step):
        """None: the optimizer knows its own."""
        return None

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        return MAPResults(optimizer_variables=list(_workspace(self.optimizer, parts).start), **counts)

    def _update(self, parts, gradients, results, step_size, seed):
        workspace = _workspace(self.optimizer, parts)
        variables = self.optimizer.variables
        if len(results.optimizer_variables) != len(variables):
            raise ValueError(
                f"The results must be of an equal optimizer, of {len(variables)} variables. "
                f"Received: {len(results.optimizer_variables)} variables"
            )
        _write([*workspace.variables, *variables], [*_filled(parts, parts), *results.optimizer_variables])
        optimizing.apply(self.optimizer, [-g for g in _filled(gradients, parts)], workspace.variables)
        moved = iter(_read(workspace.variables))
        new_parts = [next(moved) if _is_filled(part) else part for part in parts]
        return new_parts, results._replace(optimizer_variables=_read(variables))


class _Workspace(NamedTuple):
    """Where an optimizer works: variables for the parts that have entries, (shape, type) of all the parts, and the
    values of the optimizer's own variables when it was new."""

    variables: list
    kinds: list
    start: list


_WORKSPACES = weakref.WeakKeyDictionary()  # of the optimizers in use


def _workspace(optimizer, parts):
    """The workspace of an optimizer, made on its first use; a ValueError if it does not fit the parts."""
    if not all(part.shape.is_fully_defined() for part in parts):
        raise ValueError(f"The shapes of the state must be known. Received: {[part.shape for part in parts]}")
    kinds = [(tuple(part.shape), part.dtype.name) for part in parts]
    if optimizer not in _WORKSPACES:
        if optimizer.built:
            raise ValueError(f"optimizer must be new, used by nothing else. Received: {optimizer.name!r}, built before")
        with tf.init_scope():  # variables outlive the function that is traced, if one is
            variables = [keras.Variable("zeros", *kind, name="part") for kind in _filled(kinds, parts)]
            optimizer.build(variables)
            _WORKSPACES[optimizer] = _Workspace(variables, kinds, _read(optimizer.variables))
    found = _WORKSPACES[optimizer]
    if kinds != found.kinds:
        raise ValueError(f"optimizer serves a state of the parts {found.kinds} alone. Received: {kinds}")
    return found


def _is_filled(part):
    """Whether a part has entries: Keras' optimizers do not all take a shape like (0, 3)."""
    return 0 not in part.shape


def _filled(values, parts):
    return [value for value, part in zip(values, parts) if _is_filled(part)]


def _write(variables, values):
    for variable, value in zip(variables, values):
        variable.assign(value)


def _read(variables):
    return [tf.identity(variable.value) for variable in variables]
