"""Time per step of `fit`: SBN 200-200-200, SBN 200 and NADE 200, 784 pixels, batch 100, 5 samples, DSGNHT-NAIS.

The time is that of whole epochs, with everything that Keras does around them, over their steps; the first epoch
compiles and is not counted. The prior is the reference's, Student-t; the default one, whose scales are drawn along,
takes a little longer. Ours and the hand-written reference run in turn, each in a process of its own, and the ratio is
of their medians in the same rounds.
"""

import json
import pathlib
import statistics
import sys

from benchmarks.processes import run

# model, steps of an epoch, arguments of the reference
CASES = (
    ("SBN/SBN 200-200-200", 100, ["--hidden", "200,200,200", "--grad", "manual"]),
    ("SBN/SBN 200", 100, ["--hidden", "200", "--grad", "manual"]),
    ("NADE/NADE 200", 10, ["--hidden", "200", "--layer", "nade"]),
)
EPOCHS = 12


def main(args):
    print("\nTraining: milliseconds a step (minimum / median over rounds), of all cores together in brackets\n")
    print("| model | fit | hand-written JAX | ratio, of processor time |\n| --- | --- | --- | --- |")
    for name, steps, reference in CASES:
        ours, theirs = [], []
        for _ in range(args.rounds):
            ours.append(run([sys.executable, "-m", "benchmarks.training", name, str(steps)]))
            theirs.append(_reference(args, steps, reference))
        theirs = [t for t in theirs if t is not None]
        ratio = f"{_ratio(ours, theirs)} ({_ratio(ours, theirs, 'cpu_ms_per_step')})" if theirs else "not there"
        print(f"| {name} | {_show(ours)} | {_show(theirs) if theirs else 'not there'} | {ratio} |", flush=True)


def _median(runs, what="ms_per_step_median"):
    return statistics.median(run[what] for run in runs)


def _ratio(ours, theirs, what="ms_per_step_median"):
    return f"{_median(ours, what) / _median(theirs, what):.2f}"


def _show(runs):
    least, processor = min(run["ms_per_step_min"] for run in runs), _median(runs, "cpu_ms_per_step")
    return f"{least:.2f} / {_median(runs):.2f} ({processor:.2f})"


def _reference(args, steps, arguments):
    program = pathlib.Path(args.reference or "") / "jax_hand.py"
    if args.reference is None or not program.exists():
        return None
    block = max(1, steps // 5)
    command = [args.reference_python, "-B", str(program), *arguments]
    return run([*command, "--steps", str(block), "--repeats", str(EPOCHS * steps // block)])


def time_fit(name, steps):
    """Times `fit` in this process."""
    import time

    import keras
    import numpy as np
    import tensorflow_probability as tfp

    import tfdsmcmc as ds

    tfd = tfp.distributions
    generator = np.random.default_rng(0)
    prototypes = np.where(generator.random((20, 784)) < 0.2, 0.85, 0.03)
    x = generator.random((100 * steps, 784)) < prototypes[generator.integers(0, 20, 100 * steps)]
    model = ds.models.from_name(name, units=784, prior=tfd.StudentT(df=2.2, loc=0.0, scale=0.09))
    model.compile(
        kernel=ds.mcmc.SGNHT(learning_rate=0.01),
        proposal=ds.proposals.Wake(keras.optimizers.Adam(5e-4)),
        steps_per_execution=max(1, steps // 5),
    )

    class Clock(keras.callbacks.Callback):
        ends = []

        def on_epoch_end(self, epoch, logs=None):
            self.ends.append((time.perf_counter(), time.process_time()))

    clock = Clock()
    model.fit(x.astype(np.uint8), epochs=EPOCHS + 1, verbose=0, callbacks=[clock])
    times, processor = np.diff(clock.ends, axis=0).T / steps * 1e3
    found = {"ms_per_step_min": times.min(), "ms_per_step_median": float(np.median(times))}
    print(json.dumps({**found, "cpu_ms_per_step": float(np.median(processor))}))


if __name__ == "__main__":
    time_fit(sys.argv[1], int(sys.argv[2]))
