"""Boltzmann models that are frozen: what `compile` and `fit` say, and what files keep."""

import re

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.oracle import tiny_rbm
from tests.serving.exports import export
from tests.serving.saved_model.loader import manifest_of
from tfdsmcmc.posterior.store import Sample

X = np.eye(4, dtype=np.float32)[[0, 1, 2, 3, 0, 1]]
FIT = {"batch_size": 3, "verbose": 0}


def rbm():
    return tiny_rbm(4, 3)


def mixture():
    return ds.boltzmann.MixtureOfBernoullis(4, 3)


def values(model):
    return [variable.numpy() for variable in model.weights]


def assert_same(one, other):
    for first, second in zip(one, other, strict=True):
        np.testing.assert_array_equal(first, second)


def reloaded(model, path):
    model.save(path)
    return keras.saving.load_model(path)


@pytest.mark.parametrize("make", [rbm, mixture])
@pytest.mark.parametrize("how", ["model", "layer", "constructor", "weights"])
def test_what_is_frozen_comes_back_frozen(make, how, tmp_path):
    """From a file and from a configuration; and learns once it is thawed."""
    model = make()
    assert model.get_config()["trainable"] and make().from_config(model.get_config()).theta_variables
    if how == "constructor":
        model = type(model).from_config({**model.get_config(), "trainable": False})
    elif how == "weights":
        for variable in model.theta_variables:
            variable.trainable = False
    else:
        (model if how == "model" else model.layer).trainable = False
    assert not model.theta_variables
    loaded = reloaded(model, tmp_path / "model.keras")
    for copy in (loaded, type(model).from_config(model.get_config()), keras.models.clone_model(model)):
        assert not copy.theta_variables and not copy.trainable_variables and not copy.trainable
    assert_same(values(loaded), values(model))
    loaded.trainable = True
    loaded.compile(jit_compile=False)
    loaded.fit(X, **FIT)
    assert any(np.any(a != b) for a, b in zip(values(loaded), values(model)))


@pytest.mark.parametrize("make", [rbm, mixture])
def test_a_run_from_before_comes_back_with_what_is_frozen(make, tmp_path):
    """Its chains too; thawed, the model learns on bit for bit."""
    model = make()
    model.compile(jit_compile=False, num_chains=2)
    model.fit(X, **FIT)
    straight = reloaded(model, tmp_path / "straight.keras")
    model.trainable = False
    with pytest.raises(ValueError, match="Nothing that fit.* learns is trainable.* Received: no trainable weights"):
        model.fit(X, **FIT)
    loaded = reloaded(model, tmp_path / "frozen.keras")
    assert not loaded.theta_variables and int(loaded.run.steps) == int(straight.run.steps) == 2
    with pytest.raises(ValueError, match="Nothing that fit.* learns is trainable.* Received: no trainable weights"):
        loaded.fit(X, **FIT)
    loaded.trainable = True
    for each in (straight, loaded):
        each.fit(X, epochs=2, initial_epoch=1, **FIT)
    for one, other in zip(straight.run.weights, loaded.run.weights, strict=True):
        assert_same(one, other)


@pytest.mark.parametrize("make", [rbm, mixture])
def test_chains_keep_their_weights_while_frozen(make, tmp_path):
    """They are θ, and a file of weights alone is of the model's variables, chain 0's."""
    model = make()
    model.save_weights(tmp_path / "alone.weights.h5")
    model.compile(jit_compile=False, num_chains=2)
    model.fit(X, **FIT)
    (_, nothing), (second, _) = model.chain_weights()
    model.trainable = False
    assert nothing == model.chain_weights()[0][1] == []
    assert_same(model.chain_weights()[1][0], second)
    model.load_weights(tmp_path / "alone.weights.h5")
    assert_same(model.chain_weights()[1][0], second)
    assert_same(model.chain_weights()[0][0], values(make()))


def network():
    return ds.boltzmann.DBN([tiny_rbm(4, 3), tiny_rbm(3, 2, seed=1)])


@pytest.mark.parametrize("make", [rbm, mixture, network])
def test_what_is_frozen_is_asked_and_exported(make, tmp_path):
    """At its own weights and at samples of them, by all that takes the model that can learn; and takes their mean."""
    model, other = make(), make()
    samples = [Sample([v.numpy() + shift for v in model.theta_variables], [], 0, 0) for shift in (0.1, 0.3)]
    posterior = ds.posterior.Posterior(None, samples)

    def values_of():
        own, given = model.density(), model.density((samples[0].theta, []))
        estimates = [each.log_likelihood(X, 3, 0, 10) for each in (own, given)]
        return [posterior.log_likelihood(model, X, 3).value, *[each.value for each in estimates]]

    expected = values_of()
    model.trainable = False
    np.testing.assert_array_equal(values_of(), expected)
    listed = []
    for each, folder in ((other, "thawed"), (model, "frozen")):
        path = export(each, tmp_path / folder, posterior=posterior, only=["sample"], sweeps=2)
        listed.append(manifest_of(path)["model"]["weights"])
    assert listed[0] == listed[1] and len(listed[0]) == len(samples[0].theta)
    posterior.apply_mean(model)
    for variable, low, high in zip(model.all_theta, *(sample.theta for sample in samples), strict=True):
        np.testing.assert_allclose(variable.numpy(), (low + high) / 2, rtol=1e-5)


@pytest.mark.parametrize("make", [rbm, mixture])
@pytest.mark.parametrize("frozen", [slice(None), slice(1, 2)])
def test_what_is_frozen_is_not_compiled(make, frozen):
    """All of the weights, or some; nothing is changed."""
    model = make()
    names = [name for name, _ in model.named_weights][frozen]
    for variable in model.theta_variables[frozen]:
        variable.trainable = False
    advice = "trainable: set trainable = True, of the model and of these weights, before compile(). "
    message = f"{advice}Received: frozen weights {names}"
    with pytest.raises(ValueError, match=re.escape(message)):
        model.compile(jit_compile=False)
    assert model.run is None
    for part in (model, *model.weights):  # as it says
        part.trainable = True
    model.compile(jit_compile=False)


@pytest.mark.parametrize("level", [0, 1])
@pytest.mark.parametrize("tuned", [False, True])
def test_frozen_machines_of_a_network_come_back_frozen(level, tuned, tmp_path):
    """With the runs of the network and of the machines, whose lifts are set anew."""
    dbn = ds.boltzmann.DBN([rbm(), tiny_rbm(3, 2, seed=1)])
    for each in dbn.rbms:
        each.compile(jit_compile=False)
    dbn.fit(X, **FIT)
    if tuned:
        dbn.compile(jit_compile=False)
        dbn.fine_tune(X, **FIT)
    dbn.rbms[level].trainable = False
    loaded = reloaded(dbn, tmp_path / "dbn.keras")
    assert [bool(each.theta_variables) for each in loaded.rbms] == [level != 0, level != 1]
    assert_same(values(loaded), values(dbn))
    assert loaded.trainable and (not tuned or int(loaded.run.steps) == 2)
    with pytest.raises(ValueError, match="Received: .*frozen"):
        loaded.fine_tune(X, **FIT) if tuned else loaded.fit(X, **FIT)
    if tuned:
        for network in (dbn, loaded):
            network.rbms[level].trainable = True
            network.fine_tune(X, epochs=2, initial_epoch=1, **FIT)
        assert_same(values(loaded), values(dbn))


def test_a_network_that_is_frozen_comes_back_frozen(tmp_path):
    dbn = ds.boltzmann.DBN([rbm(), tiny_rbm(3, 2, seed=1)])
    dbn.trainable = False
    loaded = reloaded(dbn, tmp_path / "dbn.keras")
    assert not loaded.trainable and not any(each.theta_variables for each in loaded.rbms)


@pytest.mark.parametrize("by_weights", [False, True])
def test_a_frozen_machine_with_a_run_takes_its_place_in_a_network(by_weights):
    """Its run begins anew, as that of any machine does, for when it is thawed."""
    above = tiny_rbm(3, 2)
    above.compile(jit_compile=False)
    parts = above.theta_variables if by_weights else [above]
    for part in parts:
        part.trainable = False
    dbn = ds.boltzmann.DBN([rbm(), above])
    assert not above.theta_variables and above.lift is not None
    for part in parts:
        part.trainable = True
    dbn.rbms[0].compile(jit_compile=False)
    dbn.fit(X, **FIT)
    assert int(above.run.steps) == 2
