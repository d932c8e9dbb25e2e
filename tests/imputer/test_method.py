"""What an imputer's model is compiled with: its prior, and a method by name with defaults of its own."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.imputer.test_sharing import imputer, table
from tfdsmcmc.imputer import choices, sharing
from tfdsmcmc.imputer.learning import build
from tfdsmcmc.rows import Rows


@pytest.mark.parametrize(("architecture", "binary"), [("SBN 2", True), ("DARN/DARN 2", True), ("VAE 2", False)])
def test_the_prior_has_a_scale_for_each_unit_and_optimizers_have_none(architecture, binary):
    """That with which the imputers were compared, of all models that are built."""
    x = (np.random.default_rng(0).random((6, 3)) < 0.5).astype(np.float32)
    model = build(Rows(x, np.ones_like(x)), binary, architecture, 4, 0)
    scales = {name: model.prior.for_weight(name) for name in ("sbn/kernel", "darn/lateral", "nade/decoder")}
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


def test_samples_are_of_all_chains(monkeypatch):
    """As many as are asked for, one chain after the other, and so are what many rows have and a few imputations."""
    sharing.clear()
    options = {"updates": 8, "posterior_samples": 4, "method": "dsgnht_nais", "method_options": {"num_chains": 2}}
    x = table(0)
    fitted = imputer(**options, imputation_options=None).fit(x)
    assert [sample.chain for sample in fitted.posterior_.samples] == [0, 0, 1, 1]
    steps = [sample.step for sample in fitted.posterior_.samples]
    assert len(set(steps)) == 4 and steps[:2] == sorted(steps[:2]) and steps[2:] == sorted(steps[2:])
    assert not np.isnan(fitted.transform(x)).any()
    asked = []

    def impute(*arguments, posterior, **options):
        asked.append([sample.chain for sample in posterior.samples])
        raise InterruptedError

    monkeypatch.setattr(ds.imputation, "impute", impute)
    for name, value in {"_SOME": 0, "_MANY": 1, "_SAMPLES_OF_MANY": 2}.items():
        monkeypatch.setattr(choices, name, value)
    with pytest.raises(InterruptedError):
        fitted.transform(x)
    assert asked == [[0, 1]]


def test_no_more_updates_are_made_than_are_asked_for():
    sharing.clear()
    fitted = imputer(updates=101, posterior_samples=0).fit(table(0))
    assert int(fitted.model_.run.steps) == 100
