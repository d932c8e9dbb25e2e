"""Adam with lower rates for weights from many units."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds


def moved(optimizer, shapes, steps=3):
    """What variables of these shapes have moved by, from zeros, with gradients of 2."""
    variables = [keras.Variable(np.zeros(shape, np.float32)) for shape in shapes]
    optimizer.build(variables)
    for _ in range(steps):
        optimizer.apply([np.full(shape, 2.0, np.float32) for shape in shapes], variables)
    return [variable.numpy() for variable in variables]


def test_rates_are_by_the_units_that_weights_lead_from():
    """Adam moves by ℓ in each step along a gradient that stays as it is; weights from n > c units by ℓ c/n."""
    shapes = [(20, 3), (10, 3), (40, 30), (50,), (2, 40, 3), (0, 3)]
    schedule = keras.optimizers.schedules.PiecewiseConstantDecay([1], [0.1, 0.01])  # two steps of the first
    for rate, distance in ((0.1, 0.3), (schedule, 0.21)):
        found = moved(ds.mcmc.FanInAdam(rate, fan_in=20), shapes)
        for part, share in zip(found, (1, 1, 0.5, 1, 0.5, 1)):
            np.testing.assert_allclose(part, -distance * share, rtol=1e-5)


def test_it_returns_from_its_config():
    optimizer = ds.mcmc.FanInAdam(0.2, fan_in=7, beta_1=0.5)
    twin = keras.optimizers.deserialize(keras.optimizers.serialize(optimizer))
    assert twin.get_config() == optimizer.get_config() and twin.fan_in == 7 and twin.beta_1 == 0.5


@pytest.mark.parametrize("wrong", [{"fan_in": 0}, {"fan_in": 1.5}, {"learning_rate": 0}])
def test_bad_arguments(wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(ValueError, match=f"Received: {name}={value}"):
        ds.mcmc.FanInAdam(**wrong)


def test_recognition_networks_of_several_chains_have_these_rates():
    """Each chain's first layer, from 6 units, moves at most half as far in a step as its second, from 3."""
    model = ds.models.from_name("SBN/SBN 3-2", 6, seed=0)
    before = [[w.numpy() for w in layer.trainable_variables] for layer in model.recognition.layers]
    method = ds.methods.dsgnht_nais(num_chains=2, num_samples=2, optimizer=ds.mcmc.FanInAdam(0.1, fan_in=3))
    model.compile(**method, jit_compile=False)
    model.fit(np.eye(6, dtype=np.float32), batch_size=6, epochs=1, verbose=0)
    after = [[w.numpy() for w in layer.trainable_variables] for layer in model.recognition.layers]
    for (kernel, bias), (kernel_0, bias_0), share in zip(after, before, (0.5, 1.0)):
        assert np.abs(kernel - kernel_0).max() == pytest.approx(0.1 * share, rel=1e-3)
        assert np.abs(bias - bias_0).max() == pytest.approx(0.1, rel=1e-3)
