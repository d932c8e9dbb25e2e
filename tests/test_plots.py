"""Pictures: what is drawn where."""

import sys
from types import SimpleNamespace

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc import plots
from tfdsmcmc.posterior.curve import Curve


def canvas(figure):
    return np.asarray(figure.axes[0].images[0].get_array())


def test_samples_lie_row_by_row_with_a_border():
    x = np.zeros((3, 6))
    x[0, 0] = x[1, 5] = x[2, 3] = 1
    drawn = canvas(plots.samples(x, (2, 3), columns=2, title="t"))
    assert drawn.shape == (2 * 3 + 1, 2 * 4 + 1)
    assert drawn[1, 1] == 1 and drawn[2, 7] == 1 and drawn[5, 1] == 1
    assert np.all(drawn[0] == 0.5) and np.all(drawn[:, 4] == 0.5)
    assert (drawn == 1).sum() == 3


def test_features_take_the_largest_and_keep_their_signs():
    weights = np.array([[0.0, 0.0], [2.0, -4.0], [8.0, 8.0]])
    drawn = canvas(plots.features(weights, (1, 2), columns=1, limit=2))
    np.testing.assert_array_almost_equal(drawn[1, 1:3], [1.0, 1.0])
    np.testing.assert_array_almost_equal(drawn[3, 1:3], [0.25, -0.5])
    assert np.all(canvas(plots.features(np.zeros((3, 2)), (1, 2))) == 0)
    drawn = canvas(plots.features(weights, (1, 2), columns=1, limit=2, scales=[3.0, 1.0, 2.0]))
    np.testing.assert_array_almost_equal([drawn[1, 1:3], drawn[3, 1:3]], [[0.0, 0.0], [1.0, 1.0]])


def test_learning_curves_draw_the_metrics_there_are():
    history = {"log_likelihood": [-3.0, -2.0], "val_log_likelihood": [-2.5, -2.2], "other": [1, 2]}
    figure = plots.learning_curves(history)
    lines = figure.axes[0].get_lines()
    assert [list(line.get_ydata()) for line in lines] == [[-3.0, -2.0], [-2.5, -2.2]]
    assert [list(line.get_xdata()) for line in lines] == [[1, 2], [1, 2]]


def epochs_of(history, name):
    (line,) = plots.learning_curves(history, [name]).axes[0].get_lines()
    return list(line.get_xdata())


def test_learning_curves_stand_at_their_epochs():
    """A fit that goes on begins where it went on; a dict tells no epochs: values of every other one stand nowhere."""
    history = SimpleNamespace(history={"log_likelihood": [-3.0, -2.0]}, epoch=[4, 5])
    assert epochs_of(history, "log_likelihood") == [5, 6]
    metrics = {"log_likelihood": [-3.0, -2.0, -1.0, -0.5], "val_log_likelihood": [-2.0, -1.0]}
    for names in (["log_likelihood", "val_log_likelihood"], ["val_log_likelihood"]):
        with pytest.raises(ValueError, match="each of 4 epochs.* Received: shapes .*'val_log_likelihood'"):
            plots.learning_curves(metrics, names)
    assert epochs_of(metrics, "log_likelihood") == [1, 2, 3, 4]


@pytest.mark.parametrize("package", ["tfdsmcmc", "keras"])
@pytest.mark.parametrize(("epochs", "initial", "every"), [(4, 0, 2), (10, 0, 3), (5, 0, 2), (8, 4, 2), (3, 0, 1)])
def test_validation_stands_at_the_epochs_it_is_of(package, epochs, initial, every):
    """As callbacks see them in the fit; Keras notes no validation_freq, and one integer alone gives so many values."""
    history, seen = fitted(package, epochs, initial, every)
    assert epochs_of(history, "val_loss") == seen and epochs_of(history, "loss") == list(range(initial + 1, epochs + 1))


def test_listed_epochs_of_validation():
    """Beyond the last and of a fit that stops early too; of Keras' own fit the list cannot be known, and is refused
    where no integer, or more than one, gives so many values."""
    assert epochs_of(fitted("tfdsmcmc", 6, 0, [1, 4, 5, 9])[0], "val_loss") == [1, 4, 5]
    assert epochs_of(fitted("tfdsmcmc", 6, 0, (3, 1), stop=4)[0], "val_loss") == [1, 3]
    assert epochs_of(fitted("tfdsmcmc", 4, 0, 3)[0], "val_loss") == [3]
    assert epochs_of(fitted("tfdsmcmc", 7, 2, 3)[0], "val_loss") == [3, 6]
    for every in ([1, 2, 4], [1], 3, 4):  # three values of four, or one, of every third epoch or of every fourth
        with pytest.raises(ValueError, match="known validation_freq. Received: shapes .*'val_loss'"):
            plots.learning_curves(fitted("keras", 4, 0, every)[0], ["val_loss"])


def fitted(package, epochs, initial, every, stop=None):
    """(the history of a fit, the epochs with validation)."""
    seen, rows = [], np.eye(2, dtype=np.float32)

    def look(epoch, logs):
        seen.extend([epoch + 1] if "val_loss" in logs else [])
        model.stop_training = epoch + 1 == stop

    told = {"epochs": epochs, "initial_epoch": initial, "validation_freq": every, "verbose": 0}
    told["callbacks"] = [keras.callbacks.LambdaCallback(on_epoch_end=look)]
    if package == "keras":
        model = keras.Sequential([keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        return model.fit(rows, rows[:, :1], validation_data=(rows, rows[:, :1]), **told), seen
    model = ds.boltzmann.MixtureOfBernoullis(2, 2)
    model.compile(jit_compile=False)
    return model.fit(rows, validation_data=rows, **told), seen


@pytest.mark.parametrize("entry", [np.nan, np.inf])
def test_entries_that_have_no_shade_are_refused(entry):
    """They would be drawn as 0 or as 1; finite ones beyond, as a normal data layer draws them, are."""
    x = np.full((2, 4), 0.5)
    plots.samples(x * 4, (2, 2))
    x[1, 2] = entry
    with pytest.raises(ValueError, match="must be finite. Received: 1 that are not"):
        plots.samples(x, (2, 2))


def test_saving_makes_folders_and_whole_files(tmp_path):
    path = plots.save(plots.samples(np.eye(4), (2, 2)), tmp_path / "new" / "x.png")
    assert open(path, "rb").read(8) == b"\x89PNG\r\n\x1a\n"
    assert [p.name for p in (tmp_path / "new").iterdir()] == ["x.png"]


@pytest.mark.parametrize("name", ["x", "x.no_such_format", ".png"])
def test_files_without_a_format_are_refused_before_anything_is_made(name, tmp_path):
    with pytest.raises(ValueError, match="suffix.*Received: path="):
        plots.save(plots.samples(np.eye(4), (2, 2)), tmp_path / "new" / name)
    assert not list(tmp_path.iterdir())


def test_no_global_state_is_used():
    plots.samples(np.eye(4), (2, 2))
    assert "matplotlib.pyplot" not in sys.modules or not sys.modules["matplotlib.pyplot"].get_fignums()


def test_what_does_not_fit_is_refused():
    columns, limit = (f"^{name} must be .*Received: {name}=" for name in ("columns", "limit"))
    shape = "^A shape is .*Received: shape="
    numbers = "must be an array of numbers.*Received: list"
    for reason, call in (
        (r"need rows of 4. Received: shape=\(2, 5\)", lambda: ds.plots.samples(np.zeros((2, 5)), (2, 2))),
        (r"need rows of 4. Received: shape=\(0, 4\)", lambda: ds.plots.samples(np.zeros((0, 4)), (2, 2))),
        (r"need rows of 4. Received: shape=\(4,\)", lambda: ds.plots.features(np.zeros(4), (2, 2))),
        ("is in the history. Received: .*'loss'", lambda: ds.plots.learning_curves({"loss": [1.0]})),
        ("A history is a dict.*Received: NoneType", lambda: ds.plots.learning_curves(None)),
        (f"^log_likelihood {numbers}", lambda: ds.plots.learning_curves({"log_likelihood": ["a"]})),
        *((columns, lambda c=c: ds.plots.samples(np.eye(4), (2, 2), columns=c)) for c in (-1, 0, 2.5)),
        *((shape, lambda s=s: ds.plots.samples(np.eye(4), s)) for s in (None, (4,), (2.0, 2.0), (-2, -2), "22")),
        *((limit, lambda n=n: ds.plots.features(np.eye(4), (2, 2), limit=n)) for n in (0, -1, 1.5)),
        (
            r"for each of 4 units. Received: scales of shape \(3,\)",
            lambda: ds.plots.features(np.eye(4), (2, 2), scales=[1, 2, 3]),
        ),
        (f"^images {numbers}", lambda: ds.plots.samples([["a"] * 4], (2, 2))),
    ):
        with pytest.raises(ValueError, match=reason):
            call()


# ---- traces and curves


def test_traces_have_a_line_and_a_histogram_for_each_chain():
    others = {"w[1, 2]": np.ones((2, 3)), "b": np.ones((2, 3))}
    trace = {"log_prior": np.array([[1.0, 2.0, 4.0], [3.0, 3.0, 2.0]]), **others}
    figure = plots.traces(trace, limit=2, title="t")
    assert len(figure.axes) == 4
    lines = figure.axes[0].get_lines()
    assert [list(line.get_ydata()) for line in lines] == trace["log_prior"].tolist()
    assert [list(line.get_xdata()) for line in lines] == [[1, 2, 3]] * 2
    assert [figure.axes[i].get_title(loc="left") for i in (0, 2)] == ["log prior", "w[1, 2]"]
    assert len(figure.axes[1].patches) == 2
    assert [text.get_text() for text in figure.legends[0].get_texts()] == ["chain 0", "chain 1"]


def test_a_predictive_curve_has_both_lines_and_their_errors():
    def points(*values):
        return tuple(ds.likelihood.LogLikelihood(np.full(4, v), np.full(4, 0.2), np.full(4, 9.0)) for v in values)

    curve = Curve((1, 2, 5), points(-3.0, -2.5, -2.0), points(-3.0, -2.8, -2.7), (1, 1, 3))
    axes = plots.predictive_curve(curve).axes[0]
    drawn = [container.lines[0] for container in axes.containers]
    assert [list(line.get_xdata()) for line in drawn] == [[1, 2, 5]] * 2
    np.testing.assert_allclose([line.get_ydata() for line in drawn], [[-3, -2.5, -2], [-3, -2.8, -2.7]])
    (bar,) = axes.containers[0].lines[2]
    np.testing.assert_allclose(bar.get_segments()[0][:, 1], [-3.2, -2.8])  # two errors of 0.2/√4
    assert [text.get_text() for text in axes.get_xticklabels()] == ["1", "2", "5"]
    assert "one chain" in axes.get_legend().get_texts()[1].get_text()


def test_partition_functions_from_both_sides():
    below = [ds.boltzmann.LogPartition(v, 0.1, (low, v + 1), 5.0) for v, low in ((2.0, -np.inf), (3.0, 2.5))]
    above = [ds.boltzmann.LogPartition(v, 0.1, (v - 1, v + 1), 5.0) for v in (4.0, 3.5)]
    axes = plots.log_partitions([10, 100], below, above, exact=3.2).axes[0]
    lines = [container.lines for container in axes.containers]
    np.testing.assert_allclose([line[0].get_ydata() for line in lines], [[2, 3], [4, 3.5]])
    segments = lines[0][2][0].get_segments()
    np.testing.assert_allclose([part[:, 1] for part in segments], [[2, 3], [2.5, 4]])  # −∞ is not drawn
    assert {text.get_text() for text in axes.get_legend().get_texts()} == {"from below", "from above", "exact"}
    for wrong in ([below[0]], [1.0, 2.0]):
        with pytest.raises(ValueError, match="There is a LogPartition for each of 2 counts. Received: "):
            plots.log_partitions([10, 100], wrong)
    for counts in ([0, 100], [-1, 100], [np.nan, 100], 10):
        with pytest.raises(ValueError, match="counts must be .*positive numbers. Received: counts="):
            plots.log_partitions(counts, below)


def test_runs_go_from_left_to_right():
    """Each run a row of the grid, each β a column with its name; what does not fit is refused."""
    states = np.zeros((3, 2, 4))
    states[2, 1] = 1.0  # the last β of the second run
    axes = plots.chains(states, (0.0, 0.5, 1.0), (2, 2), title="runs").axes[0]
    canvas = axes.images[0].get_array()
    assert canvas.shape == (7, 10)
    np.testing.assert_array_equal(canvas[4:6, 7:9], 1.0)
    assert (canvas == 1.0).sum() == 4
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0", "0.5", "1"]
    for wrong in (states[0], states[:2], states[..., :0]):
        with pytest.raises(ValueError, match="States are .*Received: shapes"):
            plots.chains(wrong, (0.0, 0.5, 1.0), (2, 2))


def test_names_are_no_mathematics(tmp_path):
    """A name between dollar signs is written as it is."""
    figure = plots.traces({"cost ($b_$)": np.ones((1, 9))})
    plots.save(figure, tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 0 and figure.axes[0].get_title("left") == "cost ($b_$)"


@pytest.mark.parametrize("values", [[1.0, 1.0 + 2e-16], [1e20, 1e20], [0.0, 0.0], [-3e8, -3e8 + 1e-7], [0.0, 1e-320]])
def test_values_as_close_as_rounding_have_a_histogram(values):
    figure = plots.traces({"a": np.array([values])})
    heights = figure.axes[1].patches[0].get_xy()
    assert np.isfinite(heights).all()
    figure.canvas.draw()


def test_other_traces_and_curves_are_refused():
    for reason, call in (
        ("^names is a list.*Received: names=5", lambda: plots.learning_curves({"loss": [1.0]}, names=5)),
        ("^names is a list.*Received: names='loss'", lambda: plots.learning_curves({"loss": [1.0]}, names="loss")),
        (r"^counts must be .*Received: counts=\[\]", lambda: plots.log_partitions([], [])),
        ("A trace is a dict.*Received: an empty dict", lambda: plots.traces({})),
        ("A trace is a dict.*Received: list", lambda: plots.traces([1.0])),
        (r"A trace is a dict.*Received: {'a': \(3,\)}", lambda: plots.traces({"a": np.ones(3)})),
        ("^limit must be .*Received: limit=0", lambda: plots.traces({"a": np.ones((2, 3))}, limit=0)),
        ("^a must be an array of numbers.*Received: ", lambda: plots.traces({"a": [["x", "y"]]})),
        ("^a must be an array of numbers.*Received: ", lambda: plots.traces({"a": [[1.0, 2.0], [1.0]]})),
        ("A predictive curve is what.*Received: dict", lambda: plots.predictive_curve({"a": 1})),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
