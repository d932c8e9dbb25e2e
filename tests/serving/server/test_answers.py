"""The development server: its answers are those of the loaded SavedModel."""

import concurrent.futures
import http.client
import json

import numpy as np

from tests.serving.server.support import (
    IMPUTE,
    LIKELIHOOD,
    MASK,
    SEED,
    SIGNATURES,
    X,
    assert_right,
    predict,
)

ROWS = {"x": X, "num_samples": [5, 6, 7], "seed": [[0, 7], [1, 7], [2, 7]]}


def test_columns_are_those_of_the_loaded_model(ask, direct):
    assert_right(ask, direct)
    np.testing.assert_array_equal(predict(ask, "impute", IMPUTE), direct("impute", **IMPUTE)["x"])
    asked = {"num_samples": 5, "seed": SEED}
    np.testing.assert_array_equal(predict(ask, "sample", asked), direct("sample", **asked)["x"])
    packed = LIKELIHOOD | {"x": np.packbits(np.array(X, np.uint8), 1).tolist()}
    answer = predict(ask, "log_likelihood_packed", packed)
    np.testing.assert_array_equal(np.float32(answer["value"]), direct("log_likelihood", **LIKELIHOOD)["value"])


def test_the_default_signature_is_the_likelihood(ask, direct):
    status, answer = ask("POST", "/v1/models/tiny/versions/10:predict", {"inputs": LIKELIHOOD})
    assert status == 200
    expected = direct("log_likelihood", **LIKELIHOOD)["value"]
    np.testing.assert_array_equal(np.float32(answer["outputs"]["value"]), expected)


def test_a_single_output_is_bare_and_so_may_a_single_input_be(ask, direct):
    expected = direct("sample_rows", seed=[[1, 2], [3, 4]])["x"]
    np.testing.assert_array_equal(predict(ask, "sample_rows", [[1, 2], [3, 4]]), expected)
    np.testing.assert_array_equal(predict(ask, "sample_rows", {"seed": [[1, 2], [3, 4]]}), expected)


def test_rows_are_those_of_the_loaded_model(ask, direct):
    answer = predict(ask, "log_likelihood_rows", ROWS)
    for name, expected in direct("log_likelihood_rows", **ROWS).items():
        np.testing.assert_array_equal(np.float32(answer[name]), expected)


def test_what_a_mask_hides_may_be_anything(ask):
    hidden = np.where(MASK, X, np.nan).tolist()
    assert predict(ask, "impute", IMPUTE | {"x": hidden}) == predict(ask, "impute", IMPUTE)


def test_status_and_metadata(ask, direct):
    fine = {"state": "AVAILABLE", "status": {"error_code": "OK", "error_message": ""}}
    for path in ("", "/versions/10"):
        assert ask("GET", f"/v1/models/tiny{path}") == (200, {"model_version_status": [{"version": "10"} | fine]})
    status, answer = ask("GET", "/v1/models/tiny/metadata")
    assert status == 200 and answer["model_spec"] == {"name": "tiny", "signature_name": "", "version": "10"}
    signatures = answer["metadata"]["signature_def"]["signature_def"]
    assert {*SIGNATURES, "serving_default"} <= set(signatures)
    found = signatures["impute"]["inputs"]["mask"]
    sizes = [{"size": "-1", "name": ""}, {"size": "4", "name": ""}]
    assert found["dtype"] == "DT_BOOL" and found["tensor_shape"] == {"dim": sizes, "unknown_rank": False}
    assert signatures["sample"]["method_name"] == "tensorflow/serving/predict"
    assert ask("GET", "/v1/models/tiny/versions/10/metadata") == (200, answer)


def test_page_and_manifest(ask, folder):
    status, page = ask("GET", "/")
    assert status == 200 and b'content="tiny"' in page and b"development server" in page and b"{{" not in page
    assert "Access-Control-Allow-Origin" not in ask.response.headers
    status, manifest = ask("GET", "/manifest.json")
    assert status == 200 and manifest["data_shape"] == [2, 2]
    assert manifest == json.loads((folder / "10/assets/manifest.json").read_text())


def test_eight_threads_get_equal_answers(server, direct):
    expected = {
        "log_likelihood": (LIKELIHOOD, direct("log_likelihood", **LIKELIHOOD)["value"].tolist()),
        "impute": (IMPUTE, direct("impute", **IMPUTE)["x"].tolist()),
        "sample": ({"num_samples": 3, "seed": SEED}, direct("sample", num_samples=3, seed=SEED)["x"].tolist()),
        "wrong": ({"x": []}, None),
    }

    def client(first):
        connection = http.client.HTTPConnection(*server.server_address, timeout=60)
        for number in range(first, first + 20):
            name = list(expected)[number % 4]
            inputs, value = expected[name]
            request = {"signature_name": name, "inputs": inputs}
            connection.request("POST", "/v1/models/tiny:predict", json.dumps(request))
            response = connection.getresponse()
            answer = json.loads(response.read())
            if name == "wrong":
                assert response.status == 400
            else:
                found = answer["outputs"]["value"] if name == "log_likelihood" else answer["outputs"]
                assert found == value
        connection.close()
        return True

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(client, range(8)))
