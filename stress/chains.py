"""Kills workers at random moments of eight chains in one folder; what they leave is what nobody killed has left.

Two workers, each a scheduler of its own as the jobs of an array are, learn the chains of one folder. One is killed,
another begins in its place, until the chains are done; then a new folder, until there were so many kills. Compared,
file for file and byte for byte: the samples, their mean, the choice of an average, the start of each chain, and what it
says it learnt from; and of `model.keras` every array but `identity`, a number that each run draws for itself. Not
compared: `history.jsonl` and the rest of `model.keras`, which have the writer's number, the date, and names of layers.

    python -m stress.chains 30 --folder runs/stress_chains

Each folder of chains that is done is a line of FOLDER/record.jsonl; started again, it goes on behind the last line.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import signal
import time
import zipfile

CHAINS, WORKERS, EPOCHS = 8, 2, 6
KILLS_OF_A_FOLDER = 15
COLLECTOR = {"num_samples": 2, "burn_in": 2, "every": 2, "stop": False}
COMPARED = ("*.h5", "average.json", "chain.json", "model.keras")
CONTEXT = multiprocessing.get_context("forkserver")


def make(seed):
    """A tiny model, op by op."""
    import tfdsmcmc as ds

    model = ds.models.from_name("SBN/SBN 3-2", units=6, seed=seed)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.05), latents=ds.latents.NAIS(2), num_chains=1, jit_compile=False)
    return model


def worker(folder):
    """All chains that nobody is at, then those that somebody was at."""
    import numpy as np

    import tfdsmcmc as ds

    rows = (np.random.default_rng(0).random((60, 6)) < 0.4).astype(np.uint8)
    more = {"batch_size": 20, "validation_data": rows[:20]}
    ds.cluster.fit_chains(make, rows, folder, CHAINS, EPOCHS, collector=COLLECTOR, **more)


def contents(folder):
    """Checksums by the names of the files that are compared."""
    files = sorted(path for pattern in COMPARED for path in pathlib.Path(folder).glob(f"chain_*/**/{pattern}"))
    return {str(path.relative_to(folder)): hashlib.sha256(_bytes(path)).hexdigest() for path in files}


def folder_of_kills(folder, kills, seconds, moments):
    """Learns the chains of a folder with some kills; returns how many there were.

    Args:
      folder: of the chains, which is not there.
      kills: how many at most.
      seconds: between two kills, at most.
      moments: `random.Random`.
    """
    workers, count, limit = [_begun(folder) for _ in range(WORKERS)], 0, min(kills, KILLS_OF_A_FOLDER)
    while count < limit:
        time.sleep(moments.uniform(0.02, 1.0) * seconds)
        place = moments.randrange(WORKERS)
        if not all(each.is_alive() for each in workers):
            break  # the chains are done
        os.kill(workers[place].pid, signal.SIGKILL)
        workers[place].join()
        count, workers[place] = count + 1, _begun(folder)
    for each in workers:
        each.join()
        assert each.exitcode == 0, f"a worker breaks off by itself: {folder}"
    left = [str(path) for path in pathlib.Path(folder).rglob(".tfdsmcmc-*")]
    assert not left, f"left behind: {left}"
    return count


def run(folder, kills, seed):
    """Kills until the record has so many."""
    folder = pathlib.Path(folder)
    record, straight = folder / "record.jsonl", folder / "straight"
    lines = [json.loads(line) for line in record.read_text().splitlines()] if record.exists() else []
    length = _straight(straight)
    expected = contents(straight)
    while (before := sum(line["kills"] for line in lines)) < kills:
        own = folder / f"killed_{len(lines)}"
        shutil.rmtree(own, ignore_errors=True)  # of a run that was broken off
        begun = time.perf_counter()
        count = folder_of_kills(own, kills - before, length / CHAINS, random.Random(f"{seed} {len(lines)}"))
        found = contents(own)
        differing = sorted(name for name in {*expected, *found} if expected.get(name) != found.get(name))
        assert not differing, f"other than nobody's killed: {differing}, in {own}"
        lines.append({"kills": count, "files": len(found), "seconds": round(time.perf_counter() - begun)})
        with open(record, "a") as file:
            file.write(json.dumps(lines[-1]) + "\n")
        print(json.dumps({"kills": before + count, "folders": len(lines), **lines[-1]}), flush=True)
        shutil.rmtree(own)


def main(arguments=None):
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m stress.chains", description=__doc__, formatter_class=raw)
    parser.add_argument("kills", type=int, nargs="?", default=30, help="in all (default 30)")
    parser.add_argument("--seed", type=int, default=0, help="of their moments (default 0)")
    parser.add_argument("--folder", default="runs/stress_chains", help="default runs/stress_chains")
    args = parser.parse_args(arguments)
    CONTEXT.set_forkserver_preload(["tfdsmcmc"])
    run(args.folder, args.kills, args.seed)


def _straight(folder):
    """Learns the chains with nobody killed, unless they are there; returns how many seconds that takes."""
    file = folder.with_suffix(".json")
    if not file.exists():
        shutil.rmtree(folder, ignore_errors=True)
        begun = time.perf_counter()
        one = _begun(folder)
        one.join()
        assert one.exitcode == 0, "the run breaks off by itself"
        file.write_text(json.dumps({"seconds": time.perf_counter() - begun}))
    return json.loads(file.read_text())["seconds"]


def _bytes(path):
    if path.suffix != ".keras":
        return path.read_bytes()
    import h5py
    import numpy as np

    parts = {}

    def note(name, part):
        if isinstance(part, h5py.Dataset) and not name.endswith("identity"):
            array = np.asarray(part[()])
            parts[name] = f"{name} {array.dtype} {array.shape}".encode() + array.tobytes()

    with zipfile.ZipFile(path) as zipped, h5py.File(io.BytesIO(zipped.read("model.weights.h5"))) as file:
        file.visititems(note)
    return b"".join(parts[name] for name in sorted(parts))


def _begun(folder):
    process = CONTEXT.Process(target=_quietly, args=(str(folder),))
    process.start()
    return process


def _quietly(folder):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    worker(folder)


if __name__ == "__main__":
    main()
