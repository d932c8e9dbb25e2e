"""Programs that TensorFlow keeps in a folder: another process finds them, and learns what it would have without."""

import json
import os
import subprocess
import sys

import pytest

PROGRAM = """
import json
import numpy as np
import tfdsmcmc as ds
from tests.oracles import tiny_model

model = tiny_model((2,), units=4, seed=3)
model.compile(**ds.methods.dsgnht_nais(num_chains=1))
model.fit((np.random.default_rng(0).random((20, 4)) < 0.3).astype("f4"), batch_size=10, epochs=4, verbose=0)
print(json.dumps([weight.tolist() for weight in model.get_weights()]))
"""


def learnt(flags):
    environment = {**os.environ, "TF_XLA_FLAGS": flags}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.slow
def test_a_second_process_finds_the_programs_of_the_first(tmp_path):
    flags = f"--tf_xla_persistent_cache_directory={tmp_path}"
    weights = learnt("")
    assert learnt(flags) == weights
    kept = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert kept
    assert learnt(flags) == weights
    assert {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()} == kept
