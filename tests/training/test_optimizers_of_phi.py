"""Optimizers of Keras that do more than a step: those that scale the loss, and those that average what they update."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.training.test_inputs_of_fit import X


def moved(optimizer, kind):
    """The weights after two updates of θ or of φ."""
    keras.utils.set_random_seed(0)
    model = ds.models.from_name("SBN/SBN 3", units=6, prior=None)
    kernel = ds.mcmc.MAP(optimizer=optimizer) if kind == "theta" else ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.0))
    other = ds.proposals.Wake(keras.optimizers.SGD(0.0) if kind == "theta" else optimizer)
    model.compile(kernel=kernel, latents=ds.latents.NAIS(3), proposal=other, jit_compile=False)
    model.fit(X, batch_size=20, verbose=0)
    return np.concatenate([v.numpy().ravel() for v in (*model.theta_variables, *model.phi_variables)])


@pytest.mark.parametrize("kind", ["theta", "phi"])
def test_a_scaled_loss_is_the_same_step(kind):
    plain = moved(keras.optimizers.SGD(0.1), kind)
    assert np.abs(plain - moved(keras.optimizers.SGD(0.0), kind)).max() > 1e-3
    scaled = moved(keras.optimizers.SGD(0.1, loss_scale_factor=1024.0), kind)
    np.testing.assert_allclose(scaled, plain, rtol=1e-5, atol=1e-7)
    growing = moved(keras.optimizers.LossScaleOptimizer(keras.optimizers.SGD(0.1)), kind)
    np.testing.assert_allclose(growing, plain, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("wrap", [lambda inner: inner, keras.optimizers.LossScaleOptimizer])
@pytest.mark.parametrize("use", [ds.proposals.Wake, lambda optimizer: ds.mcmc.MAP(optimizer=optimizer)])
def test_averages_of_iterates_are_refused(wrap, use):
    """Keras would put those of φ in the place of θ when `fit` ends."""
    with pytest.raises(ValueError, match="use_ema=True$"):
        use(wrap(keras.optimizers.Adam(0.01, use_ema=True)))
