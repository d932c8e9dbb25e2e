"""Figures and tables of what Pólya-Gamma augmentation has learnt."""

import json

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.augmentation import pictures, pretraining_bound, table
from experiments.augmentation.networks import units_in_use
from experiments.common import published
from tests.oracles import tiny_model

GIBBS = {
    "name": "ocr_letters_200_column",
    "architecture": "200",
    "rows": 1000,
    "arguments": {"dataset": "ocr_letters", "prior": "column"},
    "last": {"log_likelihood": -41.234, "row_standard_error": 0.5},
    "mean": {"log_likelihood": -42.0, "row_standard_error": 0.25},
    "harmonic_mean": -20.0,
}


def variational(model, method="vb", dataset="ocr_letters", **parts):
    arguments = {"dataset": dataset, "model": model, "method": method, "covariance": "full"}
    figures = {"value": -45.678, "standard_error": 0.01, "row_standard_error": 0.3}
    return {"training_rows": 2000, "test_means": figures, "arguments": arguments, **parts}


def cells(text, network, method):
    """The cells of the rows that begin so."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines()]
    return [row[2:] for row in rows if row[0] == network and row[1].startswith(method)]


def test_ours_stand_beside_what_was_published():
    lines = [GIBBS, variational("SBN/SBN 200"), variational("SBN/SBN 200-200", after_phases=[])]
    lines += [variational("DARN"), variational("SBN/SBN 7", "online", "digits")]
    text = table.tables(lines)
    letters = text.split("### ocr_letters")[1]
    ours = "−41.23 ± 0.50 (last draw), −42.00 ± 0.25 (mean of weights)"
    assert cells(letters, "SBN/SBN 200", "Gibbs sampling, 1,000 rows") == [["", "", "−49.5", ours, "−40.95", "−20.00"]]
    bound = ["−45.68 ± 0.30", "", "", "", ""]
    assert cells(letters, "SBN/SBN 200", "variational Bayes, 2,000 rows, full covariance") == [["−48.20", *bound]]
    assert cells(letters, "SBN/SBN 200-200", "variational Bayes")[0] == ["−47.84", *bound]
    assert "layer by layer first" in letters and letters.count("\n| SBN/SBN 200-200 | variational") == 1
    exact = ["", "", "−39.71", "−45.68 ± 0.30", "", ""]  # without hidden units it is no bound
    assert cells(letters, "DARN", "variational Bayes") == [exact]
    assert cells(letters, "SBN/SBN 200", "online") == [["−48.71", "", "", "", "", ""]]
    assert cells(text.split("### digits")[1], "SBN/SBN 7", "online variational Bayes, ") == [["", *bound]]
    with pytest.raises(ValueError, match="Received: one with .'log_likelihood'"):
        table.tables([{"log_likelihood": -1.0}])


def test_the_harmonic_mean_stands_only_beside_annealing(monkeypatch, tmp_path, capsys):
    alone = published.Published("SBN/SBN 9", "Pólya-Gamma Gibbs", "-1.00", "source", "harmonic mean")
    monkeypatch.setitem(published.PUBLISHED, "ocr_letters", [alone])
    assert table.published_rows("ocr_letters") == {}
    (tmp_path / "results.jsonl").write_text(json.dumps(GIBBS) + "\n")
    table.main([str(tmp_path / "results.jsonl")] * 2)
    text = capsys.readouterr().out
    assert text.count("−20.00") == 1
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| SBN")]
    assert all(row[5].strip() or row[6].strip() for row in rows if row[7].strip() or row[8].strip())


def test_the_bound_is_drawn_phase_after_phase(tmp_path):
    """Of an iteration that was made again the last line counts."""
    made = [(1, 1, -9.0), (1, 2, -8.0), (2, 1, -7.0), (3, 1, -5.0), (3, 2, -4.5), (3, 2, -4.0)]
    lines = [{"phase": p, "iteration": i, "test": v, "training": v + 0.5} for p, i, v in made]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (axes,) = pretraining_bound.figure_of(pretraining_bound.read(tmp_path / "log.jsonl")).axes
    test, training, *phases = axes.get_lines()
    np.testing.assert_array_equal(test.get_xydata(), np.column_stack([range(1, 6), [-9, -8, -7, -5, -4]]))
    np.testing.assert_array_equal(training.get_ydata(), test.get_ydata() + 0.5)
    assert [line.get_xdata()[0] for line in phases] == [2.5, 3.5]
    assert [text.get_text() for text in axes.texts] == ["layer 1", "layer 2", "all layers"]


def test_units_in_use_are_counted_and_drawn():
    model = tiny_model((4,))
    kernel = np.array([[0.3, 0.0, 0.0], [0.1, 0.1, -0.1], [0.09, 0.1, 0.1], [0.0, 0.0, 0.0]], np.float32)
    model.generative.layers[-1].kernel.assign(kernel)
    assert [units_in_use(model, above) for above in (0.099, 0.01, 0.2)] == [[2], [3], [0]]
    found = {"a": {"scales": [3.0, 1.0], "in_use": 1, "bound": [-5.0, 0.5]}}
    found["b"] = {"scales": [4.0, 2.0, 0.0, 0.0], "in_use": 2, "bound": None}
    left, middle, right = pictures.scales_figure(found).axes
    assert [line.get_ydata().tolist() for line in left.get_lines()] == [[3.0, 1.0], [4.0, 2.0, 0.0, 0.0]]
    np.testing.assert_array_equal(middle.get_lines()[1].get_xydata(), [[2, 1], [4, 2]])
    assert right.get_lines()[0].get_xydata().tolist() == [[2, -5]]


@pytest.mark.slow
def test_layer_by_layer_and_the_pictures(tmp_path):
    """Two layers, cut off before the last phase; what has learnt does not learn again. Then the pictures."""
    out, log = tmp_path / "run", tmp_path / "run" / "log.jsonl"
    short = "--dataset digits --model SBN/SBN+5-3 --rows 200 --test-rows 20 --draws 2 --layer-epochs 2".split()
    short = [*(word.replace("+", " ") for word in short), "--output", str(out)]
    pretraining_bound.main([*short, "--epochs", "0"])
    assert [(line["phase"], line["iteration"]) for line in pretraining_bound.read(log)] == [
        (1, 1), (1, 2), (2, 1), (2, 2)]  # fmt: skip
    (out / "arguments.json").unlink()  # which would refuse other epochs
    before = log.read_text()
    pretraining_bound.main([*short, "--epochs", "2"])
    assert log.read_text().startswith(before)
    lines = pretraining_bound.read(log)
    assert len(lines) == 6 and all(-60 < line["test"] < -10 for line in lines)
    results = (out / "results.jsonl").read_text()
    pretraining_bound.main([*short, "--epochs", "2"])  # all of which is on record
    assert (out / "results.jsonl").read_text() == results
    *_, last = map(json.loads, results.splitlines())
    assert [part["phase"] for part in last["after_phases"]] == [1, 2, 3]
    assert last["test_means"]["value"] == pytest.approx(lines[-1]["test"], abs=1e-3)
    assert "### digits" in table.tables([last])
    options = ["--dataset", "digits", "--averaged", "3", "--pictures", "4", "--output", str(tmp_path / "pictures")]
    pictures.main([str(out), *options])
    for path in (out / "bound.png", out / "samples.png", out / "features.png", tmp_path / "pictures" / "scales.png"):
        assert path.stat().st_size > 1000
    found = json.loads((tmp_path / "pictures" / "scales.json").read_text())[str(out)]
    assert len(found["scales"]) == 5 and found["scales"] == sorted(found["scales"], reverse=True)
    with pytest.raises(ValueError, match="which has none"):
        pictures.main([str(tmp_path), *options])


def test_the_layers_that_have_learnt_are_the_models_own():
    model = ds.models.from_name("SBN/SBN 3-2", units=4)
    parts = []

    class Seen(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            parts.append(pretraining_bound.so_far(model, self.model))

    ds.pretrain(model, np.eye(4), 0, ds.methods.rws(), jit_compile=False, callbacks=[Seen()])
    first, second = (part.generative.layers for part in parts)
    top, middle, data = model.generative.layers
    assert first[-1] is second[-1] is data and len(first) == 2 and first[0] is not middle
    assert second[0] is top and second[1] is middle
    whole = pretraining_bound.so_far(model, model).generative.layers
    assert all(one is other for one, other in zip(whole, model.generative.layers, strict=True))
