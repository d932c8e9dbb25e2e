"""What is not finite changes nothing, is said where it is much, and is an error where nothing else happens."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.oracles import PUBLISHED_PRIOR, tiny_model
from tfdsmcmc.posterior.history import History

tfd = tfp.distributions
GOOD = np.random.default_rng(0).normal(size=(8, 3)).astype(np.float32)
BAD = np.full((8, 3), 1e25, np.float32)  # whose log-density overflows


def model_of(latents="nais", proposal="wake", kernel="sgnht", **arguments):
    """Of real data, with the layers' own first weights: with large ones σ is so large that nothing overflows."""
    keras.utils.set_random_seed(1)
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.MLPGaussian(3)])
    recognition = ds.RecognitionNetwork([ds.layers.SBN(2)])
    model = ds.DeepGenerativeModel(generative, recognition, prior=PUBLISHED_PRIOR, seed=1)  # no scales to draw
    model.compile(kernel, latents, proposal, jit_compile=False, **arguments)
    return model


def state(model):
    """All that a step changes, as arrays by name, but the counts of steps."""
    found = {f"weight {i}": array for i, array in enumerate(model.get_weights())}
    found |= {name: variable.numpy() for name, variable in model.run.saved.items()}
    found |= {f"optimizer {i}": variable.numpy() for i, variable in enumerate(model.optimizer.variables)}
    return found


def assert_as_it_was(model, before):
    """Bit for bit, but what counts steps."""
    counted = {"steps", "num_rows", "epochs", "epochs_before"}
    for name, value in state(model).items():
        if name in counted or (value.dtype == np.int32 and value.size <= 2):
            continue
        np.testing.assert_array_equal(value, before[name], err_msg=name)


METHODS = {
    "sgnht and wake": {},
    "sghmc and wake-sleep": {"kernel": "sghmc", "proposal": "wake_sleep"},
    "map and nvil": {"kernel": "map", "proposal": ds.proposals.NVIL(keras.optimizers.Adam(1e-2), baseline_units=2)},
    "interleaved": {"kernel_steps": 2, "interleaved": True},
    "two chains": {"num_chains": 2},
}


@pytest.mark.parametrize("name", METHODS)
def test_minibatches_that_are_not_finite_leave_everything_as_it_was(name):
    model = model_of(**METHODS[name])
    model.fit(GOOD, batch_size=4, verbose=0)
    before = state(model)
    with pytest.warns(RuntimeWarning, match="100%"), pytest.raises(ds.DivergedError, match="did not move.*Received: "):
        model.fit(BAD, batch_size=4, epochs=20, verbose=0)
    assert_as_it_was(model, before)
    assert all(np.isfinite(array).all() for array in model.get_weights())
    history = model.fit(GOOD, batch_size=4, verbose=0).history  # goes on
    assert history["skipped_steps"] == [0.0] and np.isfinite(history["loss"]).all()


def test_one_row_spoils_its_minibatch_alone():
    """Three minibatches of four rows: of the one with the row, chains over z stay too."""
    x = np.concatenate([GOOD, GOOD[:4]])
    x[5] = BAD[5]
    model = model_of(latents=ds.latents.Gibbs(2, persistent=True))
    model.fit(x[:4], batch_size=4, epochs=0, verbose=0)
    starts = []

    class Begin(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            starts.append([part.numpy() for part in self.model.run.state.carried])

    before = state(model)
    with pytest.warns(RuntimeWarning, match="33% of the epoch's updates were left out"):
        history = model.fit(x, batch_size=4, shuffle=False, verbose=0, callbacks=[Begin()]).history
    assert history["skipped_steps"] == pytest.approx([1 / 3])
    after = state(model)
    assert all(np.isfinite(array).all() for array in after.values())
    assert any((after[name] != before[name]).any() for name in before if name.startswith("weight"))
    for start, part in zip(starts[0], model.run.state.carried):
        np.testing.assert_array_equal(part[4:8], start[4:8])


def test_updates_are_counted_and_few_are_not_worth_a_warning():
    x = np.concatenate([GOOD] * 6)
    x[0] = BAD[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        history = model_of(proposal_steps=2).fit(x, batch_size=4, verbose=0).history
    assert history["skipped_steps"] == pytest.approx([1 / 12])


def test_a_prior_that_no_float_can_follow_is_an_error_and_leaves_no_samples(tmp_path):
    model = tiny_model((2,), prior=tfd.Normal(0.0, 1e-30))
    model.compile("sgnht", jit_compile=False)
    collector = ds.posterior.Collector(tmp_path / "posterior", num_samples=3, burn_in=0, every=1)
    with pytest.raises(ds.DivergedError, match="wider.*prior.*Received: 12 updates of the chain"):
        model.fit(np.eye(3).repeat(4, 0), batch_size=1, epochs=4, verbose=0, callbacks=[collector])
    assert not list(tmp_path.rglob("sample*"))
    assert int(model.run.epochs) == 0


@pytest.mark.parametrize("kernel", [ds.mcmc.SGLD(learning_rate=1e6), ds.mcmc.SGNHT(learning_rate=1e6)])
def test_a_chain_that_diverges_stops(kernel):
    """Its weights grow until nothing is finite: then it is an error, and they are finite still."""
    model = model_of(kernel=kernel)
    with pytest.warns(RuntimeWarning, match="left out"), pytest.raises(ds.DivergedError):
        model.fit(GOOD, batch_size=1, epochs=300, verbose=0)
    assert all(np.isfinite(array).all() for array in model.get_weights())


def test_few_updates_an_epoch_are_waited_for():
    """One of nine that is not finite is none in ten; ten in a row are an error."""
    model = model_of()
    with pytest.warns(RuntimeWarning, match="100%"):
        model.fit(BAD[:4], batch_size=4, epochs=9, verbose=0)
    with pytest.warns(RuntimeWarning, match="100%"), pytest.raises(ds.DivergedError, match="Received: 10 updates"):
        model.fit(BAD[:4], batch_size=4, epochs=19, verbose=0)


def test_chains_over_z_stay_where_phi_alone_learns():
    model = model_of(latents=ds.latents.Gibbs(2, persistent=True), kernel_steps=0)
    starts = []

    class Begin(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            starts.append([part.numpy() for part in self.model.run.state.carried])

    with pytest.warns(RuntimeWarning, match="left out"):
        model.fit(np.concatenate([GOOD[:4], BAD[:4]]), batch_size=4, shuffle=False, verbose=0, callbacks=[Begin()])
    for start, part in zip(starts[0], model.run.state.carried):
        np.testing.assert_array_equal(part[4:], start[4:])


def test_keras_finds_the_loss_that_it_looks_for():
    model = model_of()
    monitor = keras.callbacks.EarlyStopping(patience=100)  # of val_loss, by default
    history = model.fit(GOOD, batch_size=4, epochs=2, verbose=0, validation_data=GOOD, callbacks=[monitor]).history
    for prefix in ("", "val_"):
        assert history[prefix + "loss"] == [-value for value in history[prefix + "log_likelihood"]]
    assert monitor.best == min(history["val_loss"])


def test_terminate_on_nan_fires():
    x = np.concatenate([GOOD[:4], BAD[:4]])
    model = model_of()
    with pytest.warns(RuntimeWarning, match="left out"):
        model.fit(x, batch_size=4, epochs=5, verbose=0, callbacks=[keras.callbacks.TerminateOnNaN()])
    assert int(model.run.epochs) == 1


def test_validation_that_is_not_finite_is_no_stall(tmp_path):
    """Neither better nor settled: collecting begins after five epochs without a rise that have a value."""
    values = [1.0, np.nan, -np.inf, 0.5, np.nan, 0.4, 0.3, 0.2]

    class Script(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            logs["val_log_likelihood"] = values[epoch]

    model = tiny_model((2,))
    model.compile("sgnht", jit_compile=False)
    collector = ds.posterior.Collector(tmp_path, num_samples=1, patience=2, every=1)
    model.fit(np.eye(3), batch_size=3, epochs=20, verbose=0, validation_data=np.eye(3), callbacks=[Script(), collector])
    assert [sample.step for sample in ds.posterior.load(tmp_path).samples] == [8]
    assert len(History(tmp_path).read()[1]) == 8


def test_weights_that_are_not_finite_are_refused(tmp_path):
    model = tiny_model((2,))
    model.compile("sgnht", jit_compile=False)
    model.fit(np.eye(3), verbose=0, callbacks=[ds.posterior.Collector(tmp_path / "good", num_samples=1, burn_in=0)])
    weights = [np.full_like(array, np.nan) for array in model.get_weights()]
    good, folder = model.get_weights(), tmp_path / "bad"
    model.set_weights(weights)
    x = np.array([[1, np.nan, 0]])
    for use in (
        lambda: model.sample(2),
        lambda: model.impute(x),
        lambda: model.log_likelihood(np.eye(3)),
        lambda: ds.serving.export(model, tmp_path / "export"),
        lambda: ds.posterior.store.write_draw(folder, ds.posterior.store.draw_of(model)),
    ):
        with pytest.raises(ValueError, match="must be finite.*Received: "):
            use()
    assert not (tmp_path / "export").exists() and not folder.exists()
    model.set_weights(good)
    (path,) = (tmp_path / "good").glob("sample_*.h5")
    sample = ds.posterior.store.read_sample(path)
    ds.posterior.store.write_weights(path, [part * np.nan for part in sample.theta], sample.phi, step=sample.step)
    with pytest.raises(ValueError, match=rf"{path.name} must be finite.*Received: "):
        len(ds.posterior.load(tmp_path / "good").samples[0].theta)
