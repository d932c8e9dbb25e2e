import pytest

from tfdsmcmc.datasets import downloading


@pytest.fixture(autouse=True)
def no_other_data(monkeypatch, tmp_path):
    """An empty cache, no data folder, and no network."""
    monkeypatch.delenv("TFDSMCMC_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))

    def offline(url, folder, digest):
        raise OSError("no network\nin two lines")

    monkeypatch.setattr(downloading, "_fetch", offline)
