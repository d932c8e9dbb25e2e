"""Several chains of any step: each steps as one alone would, with its own minibatch and seed.

What a step assigns beside its state belongs to a chain too, such as the recognition network and its optimizer. The
variables hold that of chain 0; while another chain takes its turn they hold its values, which the state keeps.
"""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc.training.steps.chains import each_chain, mean_over_chains, of_chain, over_chains, seeds_of, specs_of
from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    import keras
    import numpy as np

    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.rows.source import RandomAccessSource, Source
    from tfdsmcmc.training.feeding.batch import Batch


class SeveralChains(Step):
    """C chains that share nothing but what no step changes. Metrics are means over the chains.

    The part `weights` of a state has those of `step.variables`, then those of `step.beside`; the last part, `assigned`,
    has what else the step assigns.

    Args:
      step: `Step` of one chain.
      num_chains: C, at least 2.
    """

    one: Step
    num_chains: int
    metric_names: tuple[str, ...]
    per_row: tuple[str, ...]
    needs_passes: bool
    fills_gaps: bool
    takes_weights: bool

    def __init__(self, step: Step, num_chains: int):
        self.one, self.num_chains = step, num_chains
        self.variables: list[keras.Variable] = [*step.variables, *step.beside]
        self.metric_names, self.per_row, self.needs_passes = step.metric_names, step.per_row, step.needs_passes
        self.fills_gaps, self.takes_weights = step.fills_gaps, step.takes_weights
        beside = {id(variable) for variable in step.beside}
        self._others = [variable for variable in step.assigned if id(variable) not in beside]

    @property
    def own_variables(self) -> dict[str, keras.Variable | tf.Variable]:
        return self.one.own_variables

    @property
    def phi_follows(self) -> bool:
        return self.one.phi_follows

    def check_rows(self, rows: Source) -> None:
        self.one.check_rows(rows)

    def look_at(self, rows: Source, steps: int) -> None:
        self.one.look_at(rows, steps)

    def init(
        self,
        rows: RandomAccessSource | None,
        seed: Seed,
        weights: Sequence[TensorLike],
        num_rows: Number = 1.0,
        state: Nest = None,
    ) -> Nest:
        own, assigned = (None, None) if state is None else self._apart(state)
        if assigned is None:
            assigned = [tf.stack([tf.convert_to_tensor(v)] * self.num_chains) for v in self._others]

        def begin(weights, state, seed):
            theta, beside = self._split(weights)
            now = [tf.convert_to_tensor(variable) for variable in self.one.beside]
            _assign(self.one.beside, beside)
            try:
                return self.one.init(rows, seed, theta, num_rows, state)
            finally:
                _assign(self.one.beside, now)

        state = each_chain(begin, self.num_chains, seed, weights, own)
        return self._together(state._replace(weights=list(weights)), assigned)

    def step(self, state: Nest, batch: Batch, seed: Seed) -> tuple[Nest, dict[str, tf.Tensor]]:
        state, assigned = self._apart(state)
        _, beside = self._split(state.weights)
        # callbacks may have set what the variables hold for chain 0
        assigned = [tf.concat([tf.convert_to_tensor(v)[tf.newaxis], part[1:]], 0)
                    for v, part in zip(self._others, assigned)]  # fmt: skip
        variables = [*self.one.beside, *self._others]

        def move(state, values, rows, index, counted, seed):
            _assign(variables, values)
            state, metrics = self.one.step(state, batch._replace(rows=rows, index=index, counted=counted), seed)
            return state, [tf.convert_to_tensor(variable) for variable in variables], metrics

        own = state._replace(weights=self._split(state.weights)[0])
        arguments = (own, [*beside, *assigned], batch.rows, batch.index, batch.counted, seeds_of(seed, self.num_chains))
        like = (
            specs_of(own, self.num_chains),
            specs_of([*beside, *assigned], self.num_chains),
            {name: tf.TensorSpec([]) for name in self.metric_names},
        )
        own, values, metrics = over_chains(move, self.num_chains, arguments, like)
        _assign(variables, of_chain(values, 0))
        beside, assigned = values[: len(beside)], values[len(beside) :]
        state = self._together(own._replace(weights=[*own.weights, *beside]), assigned)
        return state, mean_over_chains(metrics, self.num_chains)

    def metric_weight(self, batch: Batch) -> Number:
        return self.one.metric_weight(batch)  # the chains differ in their rows, not in how many count

    def sampled(self, state: Nest) -> bool | tf.Tensor:
        return tf.reduce_all(self.one.sampled(self._apart(state)[0]))

    def started_at(self, state: Nest) -> tuple[list[tf.Tensor], list[tf.Tensor]] | None:
        return self.one.started_at(self._apart(state)[0])

    def first_chain(self, state: Nest) -> tuple[Step, Nest]:
        own, _ = self._apart(state)
        return self.one, of_chain(own._replace(weights=self._split(own.weights)[0]), 0)

    def posterior_draw(self, state: Nest, seed: Seed) -> list[tf.Tensor]:
        own, _ = self._apart(state)
        theta, beside = self._split(own.weights)
        drawn = each_chain(self.one.posterior_draw, self.num_chains, seed, own._replace(weights=theta))
        return [*drawn, *beside]

    def told(self, state: Nest, event: Event, beside: Sequence[TensorLike] | None = None) -> Nest:
        own, assigned = self._apart(state)
        theta, phi = self._split(own.weights)
        before = own._replace(weights=theta)
        told = self.one.told(before, event, phi if beside is None else beside)
        return state if told is before else self._together(told._replace(weights=own.weights), assigned)

    def skipped(self, state: Nest) -> tuple[tf.Tensor, tf.Tensor] | None:
        return self.one.skipped(self._apart(state)[0])

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        return self.one.fresh_weights(seed)

    def _split(self, weights):
        """(those of the one step's variables, those beside them)."""
        count = len(self.one.variables)
        return list(weights[:count]), list(weights[count:])

    def _together(self, state, assigned):
        """The state of the chains with what is assigned as its last part."""
        self._kind = type(state)
        kind = collections.namedtuple(f"{self._kind.__name__}OfChains", [*state._fields, "assigned"])
        return kind(*state, list(assigned))

    def _apart(self, state):
        """(state of the chains as the one step has it, what is assigned)."""
        return self._kind(*state[:-1]), state[-1]


def _assign(variables, values):
    for variable, value in zip(variables, values):
        variable.assign(value)
