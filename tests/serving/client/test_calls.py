"""The client over REST and over gRPC: what it sends, and the same answers as the SavedModel called directly.

The tests of answers also run against a real server if the environment variable TFS_URL names one which serves the tiny
model. To start TensorFlow Serving with it:

    python -m tests.serving.client.stand_in /tmp/models
    docker run --rm -p 8500:8500 -p 8501:8501 -v /tmp/models/tiny:/models/tiny -e MODEL_NAME=tiny tensorflow/serving
    TFS_URL=http://127.0.0.1:8501 python -m pytest tests/serving/client/test_calls.py
    TFS_URL=grpc://127.0.0.1:8500 python -m pytest tests/serving/client/test_calls.py

There floating-point answers may differ in the last digits, which come from another build of TensorFlow; the stand-ins
answer bit for bit.
"""

import pathlib
import threading

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import binary_states
from tests.serving.client.support import GAPS, MASK, SEEDS, X, assert_same, assert_same_triple, stand_in
from tests.serving.exports import export
from tfdsmcmc import random
from tfdsmcmc.serving.client import Client
from tfdsmcmc.serving.client.transports import ServerError
from tfdsmcmc.serving.server.development_server import make_server


def test_plain_calls(client, direct):
    found = client.log_likelihood(X, 50, seed=3)
    assert_same_triple(client, found, direct("log_likelihood", x=X, num_samples=50, seed=[3, 0]))
    assert float(found.mean()) == pytest.approx(found.value.mean())
    assert_same(client, client.sample(4, seed=9), direct("sample", num_samples=4, seed=[9, 0])["x"])
    expected = direct("encode", x=X, num_samples=50, seed=[1, 0])
    found = client.encode(X, 50, seed=1)
    assert set(found) == {"z_1", "z_2", "effective_sample_size"}
    for name, value in expected.items():
        assert_same(client, found[name], value)
    expected = direct("reconstruct", x=X, num_samples=50, seed=[1, 0])["x"]
    assert_same(client, client.reconstruct(X, 50, seed=1), expected)


def test_an_error_of_log_z_is_one_of_all_rows(tmp_path):
    """The mean over rows has it whole: √n times more than if each row had one of its own."""
    rbm = ds.boltzmann.RBM(4, 2, seed=1)
    known = ds.boltzmann.LogPartition(3.0, 0.1, (2.7, 3.3), 9.0)
    path = export(rbm, tmp_path / "rbm", log_partition=known, only=["log_likelihood", "log_likelihood_rows"])
    server = make_server(pathlib.Path(path).parent, port=0)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
    x = binary_states(4).astype(np.float32)
    with Client(server.url, model="rbm") as client:
        for found in (client.log_likelihood(x), client.log_likelihood_rows(x, 1, range(16))):
            want = rbm.log_likelihood(x, known).mean()
            np.testing.assert_allclose(found.mean(), want, rtol=1e-5)
            np.testing.assert_allclose(found.mean().standard_error, want.standard_error, rtol=1e-5)
    server.shutdown()
    server.server_close()


def test_imputation_by_nan_and_by_mask(client, direct):
    expected = direct("impute", x=X, mask=MASK, num_imputations=3, seed=[2, 0])["x"]
    for x, mask in ((GAPS, None), (X, MASK), (np.where(MASK, X, 7), MASK.astype(int)), (GAPS.tolist(), None)):
        found = client.impute(x, mask, num_imputations=3, seed=2)
        assert_same(client, found, expected)
        assert (found == X)[:, MASK].all()
    assert not np.array_equal(expected[0], expected[1])
    one_row = np.arange(stand_in.UNITS) < 4
    found = client.impute(X, one_row, seed=2)
    mask = np.tile(one_row, (len(X), 1))
    assert_same(client, found, direct("impute", x=X, mask=mask, num_imputations=1, seed=[2, 0])["x"])


def test_rows_do_not_depend_on_the_batch(client, direct):
    pairs = np.stack([random.as_seed(seed) for seed in SEEDS])
    counts = [50, 2, 70, 50, 33]
    found = client.log_likelihood_rows(X, counts, SEEDS)
    assert_same_triple(client, found, direct("log_likelihood_rows", x=X, num_samples=counts, seed=pairs))
    drawn = client.sample_rows(SEEDS)
    assert_same(client, drawn, direct("sample_rows", seed=pairs)["x"])
    imputed = client.impute_rows(GAPS, None, SEEDS)
    assert_same(client, imputed, direct("impute_rows", x=X, mask=MASK, seed=pairs)["x"])
    for part in (slice(0, 1), slice(1, 3), slice(3, 5)):
        again = client.log_likelihood_rows(X[part], counts[part], SEEDS[part])
        np.testing.assert_allclose(again[:3], [a[part] for a in found[:3]], rtol=1e-5)
        np.testing.assert_array_equal(client.sample_rows(pairs[part]), drawn[part])
        np.testing.assert_array_equal(client.impute_rows(X[part], MASK[part], pairs[part]), imputed[part])
    plain = client.log_likelihood(X[1:2], 2, seed=SEEDS[1])
    np.testing.assert_allclose(plain[:3], [a[1:2] for a in found[:3]], rtol=1e-5)


@pytest.mark.parametrize("hidden", [None, 1.0, 7.0])
def test_what_is_sent_of_rows_with_gaps(stand_ins, monkeypatch, hidden):
    """Zeros in the gaps, whatever stood there: single precision and booleans, or bits; all observed is said too."""
    sent = []
    monkeypatch.setattr(Client, "predict", lambda client, name, **inputs: sent.append(inputs) or {"x": None})
    x, mask = (GAPS, None) if hidden is None else (np.where(MASK, X, hidden), MASK)
    with Client(stand_ins["rest"].url, model=stand_in.NAME) as plain:
        plain.impute(x, mask)
        plain.impute(X)
    with Client(stand_ins["rest"].url, model=stand_in.NAME, packed=True) as packed:
        packed.impute(x, mask)
        packed.impute(X)
    for values, known, (one, bits) in ((X * MASK, MASK, sent[::2]), (X, np.ones_like(MASK), sent[1::2])):
        assert one["x"].dtype == np.float32 and one["mask"].dtype == bool
        np.testing.assert_array_equal(one["x"], values)
        np.testing.assert_array_equal(one["mask"], known)
        np.testing.assert_array_equal(bits["x"], np.packbits(values > 0, axis=1))
        np.testing.assert_array_equal(bits["mask"], np.packbits(known, axis=1))


def test_packed_calls_answer_the_same(url, client):
    with Client(url, model=stand_in.NAME, packed=True) as packed:
        for name, arguments in {
            "log_likelihood": (X, 50, 5),
            "impute": (GAPS, None, 2, 5),
            "impute_rows": (X, MASK, SEEDS),
            "sample": (3, 5),
        }.items():
            one, other = (getattr(c, name)(*arguments) for c in (client, packed))
            one, other = (a[:3] if name == "log_likelihood" else a for a in (one, other))  # with what is counted
            np.testing.assert_array_equal(one, other, err_msg=name)
        with pytest.raises(ValueError, match="x must be binary.*Received: "):
            packed.log_likelihood(X / 2)
        with pytest.raises(ValueError, match="signature must be one of.*Received: 'encode_packed'"):
            packed.encode(X)


def test_packed_signatures_alone(url, client, direct, monkeypatch):
    """Bytes do not tell how many bits of the last one are data; the data do."""
    with Client(url, stand_in.NAME, packed=True) as packed:
        monkeypatch.setattr(packed, "_signatures", {k: v for k, v in client.signatures.items() if k[-6:] == "packed"})
        expected = direct("impute", x=X, mask=MASK, num_imputations=1, seed=[2, 0])["x"]
        assert_same(client, packed.impute(GAPS, seed=2), expected)
        for wrong in (X[:, :8], np.ones((2, 17)), X[0]):
            with pytest.raises(ValueError, match="x must have the shape.*Received: "):
                packed.log_likelihood(wrong, 2)


def test_seeds_of_every_form(client):
    for seed, pair in ((7, (7, 0)), (2**33 + 1, (1, 2)), (2**64 - 1, (-1, -1)), (2**31, (-(2**31), 0))):
        np.testing.assert_array_equal(random.as_seed(seed), pair)
        expected = client.sample(5, seed)
        for form in (np.uint64(seed), list(pair), pair, np.array(pair, np.int32), np.array(pair), random.as_seed(seed)):
            np.testing.assert_array_equal(client.sample(5, form), expected)
    forms = (SEEDS, tuple(SEEDS), np.array(SEEDS, np.uint64), [random.as_seed(s) for s in SEEDS], map(int, SEEDS))
    drawn = [client.sample_rows(form) for form in forms]
    for other in drawn[1:]:
        np.testing.assert_array_equal(other, drawn[0])


def test_both_ways_agree(stand_ins):
    with Client(stand_ins["rest"].url, "tiny") as rest, Client(stand_ins["grpc"].url, "tiny") as remote:
        np.testing.assert_array_equal(rest.log_likelihood(X, 9, 4)[:3], remote.log_likelihood(X, 9, 4)[:3])
        np.testing.assert_array_equal(rest.impute(GAPS, seed=4), remote.impute(GAPS, seed=4))
        assert rest.signatures == remote.signatures and "sample" in rest.signatures
        # one draw leaves the standard error unknown: NaN comes back
        assert np.isnan(rest.log_likelihood(X, 1).standard_error).all()
        assert np.isnan(remote.log_likelihood(X, 1).standard_error).all()


def test_any_signature_and_array_likes(client, direct):
    inputs = {"x": X, "num_samples": 30, "seed": [5, -6]}
    expected = direct("serving_default", **inputs)
    for x in (X, X.astype(bool), X.astype(np.int64), X.tolist(), X.astype(object), np.asfortranarray(X)):
        found = client.predict("serving_default", **{**inputs, "x": x})
        assert set(found) == set(expected)
        for name, value in expected.items():
            assert_same(client, found[name], value)


def test_data_frames(client):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(GAPS).convert_dtypes()
    np.testing.assert_array_equal(client.impute(frame, seed=1), client.impute(GAPS, seed=1))
    frame = pandas.DataFrame(X.astype(int))
    np.testing.assert_array_equal(client.log_likelihood(frame, 9)[:3], client.log_likelihood(X, 9)[:3])


def test_the_url_may_name_the_model_and_the_version(stand_ins):
    for one in stand_ins.values():
        for path, arguments in (
            ("/v1/models/tiny", {}),
            ("/v1/models/tiny/", {"model": "tiny"}),
            ("/v1/models/tiny/versions/3", {}),
            ("/", {"model": "tiny", "version": 3}),
        ):
            with Client(one.url + path, **arguments) as client:
                assert client.sample(2).shape == (2, stand_in.UNITS)


def test_grpc_messages_may_be_large(stand_ins):
    """gRPC's own limit is 4 MiB."""
    with Client(stand_ins["grpc"].url, "tiny") as client:
        assert client.sample(100_000).nbytes > 2**22
        try:
            client.log_likelihood(np.tile(X, (20_000, 1)), 1)
        except ServerError as error:  # the model may find them too many, but it has seen them
            assert error.status == "INVALID_ARGUMENT" and error.message.startswith("x must have at most")


def test_the_context_goes_along(stand_ins, monkeypatch):
    """With each call of a conditional model, and with no call where there is none."""
    sent = {}

    def predict(self, signature, /, **inputs):
        sent[signature] = inputs
        outputs = ("value", "standard_error", "effective_sample_size") if "likelihood" in signature else ("x",)
        return dict.fromkeys(outputs, np.ones(2))

    monkeypatch.setattr(Client, "predict", predict)
    x, context = np.zeros((2, stand_in.UNITS)), [[1.0], [2.0]]
    with Client(stand_ins["rest"].url, model=stand_in.NAME) as client:
        for given in ({"context": context}, {}):
            sent.clear()
            for call in (client.log_likelihood, client.encode, client.reconstruct):
                call(x, 5, 0, **given)
            client.sample(2, 0, **given), client.impute(x, None, 1, 0, **given)
            client.log_likelihood_rows(x, 5, [0, 1], **given), client.sample_rows([0, 1], **given)
            client.impute_rows(x, None, [0, 1], **given)
            assert len(sent) == 8
            assert all(inputs.get("context") is given.get("context") for inputs in sent.values())
