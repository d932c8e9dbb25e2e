"""Kills a job at random moments, looks at what it leaves, and lets it end: nothing unreadable, left or different.

The job learns with a collector and a backup, refits the recognition network, saves the model and exports it. It is
killed, started again as it was, killed again, and after a few kills let to its end.

    python -m stress.kills 60 21
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import pathlib
import random
import signal
import tempfile
import time
import zipfile

KILLS_OF_A_RUN = 8


def job(folder):
    """From wherever it stands to its end."""
    import keras
    import numpy as np

    import tfdsmcmc as ds

    folder = pathlib.Path(folder)
    keras.utils.set_random_seed(0)  # of the layers' initializers: every start of the job begins with equal weights
    x = (np.random.default_rng(0).random((60, 6)) < 0.4).astype(np.uint8)
    model = ds.models.from_name("SBN/SBN 4-3", units=6)
    kernel = ds.mcmc.SGNHT(learning_rate=0.05)
    model.compile(kernel, proposal=ds.proposals.Wake(keras.optimizers.Adam(1e-2)), jit_compile=False)
    callbacks = [
        ds.posterior.Collector(folder / "posterior", num_samples=4, burn_in=4, every=2, stop=False),
        keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False),
    ]
    model.fit(x, batch_size=20, epochs=12, verbose=0, callbacks=callbacks)
    posterior = ds.posterior.load(folder / "posterior")
    posterior.apply_mean(model)
    model.refit_recognition(x, 2, 20)
    model.save(folder / "model.keras")
    ds.serving.export(model, folder / "served", only=["sample", "log_likelihood"], overwrite=True, verbose=False)
    ds.files.write_json(folder / "done.json", contents(folder))


def contents(folder):
    """Checksums of all that the job computed."""
    import tfdsmcmc as ds

    posterior = ds.posterior.load(folder / "posterior")
    weights = [part for sample in posterior.samples for part in (*sample.theta, *sample.phi)]
    served = ds.serving.Predictions(folder / "served").predict("sample", {"num_samples": 3, "seed": [0, 1]})["x"]
    return {"weights": _checksum(weights), "steps": [s.step for s in posterior.samples], "served": served.tolist()}


def look(folder, exported):
    """What a kill has left: raises where something that is there cannot be read."""
    import tfdsmcmc as ds

    if (folder / "posterior").exists() and list((folder / "posterior").glob("sample_*.h5")):
        for sample in ds.posterior.load(folder / "posterior").samples:
            assert sample.theta
    if (folder / "model.keras").exists():
        assert zipfile.ZipFile(folder / "model.keras").testzip() is None
    if exported:
        assert ds.serving.Predictions(folder / "served").version == 1


def _checksum(arrays):
    import zlib

    import numpy as np

    total = 0
    for part in arrays:
        total = zlib.crc32(np.ascontiguousarray(part), total)
    return total


def _quietly(function, *arguments):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    function(*arguments)


def ended(function, *arguments):
    """Whether it came to its end in a process of its own."""
    process = CONTEXT.Process(target=_quietly, args=(function, *arguments))
    process.start()
    process.join()
    return process.exitcode == 0


def run_of_kills(folder, kills, moments, length):
    """Kills a run a few times and lets it end; returns (kills, its results, the seconds that it takes unkilled)."""
    count, exported = 0, False
    for attempt in range(min(KILLS_OF_A_RUN, kills)):
        process, begun = CONTEXT.Process(target=_quietly, args=(job, folder)), time.perf_counter()
        process.start()
        process.join(moments.uniform(0.1, 1.0) * length)
        if not process.is_alive():  # it came to its end before
            assert process.exitcode == 0, "the run breaks off by itself"
            length = length if attempt else time.perf_counter() - begun
            break
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        count += 1
        exported = exported or (folder / "done.json").exists()
        assert ended(look, folder, exported), f"unreadable: {folder}"
    assert ended(job, folder), "the run does not end"
    left = [str(path) for path in folder.rglob(".tfdsmcmc-*")]
    assert not left, f"left behind: {left}"
    return count, json.loads((folder / "done.json").read_text()), length


def kill(kills, seed):
    """Runs until there were so many kills."""
    moments, count, runs = random.Random(seed), 0, 0
    with tempfile.TemporaryDirectory() as parent:
        parent = pathlib.Path(parent)
        start = time.perf_counter()
        assert ended(job, parent / "straight")
        length = time.perf_counter() - start
        expected = json.loads((parent / "straight" / "done.json").read_text())
        while count < kills:
            more, found, length = run_of_kills(parent / f"run {runs}", kills - count, moments, length)
            assert found == expected, f"another result: {found}, not {expected}"
            count, runs = count + more, runs + 1
            print(json.dumps({"kills": count, "runs": runs, "seconds": round(time.perf_counter() - start)}), flush=True)


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m stress.kills", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kills", type=int, nargs="?", default=100, help="default 100, hours")
    parser.add_argument("seed", type=int, nargs="?", default=0, help="of their moments (default 0)")
    args = parser.parse_args(arguments)
    CONTEXT.set_forkserver_preload(["tfdsmcmc"])
    kill(args.kills, args.seed)


CONTEXT = multiprocessing.get_context("forkserver")

if __name__ == "__main__":
    main()
