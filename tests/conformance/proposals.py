"""What every objective of the recognition network must honour, in one call."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import flat
from tfdsmcmc.networks import evaluated_at

SEED = tf.constant([3, 4])


def run_proposal_test(proposal_factory, model_factory, draws=True):
    """Runs every check of the contract.

    Args:
      proposal_factory: a subclass of `ds.proposals.Proposal`, or a function that passes its keywords on to one.
      model_factory: function of nothing → a new model of binary data of width 3, with the same weights each time.
      draws: whether the surrogate draws anything, so that its seed matters.
    """
    test = _ProposalTest(proposal_factory, model_factory, draws)
    test.config_round_trips()
    test.optimizer_is_checked()
    test.own_variables_are_built_once()
    test.gradient_is_of_phi_alone()
    test.seeds_decide()
    test.bytes_are_data_too()
    test.jitted_steps_are_eager_steps()


class _ProposalTest:
    def __init__(self, proposal_factory, model_factory, draws):
        self.make, self.model_of, self.draws = proposal_factory, model_factory, draws
        self.x = tf.constant(np.random.default_rng(0).integers(0, 2, (4, 3)), tf.float32)

    def built(self, **changes):
        proposal = self.make(**changes)
        proposal.build(3)
        return proposal

    def surrogate(self, proposal, model, x=None, seed=SEED):
        """The surrogate of three draws a row, the proposal's own variables as after `build`."""
        x = self.x if x is None else x
        latents, _ = ds.latents.NAIS(3).draw(model.generative, model.recognition, x, tf.constant([5, 6]))
        return proposal.surrogate(model.generative, model.recognition, x, latents, seed)

    def config_round_trips(self):
        proposal = self.make(optimizer=keras.optimizers.Adam(3e-4, beta_1=0.8))
        config = keras.saving.serialize_keras_object(proposal)
        twin = keras.saving.deserialize_keras_object(json.loads(json.dumps(config)))
        assert type(twin) is type(proposal) and twin.redraw is proposal.redraw
        assert twin.get_config() == proposal.get_config()
        assert twin.optimizer is not proposal.optimizer
        proposal.build(3)
        twin.build(3)
        for a, b in zip(proposal.variables, twin.variables, strict=True):
            np.testing.assert_array_equal(a, b)

    def optimizer_is_checked(self):
        assert isinstance(self.make(optimizer="sgd").optimizer, keras.optimizers.SGD)
        for optimizer in (None, "no such thing"):
            with pytest.raises(ValueError, match="Received: optimizer="):
                self.make(optimizer=optimizer)

    def own_variables_are_built_once(self):
        proposal = self.built()
        variables = {id(variable): variable.numpy() for variable in proposal.variables}
        assert len(variables) == len(proposal.variables)
        assert {id(variable) for variable in proposal.trainable_variables} <= set(variables)
        proposal.build(3)
        assert [id(variable) for variable in proposal.variables] == list(variables)
        for variable in proposal.variables:
            np.testing.assert_array_equal(variable, variables[id(variable)])

    def gradient_is_of_phi_alone(self):
        """With θ given as values, as in a training step."""
        proposal, model = self.built(), self.model_of()
        proposal.check(model.generative, model.recognition)
        theta = [tf.convert_to_tensor(variable) + 1.0 for variable in model.generative.trainable_variables]
        phi = [variable.value for variable in model.recognition.trainable_variables]
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(theta)
            with evaluated_at(model.generative.trainable_variables, theta):
                surrogate = self.surrogate(proposal, model)
        assert surrogate.shape == () and surrogate.dtype == tf.float32 and np.isfinite(surrogate)
        assert tape.gradient(surrogate, theta) == [None] * len(theta) or np.all(
            flat(tape.gradient(surrogate, theta, unconnected_gradients="zero")) == 0
        )
        gradients = tape.gradient(surrogate, phi)
        for gradient, part in zip(gradients, phi, strict=True):
            assert gradient.shape == part.shape and np.all(np.isfinite(gradient)) and np.any(gradient != 0)
        own = [variable.value for variable in proposal.trainable_variables]
        for gradient in tape.gradient(surrogate, own, unconnected_gradients="zero"):
            assert np.all(np.isfinite(gradient))
        # θ counts as it is given, not as its variables hold it
        assert float(self.surrogate(self.built(), model)) != float(surrogate)

    def seeds_decide(self):
        model = self.model_of()
        first, again = (float(self.surrogate(self.built(), model)) for _ in range(2))
        other = float(self.surrogate(self.built(), model, seed=tf.constant([3, 5])))
        assert first == again and (first != other) == self.draws

    def bytes_are_data_too(self):
        model = self.model_of()
        of_bytes = self.surrogate(self.built(), model, tf.cast(self.x, tf.uint8))
        np.testing.assert_allclose(of_bytes, self.surrogate(self.built(), model), rtol=1e-6)

    def jitted_steps_are_eager_steps(self):
        """Three steps of the optimizer in a compiled loop leave φ and the proposal's variables as eager ones do."""
        after = []
        for jit_compile in (False, True):
            proposal, model = self.built(optimizer=keras.optimizers.SGD(0.1)), self.model_of()
            learning = [*model.recognition.trainable_variables, *proposal.trainable_variables]
            proposal.optimizer.build(learning)
            before = [(variable, variable.numpy()) for variable in (*learning, *proposal.variables)]
            steps = self._steps_of(proposal, model, learning)
            (tf.function(steps, jit_compile=True, autograph=False) if jit_compile else steps)()
            # an assignment that a stateless scope swallows would show here
            assert all(np.any(variable.numpy() != value) for variable, value in before)
            after.append(flat([variable.numpy() for variable, _ in before]))
        np.testing.assert_allclose(after[1], after[0], rtol=1e-4, atol=1e-5)

    def _steps_of(self, proposal, model, variables):
        """A function that takes three steps in a loop, θ given as values."""

        def steps():
            theta = [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]

            def body(i):
                with tf.GradientTape() as tape, evaluated_at(model.generative.trainable_variables, theta):
                    loss = -self.surrogate(proposal, model, seed=ds.random.fold(SEED, i))
                sources = [variable.value for variable in variables]
                gradients = tape.gradient(loss, sources, unconnected_gradients="zero")
                proposal.optimizer.apply(gradients, variables)
                return (i + 1,)

            tf.while_loop(lambda i: i < 3, body, (tf.constant(0),))

        return steps
