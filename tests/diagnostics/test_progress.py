"""One line for a run: what is written where, and when."""

import io
import re

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model


class Terminal(io.StringIO):
    def isatty(self):
        return True


def play(progress, epochs, first=0, until=None, logs=None):
    """Runs the callback as Keras would."""
    progress.set_params({"epochs": epochs})
    progress.on_train_begin()
    for epoch in range(first, until or epochs):
        progress.on_epoch_end(epoch, logs)
    progress.on_train_end()
    return progress.stream.getvalue()


def epochs_of(text):
    return [int(epoch) for epoch in re.findall(r"epoch (\d+) of", text)]


@pytest.mark.parametrize(
    ("epochs", "first", "until", "shown"),
    [
        (500, 0, None, list(range(50, 501, 50))),
        (12, 0, None, [2, 3, 4, 5, 6, 8, 9, 10, 11, 12]),
        (3, 0, None, [1, 2, 3]),
        (1, 0, None, [1]),
        (100, 37, None, [40, 50, 60, 70, 80, 90, 100]),
        (100, 0, 33, [10, 20, 30, 33]),
        (100, 0, 30, [10, 20, 30]),
        (100, 100, None, []),
    ],
)
def test_a_line_after_each_tenth_and_at_the_end(epochs, first, until, shown):
    text = play(ds.diagnostics.Progress(stream=io.StringIO()), epochs, first, until)
    assert epochs_of(text) == shown and text.count("\n") == len(shown) and "\r" not in text


def test_a_terminal_has_one_line():
    logs = {"log_likelihood": -20.126, "val_log_likelihood": np.float32(-19.5), "kinetic_temperature": 1.0}
    text = play(ds.diagnostics.Progress(stream=Terminal()), 30, logs=logs)
    assert text.count("\n") == 1 and text.endswith("\n") and epochs_of(text) == list(range(1, 31))
    shown = text.removesuffix("\n").split("\r")[1:]
    assert shown[0] == "compiling"
    assert shown[1].startswith("epoch 1 of 30, log-likelihood -20.13, validation -19.50, 0:0")
    assert "to go" not in shown[1] and "to go" in shown[2] and "to go" not in shown[-1]
    assert all(len(line) >= len(before.rstrip()) for before, line in zip(shown, shown[1:])), "leaves something behind"


def test_one_metric_may_be_named_by_a_word():
    logs = {"log_likelihood": -20.126, "val_log_likelihood": -19.5}
    text = play(ds.diagnostics.Progress(metrics="log_likelihood", stream=io.StringIO()), 10, logs=logs)
    assert "log-likelihood -20.13" in text and "validation" not in text


def test_a_line_keeps_to_the_width_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "30")
    text = play(ds.diagnostics.Progress(stream=Terminal()), 3, logs={"log_likelihood": -20.0})
    assert max(len(line) for line in text.strip().split("\r")) == 29


def test_the_time_to_go_is_that_of_the_epochs_after_the_first(monkeypatch):
    """The first of 100 epochs takes 20 seconds, the others two each."""
    now = iter([0.0, *(20.0 + 2.0 * i for i in range(100))])
    monkeypatch.setattr("time.monotonic", lambda: next(now))
    lines = play(ds.diagnostics.Progress(stream=io.StringIO()), 100).splitlines()
    assert lines[0] == "epoch 10 of 100, 0:38, 3:00 to go" and lines[-1] == "epoch 100 of 100, 3:38"


def test_a_fit_with_it(capsys):
    model = tiny_model((2,), units=4)
    model.compile("sgnht", jit_compile=False)
    x = np.eye(4, dtype=np.float32)
    model.fit(x, epochs=2, validation_data=x, verbose=0, callbacks=[ds.diagnostics.Progress()])
    first, last = capsys.readouterr().out.splitlines()
    assert first.startswith("epoch 1 of 2, log-likelihood -") and ", validation -" in last


def test_parts_are_counted():
    with pytest.raises(ValueError, match="Received: parts=0"):
        ds.diagnostics.Progress(parts=0)


def test_a_metric_of_validation_alone_has_its_whole_name():
    progress = ds.diagnostics.Progress(["val_log_likelihood"], stream=io.StringIO())
    text = play(progress, 1, logs={"val_log_likelihood": 1})
    assert text.startswith("epoch 1 of 1, validation log-likelihood 1.00, ")
