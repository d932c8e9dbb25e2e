"""The development server under load."""

import pytest

import tfdsmcmc as ds
from stress import load
from tests.oracles import tiny_model

SIGNATURES = ["log_likelihood", "sample", "impute", "sample_rows", "log_likelihood_rows", "log_likelihood_packed"]


@pytest.mark.slow
def test_many_requests_leave_no_memory_behind(tmp_path):
    """938 requests after 312 and those before the clock: a leak of 22 kB each would show."""
    model = tiny_model((2,), units=4, seed=6)
    ds.serving.export(model, tmp_path / "tiny", only=SIGNATURES, sweeps=5, data_shape=(2, 2), verbose=False)
    found = load.measure(tmp_path / "tiny", requests=1250, threads=8)
    assert found["errors"] == 0
    assert set(found["seconds"]) == {*SIGNATURES, "wrong"} and sum(map(len, found["seconds"].values())) == 1250
    assert found["mib_at_end"] - found["mib_after_a_quarter"] < 20
