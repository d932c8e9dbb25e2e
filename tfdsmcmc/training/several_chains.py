"""Several independent chains of any step that keeps everything in its state."""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc.training.chains import each_chain, mean_over_chains, over_chains, seeds_of, specs_of
from tfdsmcmc.training.step import Step


class SeveralChains(Step):
    """C chains that share nothing: each steps as one alone would, with its own minibatch and seed.

    Metrics are means over the chains. A step whose chains share what they learn, such as a recognition network, sees to
    several chains by itself.

    Args:
      step: `Step` of one chain, without variables of its own.
      num_chains: C, at least 2.

    Raises:
      ValueError: for a step that has variables of its own, which the chains would share.
    """

    def __init__(self, step: Step, num_chains):
        if step.own_variables:
            raise ValueError(
                "Chains that share nothing need a step without variables of its own. "
                f"Received: {sorted(step.own_variables)}"
            )
        self.one, self.num_chains = step, num_chains
        self.variables, self.metric_names = step.variables, step.metric_names
        self.per_row, self.needs_passes = step.per_row, step.needs_passes

    def init(self, rows, seed, weights, num_rows=1.0, state=None):
        def begin(weights, state, seed):
            return self.one.init(rows, seed, weights, num_rows, state)

        return each_chain(begin, self.num_chains, seed, weights, state)

    def step(self, state, batch, seed):
        def move(state, rows, index, counted, seed):
            return self.one.step(state, batch._replace(rows=rows, index=index, counted=counted), seed)

        arguments = (state, batch.rows, batch.index, batch.counted, seeds_of(seed, self.num_chains))
        like = (specs_of(state, self.num_chains), {name: tf.TensorSpec([]) for name in self.metric_names})
        state, metrics = over_chains(move, self.num_chains, arguments, like)
        return state, mean_over_chains(metrics, self.num_chains)

    def skipped(self, state):
        return self.one.skipped(state)

    def fresh_weights(self, seed):
        return self.one.fresh_weights(seed)
