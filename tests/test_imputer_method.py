"""What an imputer's model is compiled with: its prior, and a method by name with defaults of its own."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.test_imputer_sharing import imputer, table
from tfdsmcmc.imputer import learning, sharing
from tfdsmcmc.imputer.learning import build
from tfdsmcmc.rows import Rows


@pytest.mark.parametrize(("architecture", "binary"), [("SBN 2", True), ("DARN/DARN 2", True), ("VAE 2", False)])
def test_the_prior_has_a_scale_for_each_unit_and_optimizers_have_none(architecture, binary):
    """That with which the imputers were compared, of all models that are built."""
    x = (np.random.default_rng(0).random((6, 3)) < 0.5).astype(np.float32)
    model = build(Rows(x, np.ones_like(x)), binary, architecture, 4, 0)
    scales = {name: model.prior.for_weight(name) for name in ("sbn/kernel", "darn/lateral", "mlp/decoder/kernel")}
    assert [prior.group for prior in scales.values()] == ["parent", "entry", "unit"]
    for prior in scales.values():
        assert type(prior) is ds.priors.Horseshoe and prior.learn_global_scale
        assert (prior.global_scale, prior.minimum_scale, prior.global_scale_group) == (1.0, 0.015, "tensor")
    bias = model.prior.for_weight("sbn/bias")
    assert (float(bias.df), float(bias.loc), float(bias.scale)) == (4.0, 0.0, 2.5)
    model.compile(**ds.methods.rws(), jit_compile=False)
    model.fit(x, epochs=1, verbose=0)
    assert not model.run.state.auxiliary  # the prior is flat


@pytest.mark.parametrize("method", ["dsgld_nais", pytest.param("dsghmc_gibbs", marks=pytest.mark.slow)])
def test_a_method_may_leave_open_how_many_chains_there_are(method):
    """The twin that learns settles it, and hands a run of as many chains back."""
    sharing.clear()
    for seed in (0, 1):  # of a twin that is new, and of one that has learnt
        fitted = imputer(method=method).fit(table(seed))
        assert fitted.model_.run.num_chains == 1 and int(fitted.model_.run.steps) == 2
        assert not np.isnan(fitted.transform(table(seed))).any()


def test_samples_are_of_all_chains():
    """As many as are asked for, of each chain in turn; those of few are cut from all of them."""
    sharing.clear()
    options = {"updates": 8, "posterior_samples": 4, "method": "dsgnht_nais", "method_options": {"num_chains": 3}}
    fitted = imputer(**options).fit(table(0))
    assert [sample.chain for sample in fitted.posterior_.samples] == [0, 1, 2, 0]
    steps = [sample.step for sample in fitted.posterior_.samples]
    assert steps == sorted(set(steps)) and fitted.posterior_.num_chains == 3
    cut = learning.posterior_of(*fitted.posterior_.samples[::2])
    assert [sample.chain for sample in cut.samples] == [0, 2]
    assert not np.isnan(fitted.transform(table(0))).any()
