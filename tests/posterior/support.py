"""Posterior samples written by hand, weights that state who they are, and a tiny model to collect from."""

import keras
import numpy as np

import tfdsmcmc as ds
from tests.oracles import binary_states, tiny_model
from tests.pool import pooled
from tfdsmcmc.posterior import store
from tfdsmcmc.posterior.ensemble import Posterior
from tfdsmcmc.posterior.samples import Samples


def write_sample(folder, sample):
    """Writes a sample of a run of one chain into the folder."""
    store.write_draw(folder, [sample])

X = binary_states(4)[[0, 3, 3, 5, 9, 9, 14, 15]].astype(np.float32)


def unfitted(prior=None, seed=0, **arguments):
    """A tiny model whose programs are left to TensorFlow: they are the same functions as under XLA."""
    model = tiny_model((2,), units=4, seed=seed, prior=prior, **arguments)
    model.compile(kernel="sgld", proposal=None, jit_compile=False)
    return model


def sample_of(model, step):
    """The model's weights as a sample."""
    networks = model.generative, model.recognition
    return store.Sample(*([v.numpy() for v in network.trainable_variables] for network in networks), step)


def written(folder, chains=(0, 0, 0), scale=1.2, change=None):
    """A posterior of random samples, number i of them after 10(i + 1) steps and of chain chains[i].

    Args:
      folder: where to write it; the running mean of all samples is written too.
      chains: the chain's number of each sample.
      scale: standard deviation of the weights.
      change: called as change(i, sample), changes the arrays of a sample before it is written; or None.
    """
    for i in range(len(chains)):
        sample = sample_of(tiny_model((2,), units=4, seed=i + 1, scale=scale), 10 * (i + 1))
        if change is not None:
            change(i, sample)
        write_sample(folder, sample)
        store.update_mean(folder, sample, i + 1)
    return Posterior(folder, Samples(store.sample_paths(folder), chains))


def at(model, weights):
    """The model with its weights set to (θ, φ)."""
    for variable, value in zip(model.trainable_variables, [*weights[0], *weights[1]], strict=True):
        variable.assign(value)
    return model


def means(samples):
    """(θ̄, φ̄) of a list of samples."""
    return [[np.mean(parts, 0) for parts in zip(*(s[i] for s in samples), strict=True)] for i in (0, 1)]


@pooled
def model_to_fit(seed=2):
    model = tiny_model((2,), units=4, seed=seed, scale=0.5)
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False)
    return model


def fit(model, collector, epochs, callbacks=(), **arguments):
    arguments = {"validation_data": X, **arguments}
    return model.fit(X, batch_size=4, epochs=epochs, verbose=0, callbacks=[collector, *callbacks], **arguments)


def folder_of(tmp_path, count=3):
    """Samples of random weights of a tiny model, and the model."""
    model = tiny_model((2,), units=4, seed=0)
    for i in range(count):
        other = tiny_model((2,), units=4, seed=i + 1)
        sample = store.Sample(
            [v.numpy() for v in other.generative.trainable_variables],
            [v.numpy() for v in other.recognition.trainable_variables],
            10 * (i + 1),
        )
        write_sample(tmp_path, sample)
        store.update_mean(tmp_path, sample, i + 1)
    return model


class Script(keras.callbacks.Callback):
    """Replaces the validation value, or another of the logs, by a script, before the collector sees it."""

    def __init__(self, values, name="val_log_likelihood"):
        super().__init__()
        self.values, self.name = values, name

    def on_epoch_end(self, epoch, logs=None):
        logs[self.name] = self.values[epoch]
