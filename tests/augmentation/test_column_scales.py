"""The scales of hidden units' columns: of each layer's own, by both ways to learn."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model

COLUMN = ds.priors.ColumnThreeParameterBetaNormal()


def compiled(method, prior=COLUMN, **options):
    model = tiny_model((4, 2), prior={"bias": ds.priors.Horseshoe(1.0), "": prior})
    model.compile(**method, **options)
    return model


def test_by_gibbs_sampling_they_are_the_draw():
    """Of two chains those of the first; weights of the top layer, which have no parents, have none."""
    model = compiled(ds.methods.polya_gamma_gibbs(), num_chains=2)
    found = ds.augmentation.column_scales(model)
    assert [part.shape for part in found] == [(4,), (2,)]
    names = [name for name, _ in model.generative.named_weights]
    for part, layer in zip(found, model.generative.layers[:0:-1]):
        _, _, phi, _ = model.run.state.auxiliary[names.index(f"{layer.name}/kernel")]
        np.testing.assert_allclose(part**2, phi[0, :, 0], rtol=1e-6)


@pytest.mark.parametrize("covariance", ["full", pytest.param("diagonal", marks=pytest.mark.slow)])
def test_by_variational_bayes_they_are_the_means(covariance):
    """⟨φ⟩ of Ga(½ + J/2, rate), where J units of the layer below have a weight from each."""
    model = compiled(ds.methods.vb(covariance))
    found, scales = ds.augmentation.column_scales(model), model.run.state.scales
    for part, (own, _), below in zip(found, scales, (3, 4)):
        np.testing.assert_allclose(part**2, (0.5 + below / 2) / own.phi.numpy(), rtol=1e-5)


@pytest.mark.slow
def test_a_unit_that_rows_do_not_need_has_the_smaller_scale():
    """Rows of two kinds need one unit: after thirty updates another one's scale is below a third of it."""
    rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 40, 0).astype(np.uint8)
    model = tiny_model((2,), units=6, scale=0.3, prior={"bias": ds.priors.Horseshoe(1.0), "": COLUMN})
    model.compile(**ds.methods.vb())
    model.fit(rows, batch_size=80, epochs=30, verbose=0)
    (scales,) = ds.augmentation.column_scales(model)
    kernel = model.generative.layers[-1].kernel.numpy()
    largest, least = np.argsort(-scales)
    assert scales[least] < scales[largest] / 3 and np.abs(kernel[least]).max() < np.abs(kernel[largest]).max() / 3


def test_what_has_no_columns_is_refused():
    for wrong in (tiny_model((2,)), None):
        with pytest.raises(ValueError, match="Received: .*, which is not compiled"):
            ds.augmentation.column_scales(wrong)
    model = tiny_model((2,))
    model.compile(**ds.methods.rws())
    with pytest.raises(ValueError, match="Received: one compiled with DoublyStochasticStep"):
        ds.augmentation.column_scales(model)
    for method in (ds.methods.vb(), ds.methods.polya_gamma_gibbs()):
        model.compile(**method)
        with pytest.raises(ValueError, match="under ColumnThreeParameterBetaNormal. Received: .*kernel"):
            ds.augmentation.column_scales(model)
