"""How near the programs come to what the device could do, for a CPU or a GPU: whichever TensorFlow finds.

    share of the roofline = max(operations / peak operations, bytes / peak bytes) / seconds

Operations are those of matrix products, bytes those that the fused program moves (`benchmarks.hlo`). The peaks are
measured here: a large matrix product, and a map of a long vector. Each program is the one that a public call makes,
caught as TensorFlow compiles it, and each line a process of its own. The last column counts the instructions that hand
data to the host, or wait for it. Bytes that stay in a cache count too, so that on a CPU a share above 1 may occur; and
what functions such as tanh cost is not counted, which is most of a Gibbs sweep.
"""

import contextlib
import json
import statistics
import sys
import time

from benchmarks.processes import run

UNITS, ROWS, STEPS, CALLS, MAPS = 784, 100, 11, 5, 20


def main(args):
    peaks = run([sys.executable, "-m", "benchmarks.roofline", "peaks"])
    print(f"\n## Share of the roofline: {peaks['device']}\n")
    print(f"Peaks: {peaks['operations'] / 1e9:,.0f} billion operations and {peaks['bytes'] / 1e9:,.1f} GB a second.\n")
    print("| program | ms | million operations | MB | share of the roofline | bound by | transfers |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name in PROGRAMS:
        one = run([sys.executable, "-m", "benchmarks.roofline", name])
        least = {part: one[part] / peaks[part] for part in ("operations", "bytes")}
        bound = max(least, key=least.get)
        print(
            f"| {name} | {1e3 * one['seconds']:.2f} | {one['operations'] / 1e6:,.0f} | {one['bytes'] / 1e6:,.1f} "
            f"| {least[bound] / one['seconds']:.2f} | {bound} | {one['transfers']} |",
            flush=True,
        )


def peaks():
    """Measures the device."""
    import tensorflow as tf

    gpus = tf.config.list_physical_devices("GPU")
    side, length = (8192, 2**28) if gpus else (2048, 2**25)
    a, b, x = tf.random.normal([side, side]), tf.random.normal([side, side]), tf.random.normal([length])
    product = tf.function(tf.matmul, jit_compile=True)

    @tf.function(jit_compile=True)
    def mapped(x):  # in place: a new vector would be a page at a time, as it is touched
        return tf.while_loop(lambda i, x: i < MAPS, lambda i, x: (i + 1, 0.5 * x + 1.0), (0, x))[1]

    device = tf.config.experimental.get_device_details(gpus[0])["device_name"] if gpus else "CPU"
    return {
        "operations": 2 * side**3 / _seconds(lambda: product(a, b)),
        "bytes": 8 * length * MAPS / _seconds(lambda: mapped(x)),
        "device": device,
    }


def step(rows=ROWS, chains=1):
    """Steps of `fit`: SBN 200-200-200, K = 5, the default prior."""
    import tfdsmcmc as ds

    model = ds.models.from_name("SBN/SBN 200-200-200", UNITS)
    model.compile(kernel="sgnht", steps_per_execution=STEPS, num_chains=chains)
    return lambda: model.fit(_rows(rows), batch_size=rows, steps_per_epoch=STEPS, epochs=1, verbose=0), STEPS


def sweep(rows=ROWS):
    """Gibbs sweeps over all latent layers: SBN 200-200-200."""
    import tensorflow as tf

    import tfdsmcmc as ds

    model, x = ds.models.from_name("SBN/SBN 200-200-200", UNITS), tf.constant(_rows(rows), tf.float32)
    z = [part[0] for part in model.recognition.sample(x, 1, seed=0)]
    gibbs = ds.latents.Gibbs()
    swept = tf.function(lambda z, seed: gibbs.sweep(model.generative, x, z, seed), jit_compile=True, autograph=False)
    return lambda: swept(z, ds.random.as_seed(0))[0].numpy(), 1


def evaluation(rows=ROWS):
    """Chunks of the importance-sampling estimate: SBN 200-200, K = 1,000."""
    import tfdsmcmc as ds
    from tfdsmcmc.likelihood.importance import chunk_size

    model, x = ds.models.from_name("SBN/SBN 200-200", UNITS), _rows(rows)
    model.compile()
    chunks = -(-1000 // chunk_size(model.generative, rows, 1000))
    return lambda: model.log_likelihood(x, 1000, batch_size=rows), chunks


def annealing(rows=ROWS):
    """Steps of `log_partition`: a Boltzmann machine of 784 × 500, as many runs as rows."""
    import tfdsmcmc as ds

    machine, steps = ds.boltzmann.RBM(UNITS, 500), 211
    schedule = [i / steps for i in range(steps + 1)]
    return lambda: ds.boltzmann.log_partition(machine, rows, schedule=schedule, seed=0), steps


def divergence(rows=ROWS):
    """Steps of contrastive divergence, CD-1: a Boltzmann machine of 784 × 500."""
    import tfdsmcmc as ds

    machine = ds.boltzmann.RBM(UNITS, 500)
    machine.compile(steps_per_execution=STEPS)
    return lambda: machine.fit(_rows(rows), batch_size=rows, steps_per_epoch=STEPS, epochs=1, verbose=0), STEPS


PROGRAMS = {
    "a step of learning": step,
    "a Gibbs sweep": sweep,
    "a chunk of evaluation": evaluation,
    "a step of annealing": annealing,
    "a step of CD-1": divergence,
}


def measure(name):
    """Times a program in this process, and counts what it does."""
    from benchmarks.hlo import Program

    hot, passes, call = hot_program(PROGRAMS[name])
    program = Program(hot.function.experimental_get_compiler_ir(*hot.arguments[0], **hot.arguments[1])("optimized_hlo"))
    if passes > 1 and passes in program.trips():
        raise RuntimeError("XLA knows how often the loop runs whose passes are to be counted once")
    hot.times.clear()
    for _ in range(CALLS):
        call()
    # a loop whose length XLA does not know counts once, as one pass of it does
    seconds = statistics.median(hot.times) / passes
    return {**program.costs()._asdict(), "transfers": program.transfers(), "seconds": seconds}


def hot_program(make, **sizes):
    """(the program in which a call spends its time, a `Caught`; its passes a call; the call)."""
    with caught() as programs:
        call, passes = make(**sizes)
        call()
    return max(programs, key=lambda one: one.seconds), passes, call


class Caught:
    """A function that XLA compiles, its last arguments and the seconds of its calls."""

    def __init__(self, function):
        self.function, self.arguments, self.times = function, ((), {}), []

    @property
    def seconds(self):
        return sum(self.times)

    def __call__(self, *arguments, **named):
        import tensorflow as tf

        begun = time.perf_counter()
        found = self.function(*arguments, **named)
        if tf.executing_eagerly():  # else it is traced within another
            tf.test.experimental.sync_devices()  # a copy to the host would count as the program's time
            self.arguments = arguments, named
            self.times.append(time.perf_counter() - begun)
        return found


@contextlib.contextmanager
def caught():
    """The list of the programs that are made meanwhile, each a `Caught`."""
    import tensorflow as tf

    made, programs = tf.function, []

    def function(*arguments, jit_compile=None, **named):
        program = made(*arguments, jit_compile=jit_compile, **named)
        if jit_compile and arguments:
            program = Caught(program)
            programs.append(program)
        return program

    tf.function = function
    try:
        yield programs
    finally:
        tf.function = made


def _rows(count):
    import numpy as np

    return np.random.default_rng(0).random((count, UNITS)) < 0.2


def _seconds(call):
    call().numpy()
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        call().numpy()
        times.append(time.perf_counter() - begun)
    return min(times)


if __name__ == "__main__":
    print(json.dumps(peaks() if sys.argv[1] == "peaks" else measure(sys.argv[1])))
