"""A warm start: an optimizer climbs the likelihood, then a kernel samples from where it stands.

    θ ← the optimizer's step for the gradient −g        before the step at which sampling begins, the prior left out
    θ ← the kernel's step along g                       from it on

A chain that starts at small random weights under a prior of unknown scales may stay near zero for good: small weights
make for small scales, and these keep the weights small. Weights that explain the data do not. What the optimizer does
is forgotten, as any beginning of a chain is: from the step at which sampling begins the kernel's law is its own, its
momentum drawn at that temperature, its step count and its schedules from 0.

Sampling begins at a step that is known from the start (`updates`); or after a part (`fraction`) of the updates that the
first `fit` plans at its beginning, half of them by default, and earlier where an attempt has no new best look at
validation rows for as long as there is `patience`; or where a callback asks for it by `model.run.end_climb()`. A later
`fit` plans anew where the climb would not end in it. Without `updates` it begins at the weights that were best on
validation rows, where there were any (of several chains, all at theirs of the step that was best for the first). A last
step goes back to them, unless annealing finds that the present ones are better: then the climb goes on
(`model.second_look`). `fraction` is rounded down to epochs that end with a look at validation rows.

By default the rate and the patience of the climb go by its plan (`climb_plan.py`). A climb that turns within twenty
epochs begins anew at a quarter of the rate (`climb_attempts.py`). An optimizer that is given keeps its own rate, unless
that is a `mcmc.schedules.RiseAndFall`. Where a climb takes a small part of its plan, others from new weights may follow
(`climbs`, see `training.climbs`): sampling begins at the best weights of all.

The rate at which the kernel then samples is each entry's own, as the noise of its gradient permits
(`mcmc.rates_by_noise`): s² is estimated from the first step on, the law of θ is the same.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Literal

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc._common.chosen import chosen
from tfdsmcmc.mcmc import climb_attempts, climb_plan
from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.map import MAP
from tfdsmcmc.mcmc.rates_by_noise import checked_tolerance, noise_after, product, scales
from tfdsmcmc.mcmc.warm_start_results import NEVER, WarmStartResults, steps_of, told

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import (
        Config,
        GradientFn,
        KernelResults,
        LearningRate,
        Nest,
        Number,
        OptimizerLike,
        Seed,
    )
    from tfdsmcmc.mcmc.events import Event


@keras.saving.register_keras_serializable("tfdsmcmc")
class WarmStart(StochasticGradientKernel):
    """An optimizer first, then a kernel that samples.

    Args:
      gradient_fn: gradient of the log target, see `StochasticGradientKernel`.
      kernel: the kernel that samples, without a gradient of its own.
      optimizer: `keras.optimizers.Optimizer` that nothing else uses, or its name; by default Adam, as the plan has it.
      updates: steps of the optimizer; None for as long as the validation log-likelihood rises, and at most a
        `fraction` of the updates of the first `fit`; without a `fit`, with a `gradient_fn`, a number is needed.
      patience: with `updates=None`, how many updates without a new best look of the present attempt end the climb;
        "auto" for the median of 5 epochs, 1,000 updates and 50 epochs.
      fraction: with `updates=None`, how large a part of the updates of the first `fit` the climb may last, between 0
        and 1; rounded down to whole updates, or to the last look at validation rows in it and one update more.
      climbs: with `updates=None` and an optimizer that goes by the plan, how many climbs from new weights one chain
        makes at most, one after the other, where their looks at validation rows turn in a small part of the plan.
      temperature: T of the kernel; by default as it stands.
      noise_tolerance: h, the larger the faster and the further from the posterior; "auto" for that of the kernel, if it
        has one; None for the kernel's ℓ for all entries, whatever the noise.

    Raises:
      ValueError: for what is no kernel or no optimizer, numbers out of range, or an h of a kernel that has none.

    Example:

    >>> import keras, tensorflow as tf, tfdsmcmc as ds
    >>> sampler, adam = ds.mcmc.SGHMC(learning_rate=0.1), keras.optimizers.Adam(1.0)
    >>> kernel = ds.mcmc.WarmStart(lambda x, seed: [100.0 - x], sampler, adam, updates=300)
    >>> state = [tf.zeros([])]
    >>> results = kernel.bootstrap_results(state)
    >>> for step in range(300):
    ...     state, results = kernel.one_step(state, results, seed=step)
    >>> bool(abs(state[0] - 100.0) < 1.0), bool(kernel.samples(results))
    (True, True)
    """

    def __init__(
        self, gradient_fn: GradientFn | None = None, kernel: StochasticGradientKernel | None = None,
        optimizer: OptimizerLike | None = None, updates: int | None = None, patience: int | Literal["auto"] = "auto",
        temperature: Number | None = None, name: str = "warm_start", fraction: float = 0.5,
        noise_tolerance: float | Literal["auto"] | None = "auto", climbs: int = 1,
    ):  # fmt: skip
        if not isinstance(kernel, StochasticGradientKernel) or isinstance(kernel, (MAP, WarmStart)):
            raise ValueError(f"kernel must be a kernel that samples, such as SGHMC(). Received: kernel={kernel!r}")
        if kernel.gradient_fn is not None:
            raise ValueError(f"gradient_fn is the warm start's, for both. Received: gradient_fn={kernel.gradient_fn!r}")
        climb_plan.check_steps(updates, patience)
        noise_tolerance = checked_tolerance(noise_tolerance, kernel.name, kernel.noise_tolerance)
        optimizer = climb_plan.default_optimizer() if optimizer is None else optimizer
        kernel = kernel.copy(temperature=kernel.temperature if temperature is None else temperature)
        self._climber = MAP(optimizer=optimizer)
        super().__init__(
            gradient_fn,
            kernel.temperature,
            name,
            kernel=kernel,
            optimizer=self._climber.optimizer,
            updates=updates,
            patience=patience,
            fraction=checks.fraction("fraction", fraction),
            noise_tolerance=noise_tolerance,
            climbs=checks.positive_integer("climbs", climbs),
        )

    _sampling = None  # whether it samples, where that is `known`

    @property
    def kernel(self) -> StochasticGradientKernel:
        return self._parameters["kernel"]

    @property
    def optimizer(self) -> keras.optimizers.Optimizer:
        return self._parameters["optimizer"]

    @property
    def patience(self) -> int | Literal["auto"]:
        return self._parameters["patience"]

    @property
    def fraction(self) -> float:
        return self._parameters["fraction"]

    @property
    def noise_tolerance(self) -> float | Literal["auto"] | None:
        """As it was given."""
        return self._parameters["noise_tolerance"]

    @property
    def tolerance(self) -> Number | None:
        """h; None where one ℓ serves all entries."""
        return self.kernel.noise_tolerance if isinstance(self.noise_tolerance, str) else self.noise_tolerance

    @property
    def adapts_to_gradient_noise(self) -> bool:
        return self.tolerance is not None or self.kernel.adapts_to_gradient_noise

    @property
    def learning_rate(self) -> LearningRate:
        """That of the kernel that samples, which no entry exceeds."""
        return self.kernel.learning_rate

    def learning_rate_of(self, kernel_results: KernelResults) -> tf.Tensor:
        return self.kernel.learning_rate_of(kernel_results.sampler)

    @property
    def climbs_first(self) -> bool:
        return True

    @property
    def most_climbs(self) -> int:
        return self._parameters["climbs"] if self._goes_by_plan else 1

    @property
    def _goes_by_plan(self):
        return self._parameters["updates"] is None and climb_plan.planned_rate(self._climber) is not None

    def climb_of(self, kernel_results: KernelResults) -> tuple[int, int, float]:
        return int(kernel_results.step), int(kernel_results.begins), float(kernel_results.best)

    def latent_power(self, kernel_results: KernelResults, warm_up: int) -> Number:
        climbed, planned_steps = kernel_results.climb.step, steps_of(kernel_results)
        power = 1.0 if self._sampling else climb_plan.latent_power(climbed, warm_up, planned_steps)
        return power if self._sampling is not None else tf.where(self.samples(kernel_results), 1.0, power)

    def known(self, sampling: bool) -> Self:
        twin = copy.copy(self)  # with the same kernel and optimizer
        twin._sampling = sampling
        return twin

    def samples(self, kernel_results: KernelResults) -> tf.Tensor:
        return kernel_results.step >= kernel_results.begins

    def sampled(self, kernel_results: KernelResults) -> tf.Tensor:
        return kernel_results.sampler.step > 0

    def best_step(self, kernel_results: KernelResults) -> tf.Tensor | None:
        return kernel_results.best_step

    def goes_back(self, before: KernelResults, after: KernelResults) -> tf.Tensor:
        ends = (before.step < after.begins) & (after.step >= after.begins) & (after.best_step > 0)
        return ends | climb_attempts.begins_climb(before, after) if after.attempt else ends

    def started_at(self, kernel_results: KernelResults) -> list[tf.Tensor] | None:
        return list(kernel_results.best_state) if np.all(kernel_results.best_step > 0) else None

    def told(self, event: Event, kernel_results: KernelResults, state: Nest) -> KernelResults:
        return told(kernel_results, event, state, self._parameters["updates"], self.fraction, self.patience_of)

    def patience_of(self, epoch_steps: int | None = None) -> int:
        """How many updates without a new best look of the present attempt end the climb.

        Args:
          epoch_steps: u, the updates of an epoch, or None where that is not known.
        """
        return climb_plan.patience_of(epoch_steps) if self.patience == "auto" else self.patience

    def integrate(
        self, gradient_fn: GradientFn, state: Nest, previous_kernel_results: KernelResults, seed: Seed
    ) -> tuple[Nest, KernelResults, Nest]:
        new_state, results, aux = super().integrate(gradient_fn, state, previous_kernel_results, seed)
        if self._sampling:
            return new_state, results, aux
        back = (results.step == results.begins) & (results.best_step > 0)
        parts = chosen(back, results.best_state, tf.nest.flatten(new_state))
        if results.attempt:
            parts, results = climb_attempts.begun_anew(self._climber, parts, results)
        return tf.nest.pack_sequence_as(new_state, parts), results, aux

    def kinetic_temperature(self, kernel_results: KernelResults) -> tf.Tensor:
        of_kernel = self.kernel.kinetic_temperature(kernel_results.sampler)
        return tf.where(kernel_results.sampler.step > 0, of_kernel, tf.ones_like(of_kernel))

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "kernel": keras.saving.serialize_keras_object(self.kernel),
            "optimizer": keras.optimizers.serialize(self.optimizer),
        }

    @classmethod
    def from_config(cls, config: Config) -> Self:
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in ("kernel", "optimizer")}
        before = {"noise_tolerance": None}  # what was saved before kernels had one
        return cls(**{**before, **config, **parts})

    def _step_size(self, step):
        """None: each of the two knows its own."""
        return None  # said, as AutoGraph warns of a function without a statement

    def _bootstrap(self, init_state, parts, step_size, seed, **counts):
        updates = self._parameters["updates"]
        if updates is None and self.gradient_fn is not None:
            climb_plan.warn_of_no_end()
        return WarmStartResults(
            climb=self._climber._bootstrap(init_state, parts, None, seed, **counts),
            sampler=self.kernel._bootstrap(init_state, parts, self.kernel._step_size(counts["step"]), seed, **counts),
            begins=tf.constant(NEVER if updates is None else updates, tf.int32),
            best=tf.constant(tf.float32.min),  # finite, as all that a step keeps is
            best_step=tf.zeros([], tf.int32),
            best_state=[tf.identity(part) for part in parts],
            gentle=tf.ones([]),
            attempt=climb_attempts.first_attempt(parts) if self._goes_by_plan else (),
            **counts,
            **{name: [tf.zeros_like(part) for part in parts] for name in self._of_noise},
        )

    @property
    def _of_noise(self):
        return () if self.tolerance is None else ("noise_variance", "previous_gradient")

    def _update(self, parts, gradients, results, step_size, seed):
        def sample():
            own, widths = results.sampler, self._scales(results)
            scaled = [part / width for part, width in zip(parts, widths)], product(gradients, widths)
            moved, new = self.kernel._update(*scaled, own, self.kernel._step_size(own.step), seed)
            return product(moved, widths), results._replace(sampler=new._replace(step=own.step + 1))

        def climb():
            own = results.climb
            moved, new = self._climber._update(parts, gradients, own, None, seed)
            moved = climb_plan.shortened(self._climber, parts, moved, own.step, steps_of(results), results.gentle)
            return moved, results._replace(climb=new._replace(step=own.step + 1))

        forms = {None: lambda: tf.cond(self.samples(results), sample, climb), True: sample, False: climb}
        moved, new = forms[self._sampling]()
        return moved, new._replace(**self._noise(gradients, results))

    def _noise(self, gradients, results):
        """What of the results tells the noise, after one more gradient; a dict, empty where nobody asks."""
        if self.tolerance is None:
            return {}
        counted = results.step - results.skipped_steps, results.sampler.step
        variances = noise_after(results.noise_variance, gradients, results.previous_gradient, *counted)
        return {"noise_variance": variances, "previous_gradient": list(gradients)}

    def _scales(self, results):
        """D of each part."""
        if self.tolerance is None:
            return [tf.ones([], part.dtype) for part in results.best_state]
        return scales(results.noise_variance, self.tolerance, *self.kernel._step_size(results.sampler.step))
