"""One-hot codes as bits and as groups: the models, a short run, the table."""

import json

import numpy as np
import pytest

from experiments.one_hot import __main__ as one_hot
from tfdsmcmc.posterior.averages import AVERAGES

CODES = np.eye(3, dtype=np.uint8)[np.random.default_rng(0).integers(0, 3, (60, 2))].reshape(60, 6)
LINE = {"dataset": "adult", "form": "groups", "units": 50, "seed": 0, "samples": 10, "updates": 4000, "parts": 21}
LINE |= {"processor_seconds": 70, "value": -13.127, "error": 0.001, "row_error": 0.16, "rows": 494}


def test_both_forms_start_at_the_shares_of_the_columns():
    columns, groups = (one_hot.model_of(form, CODES, 2, 0) for form in ("columns", "groups"))
    share = (CODES.sum(0) + 0.5) / 61
    np.testing.assert_allclose(columns.generative.layers[-1].bias, np.log(share / (1 - share)), rtol=1e-4)
    layer = groups.generative.layers[-1]
    assert [kind.entries for kind in layer.columns] == [3, 3] and layer.dependent
    logits = np.log(CODES.sum(0) + 0.5).reshape(2, 3)
    logits -= logits.mean(1, keepdims=True)
    np.testing.assert_allclose(np.reshape(layer._output[1], (2, 3)), logits, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(("form", "climb"), [("columns", None), ("groups", 2)])
def test_a_run_adds_a_line(form, climb, tmp_path, monkeypatch):
    data = type("Data", (), {"train": CODES, "valid": CODES[:4], "test": CODES[:7]})
    monkeypatch.setattr(one_hot.ds.datasets, "load", lambda name: data)
    record, options = tmp_path / "record.jsonl", "--units 2 --updates 4 --posterior-samples 2 --samples 5 --rows 3"
    options += "" if climb is None else f" --climb {climb}"
    kernels, build = [], one_hot.ds.DeepGenerativeModel.compile
    compiling = lambda *a, kernel, **k: kernels.append(kernel) or build(*a, kernel=kernel, **k)  # noqa: E731
    monkeypatch.setattr(one_hot.ds.DeepGenerativeModel, "compile", compiling)
    one_hot.main([*options.split(), "--form", form, "--output", str(tmp_path), "--record", str(record)])
    (line,) = map(json.loads, record.read_text().splitlines())
    parts = {"columns": 6, "groups": 2}[form]
    assert [line[name] for name in ("form", "updates", "rows", "parts", "climb")] == [form, 4, 3, parts, climb]
    assert [kernel.parameters["updates"] for kernel in kernels] == [climb]
    assert line["average"] in AVERAGES
    assert np.isfinite(line["value"]) and line["value"] < 0


def test_the_table_is_printed(tmp_path, capsys):
    record = tmp_path / "record.jsonl"
    record.write_text("\n".join(json.dumps(part) for part in (LINE, {**LINE, "form": "columns", "parts": 123})))
    one_hot.main(["--record", str(record)])
    first, second = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| adult")]
    assert "| columns | 123" in first and second == "| adult | groups | 21 | 4,000 | 70 | -13.13 ± 0.16 of 494 rows |"
