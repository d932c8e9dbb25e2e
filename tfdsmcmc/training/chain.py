"""The state of a run besides the weights: kernel results, counts, and the compiled loop that advances it.

A run has one Markov chain over θ or C of them, which share φ. What each chain has, its weights, kernel results and
scales of shrinkage priors, has a leading axis C where C > 1, and no such axis where there is one.
"""

from __future__ import annotations

import secrets
import weakref

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.training.carried import CarriedLatents
from tfdsmcmc.training.chains import each_chain, of_chain
from tfdsmcmc.training.starts import fresh_weights
from tfdsmcmc.training.step import Method, StepMetrics, StepState, doubly_stochastic_step

_SERVED = weakref.WeakKeyDictionary()  # the variables that an optimizer updates, as weak references


class Chain(tf.Module):
    """Markov chains over θ, with φ learning beside them.

    φ and the θ of chain 0 live in the layers' variables; the θ of further chains, the kernel results and the counts
    live here. All of them change only in `advance`, which runs many steps as one XLA program.

    Chain 0 starts at the layers' present weights. Another one goes on from where it stands in `follows`, and starts at
    fresh draws of the layers' initializers where it is not there, see `starts`.

    Args:
      method: `Method`.
      seed: stateless seed of the run.
      jit_compile: whether `advance` is compiled with XLA.
      follows: an earlier chain on the same weights, whose counts go on, so that no draw is repeated; or None.
      num_chains: C.

    Attributes:
      num_chains: C.
      steps: int64 variable, the minibatches learnt from so far.
      epochs: int64 variable, the epochs completed.
      refits: int64 variable, how often φ was fitted at fixed θ.
      identity: int64 variable, a number that tells this chain, saved and resumed as it may be, from any other.
      num_rows: float variable, N; 0 before the first run.
      carried: `CarriedLatents`, the Markov chains over z of all rows, where the latents keep them.
      means: Keras metrics, the means of `StepMetrics` over the steps since they were reset and over the chains.
    """

    def __init__(self, method: Method, seed, jit_compile, follows=None, num_chains=1):
        super().__init__(name="chain")
        self.method = method
        self.seed = seed
        self.num_chains = num_chains
        # kept here, for a layer may be frozen later
        self.variables_of_theta = list(method.generative.trainable_variables)
        self._with_gaps = False
        counts = (0, 0, 0) if follows is None else (int(follows.steps), int(follows.epochs), int(follows.refits))
        self.steps, self.epochs, self.refits = (tf.Variable(np.int64(n), trainable=False) for n in counts)
        self.identity = tf.Variable(np.int64(secrets.randbits(62)), trainable=False, name="identity")
        self.num_rows = tf.Variable(0.0, trainable=False, name="num_rows")
        self.means = [keras.metrics.Mean(name=name) for name in StepMetrics._fields]
        # of all chains, where there are several; what stands here for chain 0 is a copy of the layers' variables
        self._weights = [tf.Variable(part, trainable=False) for part in self._initial_weights(follows)]
        self._structure = self._bootstrap(1.0)
        self._results = [tf.Variable(part, trainable=False) for part in tf.nest.flatten(self._structure)]
        self._auxiliary = [tf.Variable(part, trainable=False) for part in self._initial_auxiliary()]
        self.carried = CarriedLatents(method, jit_compile, num_chains)
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
    def weights(self):
        """The weights θ of each chain, a list of lists of arrays, in the order of the networks' variables."""
        theta = [part.numpy() for part in self._theta()]
        return [theta] if self.num_chains == 1 else [[part[c] for part in theta] for c in range(self.num_chains)]

    @property
    def state(self):
        """Named variables that a saved run needs besides the networks' weights and the optimizer."""
        weights = {f"weights_{i}": variable for i, variable in enumerate(self._weights)}
        results = {f"kernel_results_{i}": variable for i, variable in enumerate(self._results)}
        auxiliary = {f"auxiliary_{i}": variable for i, variable in enumerate(self._auxiliary)}
        proposal = {f"proposal_{i}": variable for i, variable in enumerate(self._proposal_variables)}
        counts = {"steps": self.steps, "epochs": self.epochs, "refits": self.refits}
        counts |= {"identity": self.identity, "num_rows": self.num_rows}
        return {**counts, **weights, **results, **auxiliary, **proposal, **self.carried.state}

    def move_to(self, weights):
        """Sets the weights of all chains but chain 0, whose weights are the layers'.

        Args:
          weights: those of each chain, as the property has them.
        """
        for variable, *parts in zip(self._weights, *weights, strict=True) if self.num_chains > 1 else ():
            variable.assign(np.stack(parts))

    def begin(self, num_rows, rows=None, with_gaps=False):
        """Sets N; before its first step the kernel draws its momentum, and chains over z that are kept start.

        Args:
          num_rows: N.
          rows: the data, where they are an array.
          with_gaps: whether NaN in the data is missing.
        """
        self.num_rows.assign(float(num_rows))
        self._with_gaps = bool(with_gaps)
        self.carried.begin(rows, self._theta(), self._initial_seed("carried latents"), self._with_gaps)
        if int(tf.reduce_max(self.kernel_results.step)) == 0:
            for variable, part in zip(self._results, tf.nest.flatten(self._bootstrap(float(num_rows)))):
                variable.assign(part)

    def advance(self, data, index, count):
        """Runs `count` steps on minibatches data[index[0]], data[index[1]], …

        Args:
          data: (n, D).
          index: int32 (S, B); of several chains (S, C, B).
          count: at most S.
        """
        self._advance(data, index, tf.constant(count), self._with_gaps)

    @property
    def _names(self):
        return [name for name, _ in self.method.generative.named_weights]

    def _initial_seed(self, purpose):
        """The seed of what begins at the present step: a later beginning draws anew."""
        return random.stream(random.fold(self.seed, self.steps), purpose)

    def _theta(self):
        """The weights, of several chains with a leading axis C."""
        first = [tf.convert_to_tensor(v) for v in self.variables_of_theta]
        if self.num_chains == 1:
            return first
        return [tf.concat([part[tf.newaxis], rest[1:]], 0) for part, rest in zip(first, self._weights, strict=True)]

    def _initial_weights(self, follows):
        """The weights of all chains where there are several, else nothing."""
        if self.num_chains == 1:
            return []
        weights = [[variable.numpy() for variable in self.variables_of_theta]]
        seed = self._initial_seed("initial weights")
        known = [] if follows is None else follows.weights
        for c in range(1, self.num_chains):
            fresh = fresh_weights(self.method.generative, random.fold(seed, c))
            # by variable: other layers may have been frozen meanwhile
            own = {id(v): part for v, part in zip(follows.variables_of_theta, known[c])} if c < len(known) else {}
            weights.append([own.get(id(v), part) for v, part in zip(self.variables_of_theta, fresh, strict=True)])
        return [np.stack(parts) for parts in zip(*weights, strict=True)]

    def _initial_auxiliary(self):
        def initial(theta, seed):
            return self.method.prior.initial_auxiliary(self._names, theta, seed)

        return each_chain(initial, self.num_chains, self._initial_seed("auxiliary"), self._theta())

    def _bootstrap(self, num_rows):
        kernel = self.method.kernel.copy(temperature=self.method.kernel.temperature / num_rows)
        seed = random.fold(self.seed, self.steps)
        return each_chain(kernel.bootstrap_results, self.num_chains, seed, self._theta())

    def _run(self, data, index, count, with_gaps):
        method = self.method.for_rows(with_gaps)
        stream = random.stream(self.seed, "step")
        first = tf.convert_to_tensor(self.steps)
        num_rows = tf.convert_to_tensor(self.num_rows)

        def body(i, theta, results, auxiliary, carried, totals):
            seed = random.fold(stream, first + tf.cast(i, tf.int64))
            x = tf.gather(data, index[i])
            state = StepState(theta, results, auxiliary, self.carried.of_rows(carried, index[i]))
            state, metrics = doubly_stochastic_step(method, state, x, num_rows, seed, self.num_chains)
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
        theta = end[1] if self.num_chains == 1 else of_chain(end[1], 0)
        variables = [self.variables_of_theta, self._results, self._auxiliary, self.carried.chains]
        values = [theta, *end[2:-1]]
        if self.num_chains > 1:
            variables, values = [*variables, self._weights], [*values, end[1]]
        for variable, value in zip(tf.nest.flatten(variables), tf.nest.flatten(values), strict=True):
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
