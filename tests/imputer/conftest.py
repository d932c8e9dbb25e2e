"""Imputers that tests share."""

import contextlib

import pytest

from tfdsmcmc.imputer import learning, sharing


@pytest.fixture(scope="module")
def models_by_kind():
    return {}


@pytest.fixture
def unlearnt(monkeypatch, models_by_kind):
    """Imputers keep their first weights, of one model for each width, kind of data and architecture: for tests of what
    is around the model."""
    made, build = models_by_kind, learning.build

    def once(rows, binary, architecture, *arguments):
        key = rows.values.shape[1], binary, architecture
        if key not in made:
            made[key] = build(rows, binary, architecture, *arguments)
            made[key].compile("sgnht", jit_compile=False)
            made[key].compile = lambda **_: None
        return made[key]

    monkeypatch.setattr(learning, "build", once)
    monkeypatch.setattr(learning, "learn", lambda *_: None)
    monkeypatch.setattr(sharing, "in_place_of", lambda model, **_: contextlib.nullcontext(model))


@pytest.fixture(scope="module")
def fitted():
    """An imputer of all columns; tests leave it as it is."""
    from tests.imputer.tables import FRAME, tiny  # pandas may be missing

    return tiny().fit(FRAME)
