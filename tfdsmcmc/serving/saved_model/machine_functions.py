"""What a SavedModel of Boltzmann machines computes; log Z and its error are stored in it.

    log_likelihood    of one machine log p*(x) − log Z, whatever num_samples; of a deep belief network the importance
                      sampling estimate with num_samples draws from Q. The standard error has that of log Z in it
    sample            ends of Gibbs chains of the topmost machine, from random bits, and one pass down
    impute            Gibbs sweeps with the observed entries held fixed, from random bits
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann import deep, deep_sweeps, sampling
from tfdsmcmc.boltzmann.machine import Machine
from tfdsmcmc.serving.saved_model.functions import in_blocks
from tfdsmcmc.streams import WeightSums

NAMES = ("log_likelihood", "sample", "impute")
_CHUNK = 32  # draws of a row held at a time
_OUTPUTS = ("value", "standard_error", "effective_sample_size")


class MachineFunctions(tf.Module):
    """The functions, all in tensors. x is (n, D) float32 and seeds are int32 of shape (2,).

    Args:
      stack: `deep.Stack`.
      known: `LogPartition` of the topmost machine.
      steps: of each Gibbs chain.
    """

    def __init__(self, stack, known, steps):
        super().__init__()
        self._weights = [[tf.Variable(part, trainable=False) for part in machine] for machine in stack.machines]
        self._recognition = [tf.Variable(part, trainable=False) for part in stack.recognition]
        figures = (known.value, known.standard_error, known.effective_sample_size)
        # rows are counted from log p*: float32 would lose digits of a large log Z less those
        self._partition = tf.Variable(tf.constant(figures, tf.float64), trainable=False)
        self._steps, self._count = steps, len(stack.machines)
        deep_sweeps.layers_of(deep_sweeps.widths_of(stack.machines))

    def costs(self, name):
        """(for each row, for each unit of its count) the draws that a function takes."""
        return 0, 1 if name == "log_likelihood" else self._steps

    def log_likelihood(self, x, num_samples, seed):
        """value, standard_error and effective_sample_size, each (n,)."""

        def block(x, seed):
            log_z, shared, runs = tf.unstack(self._partition)
            if self._count == 1:
                value = self._stack().machines[0].unnormalized_log_prob(x)
                error, size = tf.zeros_like(value), tf.fill(tf.shape(value), tf.cast(runs, tf.float32))
            else:
                value, error, size = self._importance(x, num_samples, seed)
            value = tf.cast(tf.cast(value, tf.float64) - log_z, tf.float32)
            error = tf.sqrt(error**2 + tf.cast(shared, tf.float32) ** 2)
            return dict(zip(_OUTPUTS, (value, error, size)))

        return in_blocks(block, x, seed, {name: [] for name in _OUTPUTS})

    def sample(self, num_samples, seed):
        """x, (num_samples, D)."""
        machines = self._stack().machines
        start_seed, chain_seed, down_seed = tf.unstack(random.split(seed, 3))
        h = random.bernoulli(tf.zeros([num_samples, machines[-1].bias.shape[0]]), start_seed)
        h = machines[-1].gibbs(h, tf.constant(self._steps), chain_seed)
        return {"x": deep.descended(machines, h, down_seed)[0]}

    def impute(self, x, mask, num_imputations, seed):
        """x, (num_imputations, n, D)."""
        stack, shape = self._stack(), tf.shape(x)
        v, observed = (tf.tile(part, [num_imputations, 1]) for part in (tf.where(mask, x, 0.0), mask))
        steps = tf.constant(self._steps)
        if self._count == 1:
            drawn = sampling.clamped(stack.machines[0], v, observed, steps, seed)
        else:
            drawn = deep_sweeps.swept(stack, v, observed, steps, seed)
        drawn = tf.reshape(drawn, tf.concat([[num_imputations], shape], 0))
        return {"x": tf.ensure_shape(drawn, [None, None, x.shape[1]])}

    def _stack(self):
        machines = [Machine(*(tf.convert_to_tensor(part) for part in parts)) for parts in self._weights]
        return deep.Stack(machines, [tf.convert_to_tensor(part) for part in self._recognition])

    def _importance(self, x, num_samples, seed):
        """(log of the mean weight, its error, effective sample size), (n,) each, before log Z."""
        stack = self._stack()

        def chunk(number, sums):
            log_w = deep.log_weights(stack, x, _CHUNK, random.fold(seed, number))
            counts = number * _CHUNK + tf.range(_CHUNK) < num_samples
            return number + 1, sums.add(tf.where(counts[:, tf.newaxis], log_w, -float("inf")))[0]

        sums = WeightSums.of_nothing(tf.shape(x)[:1])
        shapes = (tf.TensorShape([]), WeightSums(*[tf.TensorShape([None])] * 3))
        chunks = (num_samples + _CHUNK - 1) // _CHUNK
        _, sums = tf.while_loop(lambda number, _: number < chunks, chunk, (0, sums), shapes)
        return sums.estimate(num_samples)
