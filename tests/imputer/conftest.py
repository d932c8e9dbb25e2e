"""Imputers that tests share."""

import pytest


@pytest.fixture(scope="module")
def fitted():
    """An imputer of all columns; tests leave it as it is."""
    from tests.imputer.tables import FRAME, tiny  # pandas may be missing

    return tiny().fit(FRAME)
