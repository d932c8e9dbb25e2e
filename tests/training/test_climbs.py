"""Climbs one after the other: when another follows, where it begins, which weights the chain goes to, what is kept."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tfdsmcmc.posterior import starts

ROWS = np.array([[1, 0, 1, 0], [0, 0, 1, 1], [1, 1, 0, 1], [0, 1, 0, 0]], "float32")
FIRST, SECOND, THIRD = [1.0, 3.0, 2.9, 2.9], [0.5, 2.0, 4.0, 3.9, 3.9], [0.0, 1.0, 0.9, 0.9]


class Looks(keras.callbacks.Callback):
    """Looks that find what they are told to, an epoch of one update each, and the weights after each."""

    def __init__(self, values):
        super().__init__()
        self.values, self.seen = values, {}

    def on_train_begin(self, logs=None):
        validated, run = type(self.model.run).validated, self.model.run
        run.validated = lambda value, epoch_steps, outdoes: validated(run, self.value(int(run.steps)), epoch_steps)

    def value(self, step):
        return self.values[step - 1] if step <= len(self.values) else 0.0

    def on_epoch_end(self, epoch, logs=None):
        (theta, phi), *_ = self.model.chain_weights()
        self.seen[int(self.model.run.steps)] = [*theta, *phi]


def compiled(climbs=3, jit_compile=False, num_chains=1, proposal="auto", **arguments):
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC(learning_rate=0.01), patience=2, climbs=climbs, **arguments)
    proposal = ds.proposals.Wake(keras.optimizers.Adam(0.01)) if proposal == "auto" else proposal
    model.compile(kernel, ds.latents.NAIS(5), proposal, num_chains=num_chains, jit_compile=jit_compile)
    return model


def fit(model, values, until, start=0, callbacks=()):
    looks = Looks(values)
    model.fit(
        ROWS, batch_size=4, epochs=until, initial_epoch=start, verbose=0, validation_data=ROWS,
        callbacks=[looks, *callbacks],
    )  # fmt: skip
    return looks.seen


def begins(model):
    return int(model.run.state.kernel_results.begins)


def assert_equal(found, wanted):
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def differ(one, other):
    return any(np.any(a != b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_three_climbs_and_the_chain_goes_to_the_best_of_them(jit_compile):
    model = compiled(jit_compile=jit_compile)
    at, new_phi = [], {}

    def look(epoch, logs):
        at.append((begins(model), model.run.sampled))
        new_phi[epoch + 1] = [part.numpy() for part in model.run.state.best_phi.values]

    stops = keras.callbacks.LambdaCallback(on_epoch_end=look)
    seen = fit(model, [*FIRST, *SECOND, *THIRD], 40, callbacks=[stops])
    assert [begun for begun, _ in at[:13]] == [21] * 12 + [14]  # the plan stands until the third has ended
    assert [sampled for _, sampled in at[12:15]] == [False, False, True]
    assert_equal(seen[14], seen[7])  # of the second climb, θ and φ
    assert begins(model) == 14
    best, *others = starts.starts_of(model)
    assert_equal([*best.theta, *best.phi], seen[7])
    for found, step in zip(others, (2, 11), strict=True):
        assert_equal([*found.theta, *found.phi], seen[step])
        assert found.chain == 0
    for step in (5, 10):  # new weights, other than any before
        assert not any(differ(seen[step], seen[before]) is False for before in range(1, step))
        assert_equal(seen[step][-len(new_phi[1]) :], new_phi[step - 1])


@pytest.mark.slow
def test_a_climb_begins_at_new_weights_with_a_new_optimizer():
    model, found = compiled(), {}

    def keep(epoch, logs):
        state = model.run.state
        start = [*state.kernel_results.attempt.start, *state.best_phi.values]
        found[epoch + 1] = [part.numpy() for part in start], int(state.kernel_results.climb.step)

    seen = fit(model, [*FIRST, *SECOND], 40, callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=keep)])
    assert_equal(seen[5], found[4][0])  # what the look of the fourth update has drawn
    assert [found[step][1] for step in (3, 4, 5, 6)] == [3, 4, 0, 1]
    drawn = zip(seen[5], model.run.step.fresh_weights(1), strict=True)
    assert all((np.std(part) > 0) == (np.std(other) > 0) for part, other in drawn if part.size)


@pytest.mark.parametrize(("values", "epochs", "ends"), [
    # 12 updates are planned: the first has left 8, which is two more of 4
    pytest.param(FIRST, 22, 5, marks=pytest.mark.slow),
    ([0.0, *FIRST], 22, 6),  # 7 are left, not 10
])  # fmt: skip
def test_others_follow_where_all_have_room(values, epochs, ends):
    model = compiled()
    fit(model, values, epochs)
    count = len(starts.starts_of(model))
    assert count == (3 if values == FIRST else 1)
    assert begins(model) == ends if count == 1 else begins(model) > ends


@pytest.mark.slow
def test_a_climb_without_a_finite_look_has_found_nothing():
    model = compiled()
    seen = fit(model, [*FIRST, *[float("nan")] * 40], 40)
    assert begins(model) == 8 and model.run.sampled
    assert_equal(seen[8], seen[2])
    assert len(starts.starts_of(model)) == 1


def test_a_climb_that_is_ended_is_the_last():
    model = compiled()
    ends = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: epoch == 5 and model.run.end_climb())
    seen = fit(model, [*FIRST, 0.5, 2.0], 40, callbacks=[ends])
    assert_equal(seen[7], seen[2])  # 3.0 of the first, beside 2.0
    assert begins(model) == 7
    best, other = starts.starts_of(model)
    assert_equal([*best.theta, *best.phi], seen[2])
    assert_equal([*other.theta, *other.phi], seen[6])


@pytest.mark.slow
@pytest.mark.parametrize("at", [4, 7, 9, 13])
def test_a_run_that_is_stored_goes_on(tmp_path, at):
    values = [*FIRST, *SECOND, *THIRD]
    whole = compiled()
    seen = fit(whole, values, 20)
    first, second = compiled(), compiled()
    stop = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: setattr(first, "stop_training", epoch == at - 1)
    )
    fit(first, values, 20, callbacks=[stop])
    first.save_weights(tmp_path / "run.weights.h5")
    second.load_weights(tmp_path / "run.weights.h5")
    again = fit(second, values, 20, at)
    assert_equal(again[20], seen[20])
    assert begins(second) == begins(whole)
    for one, other in zip(starts.starts_of(second), starts.starts_of(whole), strict=True):
        assert_equal([*one.theta, *one.phi], [*other.theta, *other.phi])


@pytest.mark.parametrize("arguments", [
    {"climbs": 1}, {"num_chains": 2}, {"proposal": None}, {"updates": 5}, {"optimizer": "sgd"},
])  # fmt: skip
def test_one_climb_alone(arguments):
    model = compiled(**arguments)
    assert model.run.climbs is None


def test_the_number_of_climbs_is_checked_and_kept():
    with pytest.raises(ValueError, match="climbs .*Received: climbs=0"):
        compiled(climbs=0)
    kernel = ds.methods.dsgnht_nais()["kernel"]
    assert kernel.most_climbs == 3
    assert type(kernel).from_config(kernel.get_config()).most_climbs == 3
    assert ds.methods.dsgnht_gibbs()["kernel"].most_climbs == 1


class Own(ds.layers.SBN):
    """A layer that its configuration does not make anew."""

    def get_config(self):
        raise NotImplementedError("An own layer.")


@pytest.mark.slow
def test_layers_that_cannot_be_made_anew_climb_once():
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([Own(2), ds.layers.SBN(4)]), ds.RecognitionNetwork([ds.layers.SBN(2)]), seed=2
    )
    model.compile(
        ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC(learning_rate=0.01), patience=2, climbs=3), ds.latents.NAIS(5), "wake",
        jit_compile=False,
    )  # fmt: skip
    seen = fit(model, FIRST, 40)
    assert_equal(seen[5], seen[2])
    assert begins(model) == 5


def stopped(model, at, until=40):
    """Weights seen by a fit that is stopped after so many updates."""
    stop = keras.callbacks.LambdaCallback(
        on_epoch_end=lambda epoch, logs: setattr(model, "stop_training", epoch == at - 1)
    )
    return fit(model, [*FIRST, *SECOND], until, callbacks=[stop])


@pytest.mark.slow
@pytest.mark.parametrize(("at", "updates", "validates"), [
    (4, 1, True), (4, 2, True), (4, 8, False), (5, 1, True), (6, 8, False),
])  # fmt: skip
def test_a_later_fit_that_ends_a_later_climb_goes_to_the_best(at, updates, validates):
    """The first climb has 3.0, the second at most 2.0 when it ends with the plan of the later fit, or unseen."""
    model = compiled()
    seen = stopped(model, at)
    held = {"validation_data": ROWS} if validates else {}
    looks = Looks([*FIRST, *SECOND])
    model.fit(ROWS, batch_size=4, epochs=at + updates, initial_epoch=at, verbose=0, callbacks=[looks], **held)
    assert_equal(looks.seen[at + 1], seen[2])
    assert begins(model) == at + 1
    assert_equal([part for parts in starts.starts_of(model)[0][:2] for part in parts], seen[2])


@pytest.mark.slow
def test_a_file_of_one_climb_has_one_start(tmp_path):
    one, other = compiled(climbs=1), compiled()
    fit(one, FIRST, 10)
    one.save_weights(tmp_path / "one.weights.h5")
    stopped(other, 16)
    assert len(starts.starts_of(other)) > 1
    other.load_weights(tmp_path / "one.weights.h5")
    assert len(starts.starts_of(other)) == 1
    other = compiled()
    stopped(other, 6)
    other.save_weights(tmp_path / "several.weights.h5")
    before = one.get_weights()
    with pytest.raises(ValueError, match="a run of several climbs.*Received: .* and 2 in the file"):
        one.load_weights(tmp_path / "several.weights.h5")
    assert_equal(one.get_weights(), before)
