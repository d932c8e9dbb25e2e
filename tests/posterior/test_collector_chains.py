"""Collecting and storing the samples of several chains over θ."""

import itertools
import os

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import binary_states, tiny_model
from tests.pool import pooled
from tfdsmcmc.posterior import store

X = binary_states(4)[[0, 3, 3, 5, 9, 9, 14, 15]].astype(np.float32)


@pooled
def model_to_fit(num_chains=3):
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.1), jit_compile=False, num_chains=num_chains)
    return model


def fit(model, collector, epochs, callbacks=()):
    model.fit(X, batch_size=4, epochs=epochs, verbose=0, callbacks=[collector, *callbacks])


def names(folder):
    return [path.name for path in store.sample_paths(folder)]


def sample(step, chain, value=0.0):
    return store.Sample([np.full(2, value, np.float32)], [np.full(3, -value, np.float32)], step, chain)


def draw(step, *values):
    return [sample(step, chain, value) for chain, value in enumerate(values)]


def test_a_sample_of_each_chain_after_each_step_that_counts(tmp_path):
    """`num_samples` counts the draws of each chain, each with a φ of its own; the mean is of all."""
    model, seen = model_to_fit(), {}

    class Remember(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            seen[int(self.model.run.steps)] = self.model.chain_weights()

    fit(model, ds.posterior.Collector(tmp_path, burn_in=1, num_samples=2, every=1), 9, [Remember()])
    assert names(tmp_path) == [f"sample_{step:09d}_chain_{c}.h5" for step in (4, 6) for c in range(3)]
    assert int(model.run.steps) == 6
    samples = [store.read_sample(path) for path in store.sample_paths(tmp_path)]
    assert [(one.step, one.chain) for one in samples] == [(step, c) for step in (4, 6) for c in range(3)]
    for one in samples:
        for stored, live in zip((*one.theta, *one.phi), itertools.chain(*seen[one.step][one.chain]), strict=True):
            np.testing.assert_array_equal(stored, live)
    assert len({one.phi[0].tobytes() for one in samples}) == len(samples)
    assert store._read_mean(tmp_path)[1] == 6
    for i, mean in enumerate(store.read_mean(tmp_path)[0]):
        np.testing.assert_allclose(mean, np.mean([one.theta[i] for one in samples], 0), rtol=1e-6, atol=1e-7)


def test_files_of_one_chain_are_as_they_were(tmp_path):
    fit(model_to_fit(1), ds.posterior.Collector(tmp_path, burn_in=0, num_samples=2, every=1), 3)
    assert names(tmp_path) == ["sample_000000002.h5", "sample_000000004.h5"]
    assert [store.read_sample(path).chain for path in store.sample_paths(tmp_path)] == [0, 0]


def test_paths_are_in_the_order_of_steps_and_then_of_chains(tmp_path):
    for step in (1_000_000_000, 20):
        store.write_draw(tmp_path, draw(step, *range(12)))
    found = [(store.step_of(path), store.chain_of(path)) for path in store.sample_paths(tmp_path)]
    assert found == [(step, chain) for step in (20, 1_000_000_000) for chain in range(12)]


@pytest.mark.parametrize("written", [0, 1, 2])
def test_a_draw_that_is_killed_half_way_does_not_count(tmp_path, monkeypatch, written):
    """Nor does its deletion: whichever file was the last, all of a draw's files count or none."""
    store.write_draw(tmp_path, draw(10, 1.0, 2.0, 6.0))
    before, replace, calls = names(tmp_path), os.replace, []

    def killed(*arguments):
        calls.append(arguments)
        if len(calls) > written:
            raise KeyboardInterrupt
        return replace(*arguments)

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        store.write_draw(tmp_path, draw(20, 4.0, 4.0, 4.0))
    monkeypatch.undo()
    assert names(tmp_path) == before
    assert len(store.written_paths(tmp_path)) == 3 + written
    np.testing.assert_allclose(store.read_mean(tmp_path)[0][0], 3.0)

    left, unlink = [], type(tmp_path).unlink

    def dies(path, **arguments):
        if path.name != "mean.h5":
            if len(left) == written:
                raise KeyboardInterrupt
            left.append(path)
        return unlink(path, **arguments)

    monkeypatch.setattr(type(tmp_path), "unlink", dies)
    with pytest.raises(KeyboardInterrupt):
        store.delete(tmp_path, [tmp_path / name for name in before])
    monkeypatch.undo()
    assert names(tmp_path) == (before if written == 0 else [])


def test_means_of_draws(tmp_path):
    """Of all chains' samples, going on from the stored mean or, where that is of others, from the files."""
    for step, values in ((10, (1.0, 2.0, 6.0)), (20, (0.0, 0.0, 3.0))):
        store.write_draw(tmp_path, draw(step, *values))
        store.update_mean(tmp_path, draw(step, *values), len(names(tmp_path)))
    assert store._read_mean(tmp_path)[1] == 6
    np.testing.assert_allclose(store._read_mean(tmp_path)[0][0], 2.0)
    np.testing.assert_allclose(store._read_mean(tmp_path)[0][1], -2.0)
    (tmp_path / "mean.h5").write_bytes(b"broken")
    store.write_draw(tmp_path, draw(30, 5.0, 5.0, 5.0))
    store.update_mean(tmp_path, draw(30, 5.0, 5.0, 5.0), 9)
    np.testing.assert_allclose(store._read_mean(tmp_path)[0][0], 3.0)


@pytest.mark.slow
def test_an_interrupted_and_resumed_run_collects_the_same(tmp_path, monkeypatch):
    """It dies while it writes a draw: the resumed run deletes the half and draws anew."""

    def run(folder):
        collector = ds.posterior.Collector(folder / "posterior", burn_in=0, num_samples=3, every=1)
        backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
        model = model_to_fit()
        fit(model, collector, 9, [backup])

    run(tmp_path / "straight")
    write = store.write_weights

    def killed(path, *arguments, **attributes):
        if path.name == "sample_000000004_chain_1.h5":
            raise KeyboardInterrupt
        return write(path, *arguments, **attributes)

    monkeypatch.setattr(store, "write_weights", killed)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "resumed")
    monkeypatch.undo()
    assert names(tmp_path / "resumed" / "posterior") == [f"sample_000000002_chain_{c}.h5" for c in range(3)]
    run(tmp_path / "resumed")
    paths = [store.sample_paths(tmp_path / name / "posterior") for name in ("straight", "resumed")]
    assert len(paths[0]) == 9
    for one, other in zip(*paths, strict=True):
        assert one.name == other.name
        one, other = store.read_sample(one), store.read_sample(other)
        for a, b in zip(one.theta + one.phi, other.theta + other.phi, strict=True):
            np.testing.assert_array_equal(a, b)


def test_half_a_draw_is_cleared_away(tmp_path):
    """Of the chain's own run, which goes on; a finished collection is not begun again for it."""
    model = model_to_fit(2)
    collector = ds.posterior.Collector(tmp_path, burn_in=0, num_samples=1, every=1)
    fit(model, collector, 1)
    store.write_weights(tmp_path / "sample_000000001_chain_2.h5", [np.zeros(1)], [np.zeros(1)], step=1, chain=2)
    fit(model, collector, 1)
    assert [path.name for path in store.written_paths(tmp_path)] == names(tmp_path)
    assert {store.step_of(path) for path in store.written_paths(tmp_path)} == {2}
    assert int(model.run.steps) == 2


@pytest.mark.slow
def test_the_mean_of_a_chain_that_was_overwritten_is_gone(tmp_path, monkeypatch):
    """A run killed after its first draw and before its mean must not leave the mean of the run before."""

    def run(seed, **arguments):
        model = tiny_model((2,), units=4, seed=seed)
        model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), jit_compile=False, num_chains=2)
        collector = ds.posterior.Collector(tmp_path, num_samples=1, burn_in=0, **arguments, every=1)
        model.fit(X, batch_size=4, verbose=0, callbacks=[collector])

    def killed(*arguments):
        raise KeyboardInterrupt

    run(1)
    with monkeypatch.context() as patch:
        patch.setattr(store, "update_mean", killed)
        with pytest.raises(KeyboardInterrupt):
            run(2, overwrite=True)
    posterior = ds.posterior.load(tmp_path).chain(0)
    whole = store.read_mean(tmp_path)[0]
    samples = [store.read_sample(path).theta for path in store.sample_paths(tmp_path)]
    assert len(posterior.samples) == 1
    for mean, *parts in zip(whole, *samples):
        np.testing.assert_allclose(mean, np.mean(parts, 0), rtol=1e-6)
