"""The state of a run besides the weights: kernel results, counts, and the compiled loop that advances it."""

from __future__ import annotations

import secrets
import weakref

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.training.carried import CarriedLatents
from tfdsmcmc.training.step import Method, StepMetrics, StepState, doubly_stochastic_step

_SERVED = weakref.WeakKeyDictionary()  # the variables that an optimizer updates, as weak references


class Chain(tf.Module):
    """A Markov chain over θ, with φ learning beside it.

    θ and φ live in the layers' variables; the kernel results and the counts live here. All of them change only in
    `advance`, which runs many steps as one XLA program.

    Args:
      method: `Method`.
      seed: stateless seed of the run.
      jit_compile: whether `advance` is compiled with XLA.
      follows: an earlier chain on the same weights, whose counts go on, so that no draw is repeated; or None.

    Attributes:
      steps: int64 variable, the minibatches learnt from so far.
      epochs: int64 variable, the epochs completed.
      identity: int64 variable, a number that tells this chain, saved and resumed as it may be, from any other.
      num_rows: float variable, N; 0 before the first run.
      carried: `CarriedLatents`, the Markov chains over z of all rows, where the latents keep them.
      means: Keras metrics, the means of `StepMetrics` over the steps since they were reset.
    """

    def __init__(self, method: Method, seed, jit_compile, follows=None):
        super().__init__(name="chain")
        self.method = method
        self.seed = seed
        counts = (0, 0) if follows is None else (int(follows.steps), int(follows.epochs))
        self.steps, self.epochs = (tf.Variable(np.int64(n), trainable=False) for n in counts)
        self.identity = tf.Variable(np.int64(secrets.randbits(62)), trainable=False, name="identity")
        self.num_rows = tf.Variable(0.0, trainable=False, name="num_rows")
        self.means = [keras.metrics.Mean(name=name) for name in StepMetrics._fields]
        self._structure = self._bootstrap(1.0)
        self._results = [tf.Variable(part, trainable=False) for part in tf.nest.flatten(self._structure)]
        self._auxiliary = [
            tf.Variable(part, trainable=False)
            for part in method.prior.initial_auxiliary(self._names, self._theta(), self._initial_seed("auxiliary"))
        ]
        self.carried = CarriedLatents(method, jit_compile)
        if method.proposal is not None:
            getattr(method.proposal, "build", lambda units: None)(method.generative.units)
            _build(method.proposal.optimizer, method.recognition_variables)
        self._proposal_variables = list(getattr(method.proposal, "variables", []))
        self._advance = tf.function(self._run, jit_compile=jit_compile, autograph=False)

    @property
    def kernel_results(self):
        """The kernel's results at the present state."""
        return tf.nest.pack_sequence_as(self._structure, [tf.convert_to_tensor(v) for v in self._results])

    @property
    def state(self):
        """Named variables that a saved run needs besides the networks' weights and the optimizer."""
        results = {f"kernel_results_{i}": variable for i, variable in enumerate(self._results)}
        auxiliary = {f"auxiliary_{i}": variable for i, variable in enumerate(self._auxiliary)}
        proposal = {f"proposal_{i}": variable for i, variable in enumerate(self._proposal_variables)}
        counts = {"steps": self.steps, "epochs": self.epochs, "identity": self.identity, "num_rows": self.num_rows}
        return {**counts, **results, **auxiliary, **proposal, **self.carried.state}

    def begin(self, num_rows, rows=None):
        """Sets N; before its first step the kernel draws its momentum, and chains over z that are kept start.

        Args:
          num_rows: N.
          rows: the data, where they are an array.
        """
        self.num_rows.assign(float(num_rows))
        self.carried.begin(rows, self._initial_seed("carried latents"))
        if int(self.kernel_results.step) == 0:
            for variable, part in zip(self._results, tf.nest.flatten(self._bootstrap(float(num_rows)))):
                variable.assign(part)

    def advance(self, data, index, count):
        """Runs `count` steps on minibatches data[index[0]], data[index[1]], …

        Args:
          data: (n, D).
          index: int32 (S, B).
          count: at most S.
        """
        self._advance(data, index, tf.constant(count))

    @property
    def _names(self):
        return [name for name, _ in self.method.generative.named_weights]

    def _initial_seed(self, purpose):
        """The seed of what begins at the present step: a later beginning draws anew."""
        return random.stream(random.fold(self.seed, self.steps), purpose)

    def _theta(self):
        return [tf.convert_to_tensor(v) for v in self.method.generative.trainable_variables]

    def _bootstrap(self, num_rows):
        method = self.method
        kernel = method.kernel.copy(temperature=method.kernel.temperature / num_rows)
        return kernel.bootstrap_results(self._theta(), seed=random.fold(self.seed, self.steps))

    def _run(self, data, index, count):
        stream = random.stream(self.seed, "step")
        first = tf.convert_to_tensor(self.steps)
        num_rows = tf.convert_to_tensor(self.num_rows)

        def body(i, theta, results, auxiliary, carried, totals):
            seed = random.fold(stream, first + tf.cast(i, tf.int64))
            x = tf.gather(data, index[i])
            state = StepState(theta, results, auxiliary, self.carried.of_rows(carried, index[i]))
            state, metrics = doubly_stochastic_step(self.method, state, x, num_rows, seed)
            carried = self.carried.with_rows(carried, index[i], state.carry)
            totals = StepMetrics(*(a + b for a, b in zip(totals, metrics)))
            return i + 1, state.theta, state.kernel_results, state.auxiliary, carried, totals

        start = (
            tf.constant(0),
            self._theta(),
            self.kernel_results,
            [tf.convert_to_tensor(v) for v in self._auxiliary],
            self.carried.values,
            StepMetrics(*[tf.zeros([])] * len(StepMetrics._fields)),
        )
        *_, totals = end = tf.while_loop(lambda i, *_: i < count, body, start)
        variables = [self.method.generative.trainable_variables, self._results, self._auxiliary, self.carried.chains]
        for variable, value in zip(tf.nest.flatten(variables), tf.nest.flatten(end[1:-1]), strict=True):
            variable.assign(value)
        self.steps.assign_add(tf.cast(count, tf.int64))
        for mean, total in zip(self.means, totals):
            weight = tf.cast(count, total.dtype)
            mean.update_state(total / weight, sample_weight=weight)


def _build(optimizer, variables):
    """Builds an optimizer, or refuses one whose state belongs to others; Keras would fail in the middle of a step."""
    served = [known() for known in _SERVED.get(optimizer, [])]
    if optimizer.built and not all(any(variable is known for known in served) for variable in variables):
        raise ValueError(
            "The optimizer of a proposal must be new, or have served these variables before. "
            f"Received: {optimizer.name!r}, built for others"
        )
    if not optimizer.built:
        optimizer.build(variables)
        _SERVED[optimizer] = [weakref.ref(variable) for variable in variables]


class EpochCounter(keras.callbacks.Callback):
    """Counts completed epochs in the chain, before any other callback sees the end of the epoch."""

    def __init__(self, chain):
        super().__init__()
        self.chain = chain

    def on_epoch_begin(self, epoch, logs=None):
        self._steps = int(self.chain.steps)

    def on_epoch_end(self, epoch, logs=None):
        if int(self.chain.steps) > self._steps:  # another callback may have stopped the run before its first step
            self.chain.epochs.assign_add(1)
