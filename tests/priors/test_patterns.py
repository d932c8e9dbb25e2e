"""A model says which patterns of its prior no weight takes."""

import warnings

import numpy as np
import pytest
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tfdsmcmc.priors.patterns import without_others

tfd = tfp.distributions
NARROW, WIDE = tfd.Normal(0.0, 0.001), tfd.Normal(0.0, 1.0)


def model_with(prior, frozen=False, layer=ds.layers.SBN):
    top = ds.layers.SBN(2, name="top")
    top.trainable = not frozen
    generative = ds.GenerativeNetwork([top, layer(3, name="data")])
    return ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]), prior=prior)


def machine_with(prior):
    return ds.boltzmann.RBM(3, 2, prior=prior)


@pytest.mark.parametrize(
    ("prior", "left"),
    [
        ({"kernal": NARROW, "": WIDE}, "'kernal'"),
        ({"": WIDE, "bias$": NARROW}, r"'bias\$'"),  # behind one that is found first
        ({"^sbn_7/": NARROW, "lateral": None, "": WIDE}, "'\\^sbn_7/', 'lateral'"),
    ],
)
@pytest.mark.parametrize("made", [model_with, machine_with])
def test_what_no_weight_takes(made, prior, left):
    with pytest.warns(UserWarning, match=rf"no weight takes {left}\. Received: patterns.*weights") as found:
        made(prior)
    assert [warning.filename for warning in found] == [__file__]


@pytest.mark.parametrize(
    ("prior", "arguments"),
    [
        (None, {}),
        (ds.Prior(), {}),
        (NARROW, {}),
        ({"top/": NARROW, "data/kernel": WIDE, "": None}, {}),
        ({"top/": NARROW, "data/": WIDE}, {"frozen": True}),
        ({"lateral": NARROW, "": WIDE}, {"layer": ds.layers.DARN}),
    ],
)
def test_what_each_pattern_has_a_weight_for(prior, arguments):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model_with(prior, **arguments)


def test_a_weight_without_a_pattern_is_refused():
    with pytest.raises(ValueError, match="No pattern of the prior is found in 'top/bias'. Received: "):
        model_with({"kernel": NARROW})


def test_parts_of_a_model_do_not_say_it_again():
    """Layers that learn alone have the patterns of their own weights; what a model has warned of is left out."""
    sbn = ds.layers.SBN
    generative = ds.GenerativeNetwork([sbn(2, name="top"), sbn(3, name="middle"), sbn(4, name="data")])
    prior = {"top": NARROW, "middle": WIDE, "data": WIDE}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([sbn(3), sbn(2)]), prior=prior)
        ds.pretrain(model, np.eye(4), epochs=0, jit_compile=False)
    with pytest.warns(UserWarning, match="no weight takes 'none'"):
        model = model_with({"none": None, "": NARROW})
    model.compile("sgld", jit_compile=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        model.refit_recognition(np.eye(3), epochs=0)
    assert list(model.prior.patterns) == ["none", ""]


def test_a_prior_of_ones_own_class_stays():
    class Own(ds.Prior):
        pass

    for prior in (Own({"top": NARROW, "data": WIDE}), ds.Prior(), ds.Prior({"top": NARROW})):
        assert without_others(prior, ["top/kernel"]) is prior
    (part,) = without_others(ds.Prior({"top": NARROW, "data": WIDE}), ["data/kernel"]).patterns.items()
    assert part == ("data", WIDE)
