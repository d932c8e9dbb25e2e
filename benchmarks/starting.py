"""Processor seconds until the first epoch is over, and how many of them a folder of kept programs saves.

TensorFlow keeps what XLA has compiled where TF_XLA_FLAGS names a folder; a process that does the same work in the same
order finds it there. The model is that of the README.
"""

import json
import os
import sys
import tempfile
import time

from benchmarks import processes

KEPT = "--tf_xla_persistent_cache_directory="


def measure():
    start = time.process_time()
    import numpy as np

    import tfdsmcmc as ds

    loaded = time.process_time()
    model = ds.models.from_name("SBN/SBN 100-50", 64)
    x = (np.random.default_rng(0).random((1200, 64)) < 0.3).astype(np.float32)
    model.compile(**ds.methods.dsgnht_nais(), steps_per_execution=12)
    model.fit(x, batch_size=100, epochs=1, verbose=0)
    print(json.dumps({"import": loaded - start, "epoch": time.process_time() - loaded}))


def main(args):
    print("\n## Until the first epoch is over\n\n| programs | import, s | first epoch, s |\n| --- | --- | --- |")
    command = [sys.executable, "-m", "benchmarks.starting"]
    with tempfile.TemporaryDirectory() as folder:
        for kind, flags in (("not kept", ""), ("kept", KEPT + folder), ("found", KEPT + folder)):
            found = processes.run(["env", f"TF_XLA_FLAGS={flags}", *command])
            print(f"| {kind} | {found['import']:.1f} | {found['epoch']:.1f} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    measure()
