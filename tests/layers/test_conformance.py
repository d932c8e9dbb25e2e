"""Every layer honours the contract of layers."""

import keras
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.conformance.layers import run_layer_test
from tests.layers import references

C = ds.columns
ORDER = [3, 0, 7, 1, 6, 2, 5, 4]


@pytest.mark.parametrize(
    ("layer_class", "init_kwargs", "parent_units", "reference"),
    [
        (ds.layers.SBN, {"units": 8}, 3, references.sbn),
        (
            ds.layers.SBN,
            {"units": 1, "kernel_initializer": "normal", "bias_initializer": keras.initializers.Constant(0.7)},
            1,
            references.sbn,
        ),
        (
            ds.layers.SBN,
            {"units": 5, "seed": 4, "kernel_initializer": keras.initializers.RandomNormal(stddev=0.1, seed=5)},
            17,
            references.sbn,
        ),
        pytest.param(ds.layers.DARN, {"units": 8}, 3, references.darn(), marks=pytest.mark.slow),
        (ds.layers.DARN, {"units": 8, "ordering": ORDER, "lateral_initializer": "normal"}, 2, references.darn(ORDER)),
        pytest.param(ds.layers.NADE, {"units": 8, "hidden_units": 5}, 3, references.nade(), marks=pytest.mark.slow),
        pytest.param(
            ds.layers.NADE,
            {"units": 8, "hidden_units": 3, "ordering": ORDER},
            2,
            references.nade(ORDER),
            marks=pytest.mark.slow,
        ),
        (ds.layers.MLPBernoulli, {"units": 8, "hidden_units": [5]}, 3, references.mlp_bernoulli),
        (ds.layers.MLPBernoulli, {"units": 3, "hidden_units": []}, 2, references.mlp_bernoulli),
        (ds.layers.MLPGaussian, {"units": 2, "hidden_units": [4, 3]}, 3, references.mlp_gaussian),
        (ds.layers.MLPGaussian, {"units": 1, "hidden_units": [], "seed": 2}, 2, references.mlp_gaussian),
        pytest.param(
            ds.layers.Mixed, {"columns": [C.Ordinal(3), C.Binary(), C.Ordinal(3)]}, 3, None, marks=pytest.mark.slow
        ),
        pytest.param(
            ds.layers.Mixed,
            {"columns": [C.Count(), C.Binary()], "hidden_units": [3], "seed": 4},
            2,
            None,
            marks=pytest.mark.slow,
        ),
        (ds.layers.Mixed, {"columns": [C.Ordinal(3), C.Binary(), C.Categorical(3)], "dependent": True}, 2, None),
        pytest.param(
            ds.layers.Mixed,
            {"columns": [C.Count("poisson"), C.Binary(), C.Ordinal(3)], "dependent": True},
            2,
            None,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ds.layers.Mixed,
            {"columns": [C.Categorical(2), C.Real(), C.Ordinal(4)]},
            2,
            None,
            marks=pytest.mark.slow,
        ),
        pytest.param(
            ds.layers.Mixed,
            {"columns": [C.Binary(), C.Real(same_scale=True), C.Ordinal(3)], "dependent": True, "ordering": [1, 2, 0]},
            2,
            None,
            marks=pytest.mark.slow,
        ),
    ],
)
def test_conformance(layer_class, init_kwargs, parent_units, reference, tmp_path):
    run_layer_test(layer_class, init_kwargs, parent_units, tmp_path, reference)


@pytest.mark.parametrize("layer", [ds.layers.SBN(3), ds.layers.DARN(3), ds.layers.NADE(3), ds.layers.MLPGaussian(3)])
def test_one_value_is_not_that_of_all_units(layer):
    parents = tf.zeros([1, 2])
    assert layer.log_prob([[0.0, 1.0, 0.0]], parents).shape == (1,)
    with pytest.raises(ValueError, match=r"value must be \(…, 3\). Received: value of shape \(1, 1\)"):
        layer.log_prob([[1.0]], parents)
    if layer.factorised:
        with pytest.raises(ValueError, match=r"Received: value of shape \(1,\)"):
            layer.observed_log_prob([1.0], [True, True, True], parents)


def test_a_shape_may_be_unknown():
    layer = ds.layers.SBN(3)
    layer.build((None, 2))
    late = tf.function(layer.log_prob, input_signature=[tf.TensorSpec(None), tf.TensorSpec([None, 2])])
    assert late(tf.ones([4, 3]), tf.zeros([4, 2])).shape == (4,)
