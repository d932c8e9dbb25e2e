"""That every method learns, and that its parts return from their configs."""

import json

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import randomize, tiny_model

METHODS = (
    *("dsgld_nais", "dsghmc_nais", "dsgnht_nais", "dsghmc_gibbs", "dsgnht_gibbs"),
    *("rws", "wake_sleep", "nvil", "vae", "iwae"),
)
CONTINUOUS = ("vae", "iwae")


@pytest.fixture
def without_tracing():
    """Two steps by hand are made sooner than their program."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def model_for(name):
    """Two binary latent units, or one continuous one for the autoencoders."""
    if name not in CONTINUOUS:
        return tiny_model((2,), seed=1)
    model = ds.models.from_name("VAE 1", 3, hidden_units=2)
    randomize(model, seed=1, scale=0.8)
    return model


def learnt(name, parts):
    """A model after one short epoch."""
    model = model_for(name)
    rows = np.random.default_rng(2).integers(0, 2, (20, 3)).astype(np.float32)
    model.compile(**parts, jit_compile=False)
    history = model.fit(rows, batch_size=10, epochs=1, verbose=0).history
    assert all(np.isfinite(values).all() and len(values) == 1 for values in history.values())
    temperatures = {"kinetic_temperature", "configurational_temperature"}
    assert set(history) == {"log_likelihood", "effective_sample_size", "skipped_steps", "loss"} | temperatures
    return model


def twin_of(part):
    """What becomes of a part that is written to a file as its config."""
    config = json.loads(json.dumps(keras.saving.serialize_keras_object(part)))
    return keras.saving.deserialize_keras_object(config)


@pytest.mark.parametrize("name", METHODS)
def test_each_part_returns_from_its_config_and_learns(name, without_tracing):
    method = getattr(ds.methods, name)(num_samples=2)
    twins = {key: part if key == "num_chains" else twin_of(part) for key, part in method.items()}
    for key in ("kernel", "latents", "proposal"):
        assert keras.saving.serialize_keras_object(twins[key]) == keras.saving.serialize_keras_object(method[key])
    start, model = model_for(name), learnt(name, twins)
    assert int(model.run.steps) == 2
    for before, after in zip(start.generative.get_weights(), model.generative.get_weights()):
        assert before.size == 0 or (before != after).any()
    moved = [(a != b).any() for a, b in zip(start.recognition.get_weights(), model.recognition.get_weights())]
    assert not any(moved) if method["proposal"] is None else all(moved)


@pytest.mark.slow
@pytest.mark.parametrize("name", METHODS)
def test_parts_from_configs_learn_the_same(name):
    method = getattr(ds.methods, name)()
    twins = {key: part if key == "num_chains" else twin_of(part) for key, part in method.items()}
    for a, b in zip(learnt(name, method).get_weights(), learnt(name, twins).get_weights()):
        np.testing.assert_array_equal(a, b)
