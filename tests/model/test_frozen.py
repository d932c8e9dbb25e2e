"""Layers that are frozen, or no longer, between one call and the next."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.model.support import patterns, state
from tests.oracles import flat, tiny_model

KERNEL = {"kernel": ds.mcmc.SGLD(learning_rate=0.01), "jit_compile": False, "num_chains": 3}


def deep_model():
    """Layers of one shape, which weights that are shifted would fit as well."""
    return tiny_model((4, 4), units=4, seed=3, scale=0.3)


def by_name(model):
    """The weights of each chain by their names."""
    names = [variable.path for variable in model.run.step.variables]
    return [dict(zip(names, theta, strict=True)) for theta in model.run.weights]


def test_chains_keep_their_weights_when_other_layers_are_frozen():
    model = deep_model()
    model.compile(**KERNEL)
    model.fit(patterns(5), batch_size=5, verbose=0)
    before, middle = by_name(model), model.generative.layers[1]
    middle.trainable = False
    model.compile(**KERNEL)
    frozen = by_name(model)
    for old, new in zip(before, frozen):
        assert set(new) == {name for name in old if name not in {v.path for v in middle.variables}}
        for name, value in new.items():
            np.testing.assert_array_equal(value, old[name])
    model.fit(patterns(5), batch_size=5, verbose=0)
    middle.trainable = True
    model.compile(**KERNEL)
    for chain, new in enumerate(by_name(model)[1:], 1):
        assert set(new) == set(before[0])
        own = before[chain][middle.kernel.path]
        assert np.any(new[middle.kernel.path] != own) and np.any(new[middle.kernel.path] != middle.kernel.numpy())
    model.fit(patterns(20), batch_size=10, verbose=0)


def test_what_was_frozen_since_compile_is_refused_before_anything_happens(tmp_path):
    model = deep_model()
    model.compile(**{**KERNEL, "num_chains": 1})
    model.fit(patterns(20), batch_size=10, verbose=0)
    before = state(model)
    model.generative.layers[0].trainable = False
    for call in (lambda: model.fit(patterns(20), verbose=0), lambda: model.save(tmp_path / "model.keras")):
        with pytest.raises(ValueError, match="frozen or unfrozen since compile.* Received: other trainable weights"):
            call()
    model.generative.layers[0].trainable = True
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("learnt", [False, True])
@pytest.mark.parametrize("part", [lambda model: model.recognition, lambda model: model.recognition.layers[0]])
def test_a_recognition_network_that_froze_since_compile_is_refused_too(learnt, part, tmp_path):
    """Of one chain, before anything moves; what was frozen before `compile` stays as it is.

    A file of the model would be compiled with φ frozen, which the state of its run, and of its optimizer, is not of.
    """
    model = deep_model()
    model.compile(**{**KERNEL, "num_chains": 1})
    if learnt:
        model.fit(patterns(20), batch_size=10, verbose=0)
    before = state(model)
    part(model).trainable = False
    for call in (lambda: model.fit(patterns(20), verbose=0), lambda: model.save(tmp_path / "model.keras")):
        with pytest.raises(ValueError, match="frozen or unfrozen since compile.* Received: .*recognition"):
            call()
    assert not list(tmp_path.iterdir())
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)
    own = [variable.numpy() for variable in part(model).weights]
    model.compile(**{**KERNEL, "num_chains": 1})
    model.fit(patterns(20), batch_size=10, verbose=0)
    for one, other in zip(own, part(model).weights, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("parts", [["generative"], ["recognition"], ["generative", "recognition"]])
def test_chains_keep_theta_and_phi_apart_while_frozen(parts):
    """They are told by what the run learns, not by what is trainable at present."""
    model = tiny_model((2,), units=4, seed=3)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), num_chains=2, jit_compile=False)
    before = model.chain_weights()
    for part in parts:
        getattr(model, part).trainable = False
    for (theta, phi), (same, other) in zip(before, model.chain_weights(), strict=True):
        assert (len(theta), len(phi)) == (len(same), len(other)) == (4, 2)
        np.testing.assert_array_equal(flat([*theta, *phi]), flat([*same, *other]))


@pytest.mark.parametrize(
    "arguments",
    [
        {"validation_batch_size": -1},
        {"validation_batch_size": "a"},
        {"validation_freq": 0},
        {"epochs": "3"},
        {"epochs": 1.5},
        {"epochs": -1},
        {"initial_epoch": -1},
    ],
)
def test_counts_are_checked_before_learning(arguments):
    model = deep_model()
    model.compile(**KERNEL)
    with pytest.raises(ValueError, match=f"Received: {next(iter(arguments))}="):
        model.fit(patterns(20), batch_size=10, validation_data=patterns(10), verbose=0, **arguments)
    assert int(model.run.steps) == 0
    with pytest.raises(ValueError, match="Received: batch_size=0"):
        model.evaluate(patterns(10), batch_size=0)


def test_a_refit_after_loading_draws_anew(tmp_path):
    model = tiny_model((2,), units=4, seed=3)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), jit_compile=False)
    model.fit(patterns(20), batch_size=10, verbose=0)
    phi = [variable.numpy() for variable in model.recognition.trainable_variables]

    def refitted(model):
        for variable, value in zip(model.recognition.trainable_variables, phi):
            variable.assign(value)
        model.refit_recognition(patterns(20), epochs=1)
        return np.concatenate([variable.numpy().ravel() for variable in model.recognition.trainable_variables])

    first = refitted(model)
    model.save(tmp_path / "model.keras")
    again = refitted(keras.saving.load_model(tmp_path / "model.keras"))
    assert np.any(first != again)


def test_an_initializer_without_a_configuration_cannot_start_several_chains():
    layers = [ds.layers.SBN(2), ds.layers.SBN(4, kernel_initializer=lambda shape, dtype=None: np.zeros(shape))]
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), ds.RecognitionNetwork([ds.layers.SBN(2)]))
    with pytest.raises(ValueError, match="initializers.* Received: layer 'sbn"):
        model.compile(**KERNEL)
