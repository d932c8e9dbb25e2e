"""Every layer honours the contract of layers."""

import keras
import pytest

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
