"""Latencies of the development server under mixed requests of eight clients, and whether its memory stays.

The server is a process of its own. Each client keeps one connection and asks for one signature after the other, and for
what there is not; a fault that is not told, an error or an answer that differs from the first to the same request is
counted. Requests before the clock starts let TensorFlow plan each signature once.

    python -m stress.load
"""

import argparse
import concurrent.futures
import contextlib
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.parse

import numpy as np

import tfdsmcmc as ds

_ROWS = 4
_NO_DRAWS = {"num_samples": 0, "seed": [1, 2]}  # what the graph itself refuses
_WRONG = [
    {"signature_name": "sample", "inputs": _NO_DRAWS},
    {"signature_name": "none", "inputs": {}},
    {"inputs": {"x": [[0.5]]}},
    [None],
]


def main(arguments=None):
    parser = argparse.ArgumentParser(
        prog="python -m stress.load", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=2000, help="how many in all (default 2000)")
    parser.add_argument("--threads", type=int, default=8, help="clients (default 8)")
    args = parser.parse_args(arguments)
    print(f"\nDevelopment server, SBN 200-200, 784 pixels, {args.threads} clients, {_ROWS} rows or draws a request\n")
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(200), ds.layers.SBN(200), ds.layers.SBN(784)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(200), ds.layers.SBN(200)]),
    )
    only = ["log_likelihood", "sample", "reconstruct", "log_likelihood_rows", "sample_rows"]  # an imputation takes long
    with tempfile.TemporaryDirectory() as folder:
        ds.serving.export(model, pathlib.Path(folder) / "load", only=only, verbose=False)
        found = measure(pathlib.Path(folder) / "load", args.requests, args.threads)
    print("| request | count | median, ms | 95 %, ms | 99 %, ms |\n| --- | --- | --- | --- | --- |")
    for name, seconds in sorted(found["seconds"].items()):
        shown = " | ".join(f"{1000 * value:.1f}" for value in np.percentile(seconds, [50, 95, 99]))
        print(f"| {name} | {len(seconds):,} | {shown} |")
    print(f"\nerrors: {found['errors']}; {found['rate']:,.0f} requests a second")
    print(f"memory: {found['mib_after_a_quarter']:.0f} MiB after a quarter, {found['mib_at_end']:.0f} MiB at the end")


def measure(path, requests, threads):
    """Serves a model and sends it requests.

    Args:
      path: the model's folder.
      requests: how many in all.
      threads: number of clients.

    Returns:
      dict with `seconds`, a list for each kind of request, the number of `errors`, the `rate` a second, and the
      server's resident memory in MiB, `mib_after_a_quarter` and `mib_at_end`.
    """
    with _serving(path) as (process, address):
        client = _Client(address, urllib.parse.quote(pathlib.Path(path).name))
        cases = _cases(client.signatures())
        expected = {name: client.ask(body) for name, body in cases}
        errors = sum((status == 200) != name.isidentifier() for name, (status, _) in expected.items())
        order = [cases[i % len(cases)] for i in np.random.default_rng(0).permutation(requests)]
        clients = [_Client(address, client.model) for _ in range(threads)]
        parts = [order[: requests // 4], order[requests // 4 :]]
        begun, found, memory = time.perf_counter(), [], []
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            for part in parts:
                shares = [part[first::threads] for first in range(threads)]
                found += [one for share in pool.map(_run, clients, shares) for one in share]
                memory.append(_resident(process.pid))
        elapsed = time.perf_counter() - begun
    seconds = {}
    for name, answer, taken in found:
        seconds.setdefault(name if name.isidentifier() else "wrong", []).append(taken)
        errors += answer != expected[name]
    rate = len(found) / elapsed
    memory = dict(zip(("mib_after_a_quarter", "mib_at_end"), memory))
    return {"seconds": seconds, "errors": errors, "rate": rate, **memory}


class _Client:
    """One connection that is kept."""

    def __init__(self, address, model):
        self.model = model
        self._connection = http.client.HTTPConnection(*address, timeout=120)

    def signatures(self):
        """The signatures as the server describes them, without what TensorFlow keeps for itself."""
        _, answer = self._send("GET", "/metadata", None)
        found = json.loads(answer)["metadata"]["signature_def"]["signature_def"]
        return {name: found[name] for name in sorted(found) if name != "serving_default" and not name.startswith("__")}

    def ask(self, body):
        return self._send("POST", ":predict", body)

    def _send(self, method, verb, body):
        self._connection.request(method, f"/v1/models/{self.model}{verb}", body)
        response = self._connection.getresponse()
        return response.status, response.read()


def _run(client, cases):
    """(name, answer, seconds) of each case."""
    found = []
    for name, body in cases:
        begun = time.perf_counter()
        answer = client.ask(body)
        found.append((name, answer, time.perf_counter() - begun))
    return found


def _cases(signatures):
    """(name, body) of a request to each signature, and of wrong ones, whose names are numbers."""
    good = [
        (name, {"signature_name": name, "inputs": {key: _value(key, spec) for key, spec in words["inputs"].items()}})
        for name, words in signatures.items()
    ]
    wrong = [(str(number), request) for number, request in enumerate(_WRONG)]
    return [(name, json.dumps(request)) for name, request in [*good, *wrong]]


def _value(name, spec):
    """An input of `_ROWS` rows, or of one number."""
    shape = [_ROWS if size["size"] == "-1" else int(size["size"]) for size in spec["tensor_shape"]["dim"]]
    values = np.random.default_rng(0).integers(0, 2, shape)
    if spec["dtype"] == "DT_UINT8":
        values *= 128  # packed: the first of eight units, as those beyond the last must be 0
    if name.startswith("num_"):
        values = np.full(shape, _ROWS)
    return (values.astype(bool) if spec["dtype"] == "DT_BOOL" else values).tolist()


@contextlib.contextmanager
def _serving(path):
    """The server's process and its address."""
    program = f"from tfdsmcmc.serving.server.development_server import serve\nserve({str(path)!r}, port=0)"
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL, "text": True}
    process = subprocess.Popen([sys.executable, "-c", program], **pipes)
    try:
        said = process.stdout.readline()
        if "http://" not in said:
            raise RuntimeError(f"The server did not start. Received: {said!r}")
        url = urllib.parse.urlsplit(said.split()[-1])
        yield process, (url.hostname, url.port)
    finally:
        process.terminate()
        process.wait()


def _resident(pid):
    """Resident memory of a process in MiB (Linux)."""
    lines = pathlib.Path(f"/proc/{pid}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


if __name__ == "__main__":
    main()
