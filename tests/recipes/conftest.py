"""What the tests of the table recipe share."""

import importlib
import types

import pytest


@pytest.fixture
def recipe(monkeypatch, request):
    """The modules of the recipe, which find each other as when it is run."""
    monkeypatch.syspath_prepend(str(request.config.rootpath / "recipes"))
    names = ("table", "table_row", "table_budget", "published")
    return types.SimpleNamespace(**{name: importlib.import_module(name) for name in names})
