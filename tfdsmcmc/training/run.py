"""A run: the state of a step, kept in variables, counted, saved, and advanced many steps at a time.

A run knows no method. Its state is whatever the step makes of it, with the weights of the model as the first part. A
run of C > 1 chains keeps the weights of all of them; those of chain 0, and of a single chain, are the model's own
variables, which callbacks may set between blocks.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling, loops
from tfdsmcmc.mcmc.events import ClimbEnds, Planned, Validated
from tfdsmcmc.training.climbs import Climbs
from tfdsmcmc.training.feeding.batch import Block
from tfdsmcmc.training.steps.chains import of_chain
from tfdsmcmc.training.steps.step import Step

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, TensorLike
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.rows.source import RandomAccessSource

_LOOKS = 5  # of validation, fewer since the best are no reason to look again


class Run(tf.Module):
    """Keeps the state of a step; it changes in `advance` alone, which runs many steps as one program.

    Chain 0 starts at the model's present weights. Another one goes on from where it stands in `follows`, and starts at
    `step.fresh_weights` where it is not there.

    Args:
      step: `Step`.
      seed: stateless seed of the run.
      jit_compile: whether `advance` is compiled with XLA.
      follows: an earlier run on the same weights, whose counts go on, so that no draw is repeated; or None.

    Attributes:
      num_chains: C.
      steps: int64 variable, the minibatches learnt from so far.
      epochs: int64 variable, the epochs completed.
      epochs_begun: int64 variable, those of `follows`, before the run began.
      epochs_before: int64 variable, those before the present fit, less the number at which it was told to start.
      refits: int64 variable, how often φ was fitted at fixed θ.
      identity: int64 variable, a number that tells this run, saved and resumed as it may be, from any other.
      num_rows: float variable, N; 0 before the first fit.
      rows: int64 variable, a checksum of the rows that the parts of the state for each row belong to.
      climbs: `Climbs` of a chain that may make several, or None.
      means: Keras metrics, the means of the step's metrics over the steps since they were reset and over the chains.
    """

    step: Step
    num_chains: int
    steps: tf.Variable
    epochs: tf.Variable
    refits: tf.Variable
    climbs: Climbs | None
    means: list[keras.metrics.Mean]

    def __init__(self, step: Step, seed: tf.Tensor, jit_compile: bool, follows: Run | None = None):
        super().__init__(name="run")
        self.step, self.num_chains = step, step.num_chains
        # a variable, so that one program serves runs of other seeds; of int64, as int32 stays off a GPU
        self._seed = tf.Variable(tf.cast(seed, tf.int64), trainable=False, name="seed")
        counts = (0, 0, 0) if follows is None else (int(follows.steps), int(follows.epochs), int(follows.refits))
        self.steps, self.epochs, self.refits = (tf.Variable(np.int64(n), trainable=False) for n in counts)
        self.identity: tf.Variable = tf.Variable(np.int64(secrets.randbits(62)), trainable=False, name="identity")
        self.epochs_begun: tf.Variable = tf.Variable(np.int64(counts[1]), trainable=False, name="epochs_begun")
        self.epochs_before: tf.Variable = tf.Variable(np.int64(0), trainable=False, name="epochs_before")
        self.num_rows: tf.Variable = tf.Variable(0.0, trainable=False, name="num_rows")
        self.rows: tf.Variable = tf.Variable(np.int64(0), trainable=False, name="rows")
        self.means = [keras.metrics.Mean(name=name, dtype="float64") for name in step.metric_names]
        # of all chains, where there are several; what stands here for chain 0 is a copy of the model's variables
        self._weights = [tf.Variable(part, trainable=False) for part in self._initial_weights(follows)]
        state = step.init(None, self._seed_of_beginning(), self._all_weights())
        self._pack = _packer(state)
        self._parts = {
            name: [self._variable(name, part) for part in tf.nest.flatten(getattr(state, name))]
            for name in state._fields[1:]
        }
        several = step.num_chains == 1 and step.most_climbs > 1
        self.climbs = Climbs(step, [*step.variables, *step.beside]) if several else None
        self._own_variables = list(step.own_variables.values())  # tf.train.Checkpoint finds them here
        self._advance = compiling.program(self._many_steps, jit_compile)

    @property
    def seed(self) -> tf.Tensor:
        """The stateless seed of the run."""
        return tf.cast(self._seed, tf.int32)

    def take_over(self, other: Run) -> None:
        """Becomes another run of an equal step: its state, counts, identity and seed; the model's weights apart."""
        for mine, theirs in zip(self._everything, other._everything, strict=True):
            mine.assign(theirs)

    @property
    def _everything(self):
        return [*self.saved.values(), self.rows, self._seed]

    @property
    def state(self) -> Nest:
        """The state, a named tuple of tensors."""
        return self._pack(self._all_weights(), self._parts)

    @property
    def weights(self) -> list[list[np.ndarray]]:
        """The weights of each chain, a list of lists of arrays, in the order of the step's variables."""
        return self._by_chain(self._all_weights())

    @property
    def posterior_draw(self) -> list[list[np.ndarray]]:
        """The weights of a posterior sample of each chain at the present step, as `weights`; always the same ones.

        What a step keeps of a sample beside the weights comes after them.
        """
        seed = random.fold(random.stream(self.seed, "posterior draw"), self.steps)
        return self._by_chain(self.step.posterior_draw(self.state, seed))

    @property
    def saved(self) -> dict[str, keras.Variable | tf.Variable]:
        """Named variables that a saved run needs besides what Keras saves, the model's weights and the optimizer."""
        counts = {"steps": self.steps, "epochs": self.epochs, "refits": self.refits}
        counts |= {"epochs_begun": self.epochs_begun, "epochs_before": self.epochs_before}
        counts |= {"identity": self.identity, "num_rows": self.num_rows}
        parts = {"weights": self._weights, **self._parts}
        named = {f"{name}_{i}": v for name, variables in parts.items() for i, v in enumerate(variables)}
        rows = {"carried_rows": self.rows} if self.step.per_row else {}
        climbs = {} if self.climbs is None else self.climbs.saved
        return {**counts, **named, **self.step.own_variables, **rows, **climbs}

    def move_to(self, weights: Sequence[Sequence[np.ndarray]]) -> None:
        """Sets the weights of all chains but chain 0, whose weights are the model's.

        Args:
          weights: those of each chain, as the property has them.
        """
        for variable, *parts in zip(self._weights, *weights, strict=True) if self.num_chains > 1 else ():
            variable.assign(np.stack(parts))

    def begin(self, source: RandomAccessSource | None, num_rows: float) -> None:
        """Sets N, and lets the state begin with these rows; parts for each row stay if they are of these rows already.

        Args:
          source: the rows, or None where they have no random access.
          num_rows: N.
        """
        self.num_rows.assign(float(num_rows))
        checksum = source.checksum if self.step.per_row and source is not None else 0
        same = not self.step.per_row or checksum == int(self.rows)
        rows = None if same else source
        state = self.step.init(rows, self._seed_of_beginning(), self._all_weights(), float(num_rows), self.state)
        self._set_parts(state)
        self.rows.assign(checksum)

    @property
    def sampled(self) -> bool:
        """Whether the weights may be a posterior sample, not one of an optimizer's before the chain."""
        return bool(self.step.sampled(self.state))

    def tell(self, event: Event) -> None:
        """Tells the step of an event of the run (`mcmc.events`)."""
        state = self.state
        told = self.step.told(state, event)
        if self.climbs is not None:
            told = self.climbs.after(event, state, told, self._seed_of_beginning())
        if told is not state:
            self._set_parts(told)

    def plan(self, steps: int | None, epoch_steps: int | None = None, looks: Sequence[int] = ()) -> None:
        """Tells the step how many steps a fit will make, and an epoch of it, None where that is not known; and after
        which of its epochs validation looks."""
        self.tell(Planned(steps, epoch_steps, int(self.num_rows), looks))

    def end_climb(self) -> None:
        """Ends a climb: the next step samples, or that after it where the next goes back to the best weights."""
        self.tell(ClimbEnds())

    def validated(
        self,
        log_likelihood: float,
        epoch_steps: int | None = None,
        outdoes: Callable[[Sequence[TensorLike], Sequence[TensorLike]], bool] | None = None,
    ) -> None:
        """Tells the step what the validation data are worth.

        Args:
          log_likelihood: their mean, in nats.
          epoch_steps: how many steps an epoch has, where that is known.
          outdoes: function (θ, φ) → whether the present weights are better than these. Where they are, the step does
            not go back to those of five epochs ago or more that it was told were better.
        """
        event = Validated(tf.constant(log_likelihood, tf.float32), epoch_steps)
        if outdoes is not None:
            step, state = self.step.first_chain(self.step.told(self.state, event))
            best = step.leaves_for(state, _LOOKS * (epoch_steps or 1))
            event = event._replace(better=best is not None and outdoes(*best))
        self.tell(event)

    def advance(self, block: Block) -> None:
        """Runs the steps of a block."""
        self._advance(block.tensors())

    def _set_parts(self, state):
        """Keeps all of a state but the weights."""
        for name, variables in self._parts.items():
            for variable, value in zip(variables, tf.nest.flatten(getattr(state, name)), strict=True):
                variable.assign(value)

    def _variable(self, name, value):
        """A variable for a tensor of the state; parts for each row take any number of rows."""
        if name not in self.step.per_row:
            return tf.Variable(value, trainable=False)
        rows = 0 if self.num_chains == 1 else 1
        shape = [None if axis == rows else size for axis, size in enumerate(value.shape)]
        return tf.Variable(value, shape=shape, trainable=False)

    def _seed_of_beginning(self):
        """The seed of what begins at the present step: a later beginning draws anew."""
        return random.fold(self.seed, self.steps)

    def _by_chain(self, weights):
        """Arrays of the weights of each chain, a list of lists."""
        weights = [np.asarray(part) for part in weights]
        return [weights] if self.num_chains == 1 else [[part[c] for part in weights] for c in range(self.num_chains)]

    def _all_weights(self):
        """The weights, of several chains with a leading axis C."""
        first = [tf.convert_to_tensor(v) for v in self.step.variables]
        if self.num_chains == 1:
            return first
        return [tf.concat([part[tf.newaxis], rest[1:]], 0) for part, rest in zip(first, self._weights, strict=True)]

    def _initial_weights(self, follows):
        """The weights of all chains where there are several, else nothing."""
        if self.num_chains == 1:
            return []
        variables = self.step.variables
        weights = [[variable.numpy() for variable in variables]]
        seed = random.stream(self._seed_of_beginning(), "initial weights")
        known = [] if follows is None else follows.weights
        for c in range(1, self.num_chains):
            fresh = self.step.fresh_weights(random.fold(seed, c))
            # by variable: other layers may have been frozen meanwhile
            own = {id(v): part for v, part in zip(follows.step.variables, known[c])} if c < len(known) else {}
            weights.append([own.get(id(v), part) for v, part in zip(variables, fresh, strict=True)])
        return [np.stack(parts) for parts in zip(*weights, strict=True)]

    def _many_steps(self, block):
        stream = random.stream(self.seed, "step")
        first, num_rows = tf.convert_to_tensor(self.steps), tf.convert_to_tensor(self.num_rows)

        def body(i, state, weight, totals):
            seed, batch = random.fold(stream, first + tf.cast(i, tf.int64)), block.batch(i, num_rows)
            state, metrics = self.step.step(state, batch, seed)
            own = tf.cast(self.step.metric_weight(batch), tf.float64)
            metrics = {name: own * tf.cast(value, tf.float64) for name, value in metrics.items()}
            return i + 1, state, weight + own, {name: total + metrics[name] for name, total in totals.items()}

        # in float64: of a sum of a million numbers near −100, float32 keeps multiples of 8
        zero = tf.zeros([], tf.float64)
        start = (tf.constant(0), self.state, zero, {name: zero for name in self.step.metric_names})
        _, state, weight, totals = loops.while_loop(lambda i, *_: i < block.count, body, start)
        weights = state.weights if self.num_chains == 1 else of_chain(state.weights, 0)
        variables, values = [self.step.variables, self._parts], [weights, state._asdict()]
        if self.num_chains > 1:
            variables, values = [*variables, self._weights], [*values, state.weights]
        values[1] = {name: tf.nest.flatten(values[1][name]) for name in self._parts}
        for variable, value in zip(tf.nest.flatten(variables), tf.nest.flatten(values), strict=True):
            variable.assign(value)
        self.steps.assign_add(tf.cast(block.count, tf.int64))
        for mean in self.means:
            mean.update_state(totals[mean.name] / weight, sample_weight=weight)


def _packer(state):
    """The function (weights, lists of the tensors of the other parts by name) → state, of the structure of this one."""
    kind, structures = type(state), tf.nest.map_structure(lambda part: None, state)

    def pack(weights, parts):
        values = [
            tf.nest.pack_sequence_as(getattr(structures, name), [tf.convert_to_tensor(v) for v in variables])
            for name, variables in parts.items()
        ]
        return kind(weights, *values)

    return pack
