"""A folder of tiny releases, which take the place of the package's own."""

import types

import pytest

from tests.pretrained import tiny
from tfdsmcmc.pretrained import catalogue


@pytest.fixture(scope="session")
def _contents(tmp_path_factory):
    """The files of a network with samples and of a machine, and what they were made of."""
    folder = tmp_path_factory.mktemp("contents")
    drawn, rbm = tiny.posterior(folder / "net"), tiny.machine(folder / "machine")
    return drawn, rbm, tiny.files_of(folder / "net"), tiny.files_of(folder / "machine")


@pytest.fixture
def releases(_contents, tmp_path, monkeypatch):
    """`source`, `cache` and the catalogue as folders; `put(name, archive, unpacked)`; what the models were made of."""
    monkeypatch.setattr(catalogue, "_HERE", tmp_path / "catalogue")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "keras"))
    monkeypatch.delenv("TFDSMCMC_PRETRAINED", raising=False)
    source, (drawn, rbm, *files) = tmp_path / "source", _contents
    made = types.SimpleNamespace(source=source, cache=tmp_path / "cache", drawn=drawn, rbm=rbm)
    made.put = lambda name, archive, size: tiny.put(name, archive, size, source, tmp_path / "catalogue")
    made.files = dict(zip(("net", "machine"), files))
    made.about = {
        name: made.put(name, tiny.zipped(pairs), sum(len(content) for _, content in pairs))
        for name, pairs in made.files.items()
    }
    return made
