"""The signatures of an exported ensemble: what they take and give, their row-wise and packed twins, bad requests."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import binary_states
from tests.posterior.support import folder_of
from tfdsmcmc.serving.saved_model.content import functions_of
from tfdsmcmc.serving.saved_model.signatures import names
from tfdsmcmc.serving.saved_model.signatures import signatures as signatures_of

X = binary_states(4).astype(np.float32)
MASK = np.arange(64).reshape(16, 4) % 3 > 0
SEED = np.array([3, 4], np.int32)
SEEDS = np.arange(32, dtype=np.int32).reshape(16, 2)
COUNTS = np.arange(3, 19, dtype=np.int32)


@pytest.fixture(scope="module")
def signatures(tmp_path_factory):
    """Those of three posterior samples."""
    folder = tmp_path_factory.mktemp("posterior")
    model = folder_of(folder)
    path = ds.serving.export(
        model,
        folder / "served",
        posterior=ds.posterior.load(folder),
        ensemble=True,
        sweeps=4,
        max_draws=40_000,
        verbose=False,
    )
    return tf.saved_model.load(path).signatures


def call(function, **inputs):
    return {name: part.numpy() for name, part in function(**{k: tf.constant(v) for k, v in inputs.items()}).items()}


def test_names_inputs_and_outputs(signatures):
    assert set(signatures) == {
        "serving_default", "log_likelihood", "sample", "impute", "encode", "reconstruct",
        "log_likelihood_rows", "sample_rows", "impute_rows",
        "log_likelihood_packed", "impute_packed", "encode_packed", "reconstruct_packed",
        "log_likelihood_rows_packed", "impute_rows_packed",
    }  # fmt: skip
    data, bits, one, number = (tf.float32, [None, 4]), (tf.uint8, [None, 1]), (tf.int32, [2]), (tf.int32, [])
    mask = tf.bool, [None, 4]
    expected = {
        "serving_default": ({"x": data, "num_samples": number, "seed": one},
                            {"value": [None], "standard_error": [None], "effective_sample_size": [None]}),
        "sample": ({"num_samples": number, "seed": one}, {"x": [None, 4]}),
        "impute": ({"x": data, "mask": mask, "num_imputations": number, "seed": one}, {"x": [None, None, 4]}),
        "impute_packed": ({"x": bits, "mask": bits, "num_imputations": number, "seed": one}, {"x": [None, None, 4]}),
        "encode": ({"x": data, "num_samples": number, "seed": one},
                   {"z_1": [None, 2], "effective_sample_size": [None]}),
        "reconstruct": ({"x": data, "num_samples": number, "seed": one}, {"x": [None, 4]}),
        "sample_rows": ({"seed": (tf.int32, [None, 2])}, {"x": [None, 4]}),
        "impute_rows": ({"x": data, "mask": mask, "seed": (tf.int32, [None, 2])}, {"x": [None, 4]}),
        "log_likelihood_rows": ({"x": data, "num_samples": (tf.int32, [None]), "seed": (tf.int32, [None, 2])},
                                {"value": [None], "standard_error": [None], "effective_sample_size": [None]}),
    }  # fmt: skip
    for name, (inputs, outputs) in expected.items():
        _, specs = signatures[name].structured_input_signature
        assert {key: (spec.dtype, spec.shape.as_list()) for key, spec in specs.items()} == inputs, name
        found = {key: spec.shape.as_list() for key, spec in signatures[name].structured_outputs.items()}
        assert found == outputs, name
        assert all(spec.dtype == tf.float32 for spec in signatures[name].structured_outputs.values())


def inputs_of_rows(name, rows):
    known = {"x": X, "mask": MASK, "num_samples": COUNTS, "seed": SEEDS}
    takes = {"log_likelihood": ("x", "num_samples", "seed"), "sample": ("seed",), "impute": ("x", "mask", "seed")}
    return {key: known[key][rows] for key in takes[name]}


@pytest.mark.parametrize("name", ["log_likelihood", "sample", "impute"])
def test_rows_do_not_depend_on_the_batch(signatures, name):
    """Bit for bit: alone, in any order, in parts, repeated as padding; and each is what the plain signature gives."""
    whole = call(signatures[f"{name}_rows"], **inputs_of_rows(name, slice(None)))
    for rows in (slice(5, 6), slice(3, 12), np.arange(15, -1, -1), [7, 7, 7, 2]):
        part = call(signatures[f"{name}_rows"], **inputs_of_rows(name, rows))
        for key, value in part.items():
            np.testing.assert_array_equal(value, whole[key][rows])
    for i in (0, 9):
        row = inputs_of_rows(name, i)
        row |= {key: row[key][None] for key in ("x", "mask") if key in row}
        row |= {"sample": {"num_samples": 1}, "impute": {"num_imputations": 1}}.get(name, {})
        for key, value in call(signatures[name], **row).items():
            value = value[0, 0] if name == "impute" else value[0]
            np.testing.assert_array_equal(value, whole[key][i])
    different = call(signatures[f"{name}_rows"], **{**inputs_of_rows(name, slice(None)), "seed": SEEDS + 100})
    assert any(np.any(different[key] != whole[key]) for key in whole)


@pytest.mark.parametrize("name", ["log_likelihood", "impute", "encode", "reconstruct"])
def test_packed_data_are_the_same_data(signatures, name):
    inputs = {"x": X, "num_samples": np.int32(9), "seed": SEED}
    if name == "impute":
        inputs = {"x": X, "mask": MASK, "num_imputations": np.int32(2), "seed": SEED}
    packed = {key: np.packbits(value > 0, axis=1) if key in ("x", "mask") else value for key, value in inputs.items()}
    expected = call(signatures[name], **inputs)
    for key, value in call(signatures[f"{name}_packed"], **packed).items():
        np.testing.assert_array_equal(value, expected[key])


def test_bits_beyond_the_data_are_ignored_and_the_first_bit_is_the_highest():
    from tfdsmcmc.serving.saved_model.signatures import _unpacked

    packed = np.array([[0b10110000, 0b01111111], [0b00000001, 0b11000000]], np.uint8)
    np.testing.assert_array_equal(_unpacked(tf.constant(packed), 10), np.unpackbits(packed, axis=1)[:, :10])


GOOD = {
    "log_likelihood": {"x": X, "num_samples": 9, "seed": SEED},
    "impute": {"x": X, "mask": MASK, "num_imputations": 2, "seed": SEED},
    "sample": {"num_samples": 5, "seed": SEED},
    "log_likelihood_rows": {"x": X, "num_samples": COUNTS, "seed": SEEDS},
    "sample_rows": {"seed": SEEDS},
    "impute_rows": {"x": X, "mask": MASK, "seed": SEEDS},
    "log_likelihood_packed": {"x": np.packbits(X > 0, axis=1), "num_samples": 9, "seed": SEED},
}
ROWS = GOOD["impute_rows"]
HALF, NAN = X / 2, np.where(X > 0, np.nan, 0).astype(np.float32)


@pytest.mark.compiled  # the errors are those of a graph that TensorFlow has rewritten
@pytest.mark.parametrize(
    ("name", "bad", "message"),
    [
        ("log_likelihood", {"x": HALF}, r"x must be binary, each entry 0 or 1. Received: 0.5"),
        ("log_likelihood", {"x": NAN}, r"x must be binary, each entry 0 or 1. Received: nan"),
        ("log_likelihood", {"x": X[:, :3]}, r"tensor x \[16,3\]"),
        ("log_likelihood", {"x": X[0]}, r"tensor x \[4\]"),
        ("log_likelihood", {"num_samples": 0}, r"num_samples must be between 1 and 832 .* Received: 0"),
        ("log_likelihood", {"num_samples": -2**31}, r"num_samples must be between 1 and"),
        ("log_likelihood", {"num_samples": 833}, r"num_samples must be between 1 and 832 .* Received: 833"),
        ("log_likelihood", {"num_samples": 2**31 - 1}, r"num_samples must be between 1 and"),
        ("log_likelihood", {"num_samples": [9, 9]}, r"tensor num_samples \[2\]"),
        ("log_likelihood", {"x": np.zeros([417, 4], np.float32)},
         r"x must have at most 416 rows. Received: 417"),
        ("log_likelihood", {"seed": [1, 2, 3]}, r"tensor seed \[3\]"),
        ("impute", {"x": np.where(MASK, HALF, 0)}, "x must be binary, each entry 0 or 1 where it is observed."),
        ("impute", {"mask": MASK[:3]}, r"mask must have as many rows as x, 16. Received: 3"),
        ("impute", {"mask": MASK[:, :2]}, r"tensor mask \[16,2\]"),
        ("impute", {"num_imputations": 0}, r"num_imputations must be between 1 and 123 .* Received: 0"),
        ("impute", {"num_imputations": 124}, r"num_imputations must be between 1 and 123 .* Received: 124"),
        ("sample", {"num_samples": 40_001}, r"num_samples must be between 1 and 40000. Received: 40001"),
        ("sample", {"seed": [[1, 2]]}, r"tensor seed \[1,2\]"),
        ("log_likelihood_rows", {"seed": SEEDS[:4]}, r"seed must have as many rows as x, 16. Received: 4"),
        ("log_likelihood_rows", {"num_samples": COUNTS[:1]},
         "num_samples must have as many rows as x, 16. Received: 1"),
        ("log_likelihood_rows", {"num_samples": COUNTS - 3}, r"num_samples must be between 1 and .* Received: 0"),
        ("sample_rows", {"seed": np.zeros([40_001, 2], np.int32)},
         r"seed must have at most 40000 rows. Received: 40001"),
        ("impute_rows", {key: np.tile(value, [4, 1]) for key, value in ROWS.items()},
         "x must have at most 51 rows. Received: 64"),
        ("impute_rows", {"mask": MASK[:1]}, r"mask must have as many rows as x, 16. Received: 1"),
        ("log_likelihood_packed", {"x": np.zeros([2, 2], np.uint8)}, r"tensor x \[2,2\]"),
        ("log_likelihood_packed", {"x": np.packbits(np.eye(5, dtype=bool), axis=1)},
         "x must have 4 units a row, and zeros for bits beyond them. Received: 8"),
    ],
)  # fmt: skip
def test_bad_requests_name_the_input_and_leave_no_trace(signatures, name, bad, message):
    """In a graph, as a server runs it: the error names the input, and the next answer is as before. At 40,000 draws a
    request, 3 samples of θ and 16 rows 832 draws, 26 times 32, fit; and 123 chains of 10 passes and 4 sweeps, after
    256 draws for each sample."""
    before = call(signatures[name], **GOOD[name])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        call(signatures[name], **{**GOOD[name], **bad})
    for key, value in call(signatures[name], **GOOD[name]).items():
        np.testing.assert_array_equal(value, before[key])


def test_the_largest_requests_are_answered(signatures):
    assert call(signatures["log_likelihood"], **{**GOOD["log_likelihood"], "num_samples": 832})["value"].shape == (16,)
    assert call(signatures["sample"], num_samples=40_000, seed=SEED)["x"].shape == (40_000, 4)


def test_no_rows_give_no_answers(signatures):
    none = {key: value[:0] if key in ("x", "mask") else value for key, value in GOOD["impute"].items()}
    assert call(signatures["impute"], **none)["x"].shape == (2, 0, 4)
    none = {**GOOD["log_likelihood"], "x": X[:0]}
    for name in ("log_likelihood", "encode", "reconstruct"):
        assert all(len(part) == 0 for part in call(signatures[name], **none).values())
    for name in ("log_likelihood_rows", "sample_rows", "impute_rows"):
        none = {key: value[:0] for key, value in GOOD[name].items()}
        assert all(len(part) == 0 for part in call(signatures[name], **none).values())


def test_missing_entries_have_no_influence(signatures):
    """NaN, 7 or 0 under a False mask: the same imputations; observed entries come back."""
    answers = []
    for filling in (np.nan, 7.0, 0.0):
        x = np.where(MASK, X, filling).astype(np.float32)
        answers.append(call(signatures["impute"], x=x, mask=MASK, num_imputations=3, seed=SEED)["x"])
        one = call(signatures["impute_rows"], x=x, mask=MASK, seed=SEEDS)["x"]
        np.testing.assert_array_equal(one[MASK], X[MASK])
    np.testing.assert_array_equal(answers[0], answers[1])
    np.testing.assert_array_equal(answers[0], answers[2])
    np.testing.assert_array_equal(answers[0][:, MASK], np.tile(X[MASK], [3, 1]))


def test_bits_that_are_no_row_of_the_model_are_refused_packed_or_not():
    """Of one variable of three states: two ones, none, and a state that is missing beside one that is not."""
    model = ds.boltzmann.RBM(3, 2, visible=ds.boltzmann.units.Categorical([3]))
    functions = functions_of(model, None, None, 1, False, None)
    chosen = "log_likelihood", "log_likelihood_packed", "impute", "impute_packed"
    served = signatures_of(functions, chosen, 1000)

    def answered(x, mask, packed):
        data = {"x": np.asarray([x], bool), "mask": np.asarray([mask], bool)}
        if packed:
            data = {key: np.packbits(bits, axis=1) for key, bits in data.items()}
        else:
            data["x"] = data["x"].astype(np.float32)
        call(served["impute" + "_packed" * packed], **data, num_imputations=2, seed=SEED)
        if all(mask):
            call(served["log_likelihood" + "_packed" * packed], x=data["x"], num_samples=2, seed=SEED)

    for packed in (False, True):
        answered([0, 1, 0], [1, 1, 1], packed)
        answered([0, 1, 0], [0, 0, 0], packed)
        for x, mask in (([1, 1, 0], [1, 1, 1]), ([0, 0, 0], [1, 1, 1]), ([0, 1, 0], [1, 1, 0])):
            with pytest.raises(tf.errors.InvalidArgumentError, match="x must be one 1 and zeros in each group"):
                answered(x, mask, packed)


def test_real_data_and_models_without_latent_layers_have_fewer_signatures():
    def offered(*layers, latent=()):
        generative, recognition = ds.GenerativeNetwork(layers), ds.RecognitionNetwork(latent)
        model = ds.DeepGenerativeModel(generative=generative, recognition=recognition)
        functions = functions_of(model, None, None, None, False, None)
        return names(functions)

    gaussian = ds.layers.MLPGaussian(3, hidden_units=[2])
    assert offered(ds.layers.SBN(2), gaussian, latent=[ds.layers.SBN(2)]) == [
        "log_likelihood", "sample", "impute", "encode", "reconstruct", "log_likelihood_rows", "sample_rows",
        "impute_rows",
    ]  # fmt: skip
    plain = offered(ds.layers.SBN(3))
    assert "encode" not in plain and "impute_packed" in plain


@pytest.mark.parametrize(
    ("average", "each", "count"),
    [("draws", 1, 3), ("units", 3, 1), ("weights", 1, 1)],  # sets of weights behind a draw, components
)
def test_what_a_request_costs(tmp_path, average, each, count):
    """In draws of the latents at one set of weights, for each row and for each unit of its count; three samples. Where
    draws are made 32 at a time one costs as much as 32.

    Samples are of one component each, estimates of all. An imputation is a chain of sweeps after ten passes; which
    component it is of follows from the evidence for each, 8 times 32 draws of all.
    """
    model = folder_of(tmp_path)
    functions = functions_of(model, ds.posterior.load(tmp_path), average, 4, False, None)
    evidence = 8 * 32 * each * count if count > 1 else 0
    assert {name: functions.costs(name) for name in functions.names} == {
        "log_likelihood": (0, each * count, 32),
        "sample": (0, each, 1),
        "impute": (evidence, (10 + 4) * each, 1),
        "encode": (0, each * count, 32),
        "reconstruct": (0, each * count, 32),
    }
    with pytest.raises(KeyError):
        functions.costs("another")


@pytest.mark.parametrize(
    ("layers", "passes"),
    [
        ([ds.layers.SBN(2), ds.layers.SBN(4)], 10),
        ([ds.layers.SBN(2), ds.layers.DARN(4)], 0),
        ([ds.layers.SBN(4)], 0),
    ],
)
def test_an_imputation_costs_what_starts_its_chain(layers, passes, monkeypatch):
    """A pass draws all latent units, as a sweep does: each draw of the recognition network but the first is a pass."""
    latent = [ds.layers.SBN(layer.units) for layer in layers[:-1]]
    model = ds.DeepGenerativeModel(generative=ds.GenerativeNetwork(layers), recognition=ds.RecognitionNetwork(latent))
    drawn = []
    sample = ds.RecognitionNetwork.sample
    monkeypatch.setattr(ds.RecognitionNetwork, "sample", lambda *args: drawn.append(1) or sample(*args))
    functions = functions_of(model, None, None, 3, False, None)
    rows = {"x": tf.constant(X[:2]), "mask": tf.constant(MASK[:2]), "seed": tf.constant(SEED)}
    functions.impute(num_imputations=tf.constant(1), **rows)
    assert len(drawn) == 1 + passes
    assert functions.costs("impute") == (0, passes + 3, 1)
