"""Times programs that `benchmarks.portable` wrote, under JAX's runtime: their share of the roofline of its device.

    python benchmarks/under_jax.py FOLDER [NAME …] [--results FOLDER] [--text FOLDER]

No TensorFlow is needed, and no installation. --results keeps the small outputs of a first call, to be compared from
device to device; --text keeps the programs as XLA has made them for the device. Prints lines of JSON, the peaks first.
What the columns are is said in `benchmarks.roofline`.
"""

import argparse
import json
import pathlib
import re
import statistics
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import compiler
from jax._src.lib import _jax, xla_client

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from benchmarks.hlo import Program

jax.config.update("jax_enable_x64", True)  # or integers of 64 bits would silently become shorter

CALLS, MAPS, SMALL = 7, 20, 1 << 18


class Compiled:
    """A program of a folder, compiled for a device, and the arguments of its next call.

    Args:
      folder: as `benchmarks.portable` writes it.
      device: JAX's.
    """

    def __init__(self, folder, device):
        self.told = json.loads((folder / "program.json").read_text())
        computation = xla_client.XlaComputation((folder / "program.hlo").read_bytes())
        module = _portable(_jax.mlir.xla_computation_to_mlir_module(computation))
        options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
        begun = time.perf_counter()
        self.executable = device.client.compile_and_load(module, xla_client.DeviceList((device,)), options)
        self.compile_seconds = time.perf_counter() - begun
        with np.load(folder / "inputs.npz") as stored:
            self.inputs = [jax.device_put(stored[name], device) for name in sorted(stored)]

    def __call__(self):
        """The outputs of a call, whose variables the next call is given."""
        done = self.executable.execute_sharded(list(self.inputs))
        outputs = [shards[0] for shards in done.disassemble_into_single_device_arrays()]
        jax.block_until_ready(outputs)
        for output, argument in self.told["handed_on"]:
            self.inputs[argument] = outputs[output]
        return outputs

    @property
    def text(self):
        return self.executable.hlo_modules()[0].to_string()


def peaks(device):
    """Operations a second, of a product in float32 as XLA does it and in full precision, and bytes a second."""
    big = device.platform == "gpu"
    side, length = (8192, 2**28) if big else (2048, 2**25)
    a, x = jax.random.normal(jax.random.key(0), (side, side), jnp.float32), jnp.ones(length, jnp.float32)

    def fastest(function, *arguments):
        jax.block_until_ready(function(*arguments))
        return min(_seconds(lambda: jax.block_until_ready(function(*arguments))) for _ in range(CALLS))

    product = jax.jit(lambda a, precision: jnp.matmul(a, a, precision=precision), static_argnums=1)
    mapped = jax.jit(lambda x: jax.lax.fori_loop(0, MAPS, lambda i, x: 0.5 * x + 1.0, x))
    return {
        "device": device.device_kind,
        "operations": 2 * side**3 / fastest(product, a, "default"),
        "operations_precise": 2 * side**3 / fastest(product, a, "highest"),
        "bytes": 8 * length * MAPS / fastest(mapped, x),
    }


def measured(name, program, best, args):
    """The figures of a compiled program, a dict."""
    first = program()
    if args.results:
        pathlib.Path(args.results).mkdir(parents=True, exist_ok=True)
        small = {f"{i:05d}": np.asarray(one) for i, one in enumerate(first) if one.size <= SMALL}
        np.savez_compressed(pathlib.Path(args.results) / f"{name}.npz", **small)
    if args.text:
        pathlib.Path(args.text).mkdir(parents=True, exist_ok=True)
        (pathlib.Path(args.text) / f"{name}.txt").write_text(program.text)
    seconds = statistics.median(_seconds(program) for _ in range(CALLS)) / program.told["passes"]
    told = {part: program.told[part] for part in ("title", "rows")}
    found = {"name": name, **told, "ms": 1e3 * seconds, "compile_s": program.compile_seconds}
    read = Program(program.text)
    costs, passes = read.costs(), program.told["passes"]
    if passes > 1 and passes in read.trips():
        raise RuntimeError("XLA knows how often the loop runs whose passes are to be counted once")
    operations = best["operations_precise" if "precise" in name else "operations"]
    least = {"operations": costs.operations / operations, "bytes": costs.bytes / best["bytes"]}
    bound = max(least, key=least.get)
    counted = {**costs._asdict(), "share": least[bound] / seconds, "bound": bound, "transfers": read.transfers()}
    return {**found, **counted}


def _portable(module):
    """The text of a module without copies, which plugins of devices do not read."""
    return re.sub(r"mhlo\.copy (%\w+) : (tensor<[^>]*>)", r"stablehlo.reshape \1 : (\2) -> \2", module)


def _seconds(call):
    begun = time.perf_counter()
    call()
    return time.perf_counter() - begun


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--results")
    parser.add_argument("--text")
    args = parser.parse_args()
    device = jax.devices()[0]
    best = peaks(device)
    print(json.dumps(best), flush=True)
    names = args.names or sorted(one.parent.name for one in args.folder.glob("*/program.json"))
    with ThreadPoolExecutor() as pool:  # XLA compiles for minutes, on one core each
        compiled = list(pool.map(lambda name: Compiled(args.folder / name, device), names))
    for name, program in zip(names, compiled):
        try:
            line = measured(name, program, best, args)
        except Exception as error:  # the others are still worth their time
            line = {"name": name, "error": f"{type(error).__name__}: {error}"}
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
