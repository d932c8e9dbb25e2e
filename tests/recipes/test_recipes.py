"""What a recipe is: short, on the package alone, with a command that its reader can type; and each runs, cut short."""

import ast
import csv
import os
import re
import runpy
import sys
import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.commands import ROOT, imported
from tests.oracles import tiny_model

RECIPES = sorted((ROOT / "recipes").glob("*.py"))
LIBRARIES = {"keras", "numpy", "pandas", "sklearn", "tensorflow", "tfdsmcmc"}


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_is_short_and_imports_the_package_alone(path):
    text = path.read_text(encoding="utf-8")
    found = set(imported(ast.parse(text))) - set(sys.stdlib_module_names)
    assert len(text.splitlines()) <= 80 and {"tfdsmcmc"} <= {name.split(".")[0] for name in found} <= LIBRARIES
    # by its public names: what they are is seen in the documentation
    assert [name for name in found if name.startswith("tfdsmcmc.")] == []


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_says_its_command(path):
    """With options that it has, and `make demo` where it needs what the demo leaves."""
    text = path.read_text(encoding="utf-8")
    said = ast.get_docstring(ast.parse(text))
    assert f"python recipes/{path.name}" in said or path.stem == "digits"
    assert set(re.findall(r"--[a-z-]+", said)) | {"--quick"} <= set(re.findall(r'add_argument\("(--[a-z-]+)"', text))
    assert ("make demo" in said) == ("runs/digits/" in text) or path.stem == "digits"


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_it_has_help(path, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", [str(path), "--help"])
    with pytest.raises(SystemExit) as ended:
        runpy.run_path(str(path), run_name="__main__")
    assert ended.value.code == 0 and "--quick" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("completions", ["--output", "folder.png"]),
        ("impute_table", ["--output", "folder.png"]),
        ("impute_table", ["--table", "folder.png"]),
        ("impute_table", ["--updates", "99"]),
        ("imputing", ["--imputations", "1"]),
        ("mnist", ["--epochs", "0"]),
        ("rbm", ["--epochs", "0"]),
        ("several_chains", ["--epochs", "79"]),
        ("several_chains", ["--seeds", "1", "1"]),
        ("several_chains", ["--seeds", "0", "-1"]),
    ],
)
def test_it_refuses_a_bad_option_before_it_does_anything(name, options, run, tmp_path, capsys):
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(SystemExit) as ended:
        run(name, *options)
    assert ended.value.code == 2 and "Received: " in capsys.readouterr().err
    assert [path.name for path in tmp_path.rglob("*")] == ["folder.png"]


def test_both_sides_refuses_rows_of_another_width(run, tmp_path, capsys):
    tiny_model((2,), units=4).save(tmp_path / "model.keras")
    with pytest.raises(SystemExit) as ended:
        run("both_sides", "--model", "model.keras")
    captured = capsys.readouterr()
    assert ended.value.code == 2 and captured.err.endswith("must have the 4 columns of the model. Received: 64\n")
    assert not captured.out


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs a recipe in an empty folder; returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def call(name, *options):
        path = ROOT / "recipes" / f"{name}.py"
        monkeypatch.setattr(sys, "argv", [str(path), *options, "--quick"])
        with warnings.catch_warnings():  # what a recipe asks of them ends with it
            runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    return call


@pytest.fixture
def learnt(tmp_path):
    """A model where the demo leaves its own."""
    model = ds.models.from_name("SBN/SBN 4", units=64)
    model.compile("sgnht", jit_compile=False)
    (tmp_path / "runs" / "digits").mkdir(parents=True)
    model.save(tmp_path / "runs" / "digits" / "model.keras")


def pictures(folder):
    return {path.name for path in folder.glob("*.png") if path.stat().st_size > 1000}


@pytest.mark.slow
@pytest.mark.filterwarnings("error::UserWarning")  # nothing that its reader cannot act on
def test_digits(run, tmp_path):
    printed = run("digits")
    assert [line[:12] for line in printed.splitlines() if "epoch" in line] == [f"epoch {i} of 3" for i in (1, 2, 3)]
    lines = "independent pixels, last weights, average over units, mean of the weights of a chain, from above, gap"
    assert all(f"\n  {name} " in printed for name in lines.split(", ")) and "pixels               -25.41 " in printed
    left = tmp_path / "runs" / "digits_quick"
    assert pictures(left) == {"samples.png", "features.png", "learning_curve.png", "completions.png"}
    assert isinstance(keras.saving.load_model(left / "model.keras"), ds.DeepGenerativeModel)
    served = tf.saved_model.load(str(tmp_path / "saved_models" / "digits_quick" / "1"))
    assert served.signatures["sample"](num_samples=tf.constant(2), seed=tf.constant([0, 0]))["x"].shape == (2, 64)


@pytest.mark.slow
def test_mnist(run, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    splits = [(rng.random((rows, 784)) < 0.1).astype(np.uint8) for rows in (60, 20, 30)]
    ds.datasets.pack(tmp_path / "binarized_mnist.npz", *splits, (28, 28))
    monkeypatch.setenv("TFDSMCMC_DATA", str(tmp_path))
    printed = run("mnist", "--architecture", "SBN/SBN 3")
    assert "importance sampling" in printed and "annealing" in printed and "nan" not in printed
    assert pictures(tmp_path / "runs" / "mnist_quick") == {"samples.png", "learning_curve.png"}


@pytest.mark.slow
def test_completions(run, learnt, tmp_path):
    assert run("completions") == "wrote runs/completions.png\n" and pictures(tmp_path / "runs") == {"completions.png"}


@pytest.mark.slow
def test_both_sides(run, learnt):
    printed = run("both_sides")
    assert printed.count("  annealing, ") == 4 and printed.count("reverse annealing") == printed.count("apart") == 2
    assert printed.count("importance sampling, K = 10 ") == 2 and "nan" not in printed


@pytest.mark.slow
def test_rbm(run, tmp_path):
    printed = run("rbm", "--hidden-units", "8")
    low, high, exact = (float(re.search(text, printed)[1]) for text in (
        r"\((\S+) to", r"to (\S+)\)", r"enumeration (\S+)"))  # fmt: skip
    assert low < exact < high and pictures(tmp_path / "runs" / "rbm_quick") == {"samples.png", "features.png"}
    assert isinstance(keras.saving.load_model(tmp_path / "runs" / "rbm_quick" / "rbm.keras"), ds.boltzmann.RBM)


@pytest.mark.slow
def test_impute_table(run, tmp_path):
    example = runpy.run_path(str(ROOT / "recipes" / "impute_table.py"))["read"](None)
    assert example.shape == (569, 31) and example.isna().to_numpy().mean() == pytest.approx(0.2, abs=0.01)
    assert list(example["target"].cat.categories) == ["malignant", "benign"]
    (tmp_path / "own.csv").write_text("a,b,c\n" + "1,2,\n,3,4\n2,,5\n" * 20)
    assert "60 rows, 3 columns, 60 gaps" in run("impute_table", "--table", "own.csv", "--output", "filled.csv")
    with open(tmp_path / "filled.csv", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names == ["a", "b", "c"] and np.isfinite(np.array(rows, float)).all()
    np.testing.assert_array_equal(np.array(rows, float)[0, :2], [1, 2])


def test_impute_table_refuses_free_text(tmp_path):
    (tmp_path / "own.csv").write_text("a,day,b\n" + "".join(f"x,2020-01-{i:02d},{i}\n" for i in range(1, 29)))
    read = runpy.run_path(str(ROOT / "recipes" / "impute_table.py"))["read"]
    with pytest.raises(ValueError, match=r"leave them out. Received: columns \['day'\]"):
        read(tmp_path / "own.csv")


@pytest.mark.slow
def test_imputing(run):
    printed = run("imputing")
    assert "442 rows" in printed and len(printed.splitlines()) == 7 and "nan" not in printed


@pytest.mark.slow
def test_several_chains(run, tmp_path):
    run("several_chains", "--seeds", "1", "--chains", "2")
    before = os.stat(tmp_path / "runs" / "several_chains_quick" / "1" / "model.keras").st_mtime_ns
    printed = run("several_chains", "--seeds", "0", "1", "--chains", "2")
    assert os.stat(tmp_path / "runs" / "several_chains_quick" / "1" / "model.keras").st_mtime_ns == before
    values = [float(line.split()[-3].replace("−", "-")) for line in printed.splitlines()[-3:]]
    assert values[2] >= np.mean(values[:2]) - 0.01  # of p(x) the mean: not below the mean of the logarithms


@pytest.mark.slow
def test_export_and_serve(run, learnt):
    printed = run("export_and_serve")
    assert "by the server: -" in printed and "samples: (4, 64)" in printed and "completions: (3, 5, 64)" in printed
