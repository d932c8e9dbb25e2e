"""What all tests share: models are tested op by op unless a test is marked `compiled`, and memory is given back.

To compile a tiny model with XLA takes seconds and some 80 MiB that TensorFlow keeps, op by op it takes a tenth of that.
So within a test `jit_compile` is False where neither the test nor the code under test says otherwise. A test with the
mark `compiled`, and what passes `jit_compile=True` itself, runs as users run it. TensorFlow's rewriting of graphs,
which takes longer than to trace some, is left to tests with that mark too. In some rooms, whose programs are tiny and
made once, functions are not even traced.
"""

from __future__ import annotations

import gc
import inspect
import pathlib

import keras
import pytest
import tensorflow as tf

from tests import pool
from tfdsmcmc import programs
from tfdsmcmc.imputer import sharing
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.training.fitting.learner import Learner

SLOW_CASES = set((pathlib.Path(__file__).parent / "slow_cases.txt").read_text().splitlines())
# whose programs take longer to trace than to run step by step
EAGER = (
    "tests/imputation/",
    "tests/imputer/",
    "tests/latents/",
    "tests/model/test_frozen.py",
    "tests/proposals/",
)
_COMPILE = DeepGenerativeModel.compile
_DEFAULTS = _COMPILE.__defaults__
_PLACE = [p.name for p in inspect.signature(_COMPILE).parameters.values() if p.default is not p.empty].index(
    "jit_compile"
)
_default = {"jit_compile": True}

# to look at the objects of TensorFlow, millions of them, takes seconds: garbage is collected when memory has grown
_GROWTH = 200 * 2**20
_last = {"resident": 0}
gc.collect()
gc.freeze()
gc.disable()


def _use_xla(default):
    _default["jit_compile"] = default
    _COMPILE.__defaults__ = (*_DEFAULTS[:_PLACE], default, *_DEFAULTS[_PLACE + 1 :])
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not default})


# a model that was never compiled
Learner.uses_xla = property(lambda self: self.fitting.settings.get("jit_compile", _default["jit_compile"]))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config, items):
    """Before tests are chosen by their marks. A case that goes by another name now would be a quick one again."""
    for item in items:
        if item.nodeid in SLOW_CASES:
            item.add_marker(pytest.mark.slow)
    if any("::" in argument for argument in config.args):  # not all cases of a file
        return
    known = {item.nodeid for item in items}
    places = {name.split("::")[0] for name in known}
    gone = sorted(name for name in SLOW_CASES - known if name.split("::")[0] in places)
    if gone:
        raise pytest.UsageError(f"tests/slow_cases.txt has names of no case. Received: {gone}")


def pytest_make_parametrize_id(val):
    """Bytes go by their length: all processes must find the same names, and an archive holds the time of its making."""
    return f"{len(val)} bytes" if isinstance(val, bytes) else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before the fixtures, those of a module included, are made."""
    compiled = item.get_closest_marker("compiled") is not None
    _use_xla(compiled)
    tf.config.run_functions_eagerly(item.nodeid.startswith(EAGER) and not compiled)


def pytest_unconfigure():
    _use_xla(True)
    tf.config.run_functions_eagerly(False)


@pytest.fixture(autouse=True)
def _models_are_taken_in_turn(request):
    """What a test patches would be traced into models that others use."""
    if "monkeypatch" in request.fixturenames:
        pool.close()
        sharing.clear()
    yield
    pool.open_()
    pool.take_back()
    if "monkeypatch" in request.fixturenames:
        sharing.clear()


@pytest.fixture(autouse=True, scope="module")
def _give_memory_back():
    yield
    pool.empty()
    sharing.clear()
    programs._programs.clear()
    if resident() > _last["resident"] + _GROWTH:
        keras.backend.clear_session()
        gc.collect()
        _last["resident"] = resident()


def resident():
    """The memory of this process, bytes."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096
