import pytest

import tfdsmcmc as ds
from tfdsmcmc.datasets import downloading, mapped_file, mapped_rows


@pytest.fixture(autouse=True)
def no_other_data(monkeypatch, tmp_path):
    """An empty cache, no data folder, and no network."""
    monkeypatch.delenv("TFDSMCMC_DATA", raising=False)
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))

    def offline(url, folder, digest):
        raise OSError("no network\nin two lines")

    monkeypatch.setattr(downloading, "_fetch", offline)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of few rows wherever rows are looked at, written or made binary."""
    for module in (mapped_file, mapped_rows, ds.datasets.opening):
        monkeypatch.setattr(module, "BLOCK", 60)
