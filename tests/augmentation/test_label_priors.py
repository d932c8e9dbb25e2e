"""The prior of the biases of labels: that of a bias, for each label, whoever learns them."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc.augmentation.mean_field import MeanFieldStep
from tfdsmcmc.augmentation.polya_gamma_gibbs import PolyaGammaGibbsStep

LABELS = (np.array([2, 0, 2, 1], np.int32), 3)


def labelled(step_class, group, **options):
    model = tiny_model((5,), units=4)
    prior = ds.Prior(ds.priors.Horseshoe(0.5, group=group))
    return step_class(model.generative, model.recognition, prior, labels=LABELS, **options)


@pytest.mark.parametrize("group", ["entry", "parent", "unit", "tensor"])
def test_each_label_has_the_scales_that_a_bias_has(group):
    groups = 15 if group == "entry" else 3
    gibbs = labelled(PolyaGammaGibbsStep, group)
    state = gibbs.init(None, tf.constant([1, 2]), [tf.convert_to_tensor(v) for v in gibbs.variables])
    (zeta,) = state.auxiliary[1]  # of the top layer's bias
    assert zeta.shape[0] == 3 and tf.size(zeta) == groups
    vb = labelled(MeanFieldStep, group, covariance="full", rounds=1)
    (scales,) = (scales for columns, scales in vb.priors[-1].parts if columns.stop - columns.start == 3)
    assert scales.initial(tf.ones((5, 3))).zeta.shape[0] == groups
