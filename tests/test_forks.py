"""A process that was forked from one that had used TensorFlow is told, where it would hang."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tests.oracles import tiny_model
from tfdsmcmc import random

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")


def in_a_copy(function):
    """What a copy of this process says of a call."""
    reading, writing = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            function()
            said = "nothing"
        except BaseException as error:
            said = f"{type(error).__name__}: {error}"
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        said = pipe.read()
    os.waitpid(process, 0)
    return said


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copy_is_told_before_it_hangs():
    model = tiny_model((2,), units=4)
    model.compile("sgnht", jit_compile=False)
    model.sample(2)
    calls = {
        "sample": lambda: model.sample(2),
        "fit": lambda: model.fit(np.eye(4), epochs=1, verbose=0),
        "log_likelihood": lambda: model.log_likelihood(np.eye(4)),
    }
    for name, call in calls.items():
        said = in_a_copy(call)
        assert said.startswith("RuntimeError: TensorFlow hangs") and "Received: process" in said, name
    model.sample(2)  # and this process works on


@pytest.mark.slow
def test_a_copy_of_a_process_that_has_not_used_it_works():
    program = """
import os
import tfdsmcmc as ds
process = os.fork()
if process == 0:
    ds.random.normal([3], 0)
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 7
ds.random.normal([3], 0)
"""
    assert subprocess.run([sys.executable, "-c", program], timeout=300).returncode == 0
    random.normal([3], 0)
