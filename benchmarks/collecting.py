"""What the end of an epoch costs a collector: milliseconds at the beginning and at the end of a run of many epochs.

A tiny model learns for 2,000 epochs of a step each, and the collector keeps a sample after each: 2,000 records, 2,000
samples and their mean. The time is that of `Collector.on_epoch_end` alone, which waits for the disk.

    python -m benchmarks.collecting --epochs 2000
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time

AROUND = 25  # epochs before and after one whose cost is shown, a median


def milliseconds(folder, epochs):
    """The cost of each epoch's end."""
    import numpy as np

    import tfdsmcmc as ds

    times = []

    class Timed(ds.posterior.Collector):
        def on_epoch_end(self, epoch, logs=None):
            begun = time.perf_counter()
            super().on_epoch_end(epoch, logs)
            times.append(1e3 * (time.perf_counter() - begun))

    model = ds.models.from_name("SBN/SBN 2", units=4)
    model.compile(ds.mcmc.SGNHT(learning_rate=0.05), jit_compile=False)
    collector = Timed(folder, num_samples=epochs, burn_in=0, every=1)
    model.fit(np.eye(4), batch_size=4, epochs=epochs, verbose=0, callbacks=[collector])
    return times


def main(args=None):
    show()


def show(parent=None, epochs=2000):
    """Prints the table of a run in a temporary folder, which lies in `parent`."""
    with tempfile.TemporaryDirectory(dir=parent) as folder:
        times = milliseconds(f"{folder}/posterior", epochs)
    print(f"\nA collector of {epochs:,} epochs, a sample each: {sum(times) / 1e3:.1f} s in all\n")
    print("| epoch | ms, median of those around it |\n| --- | --- |")
    for epoch in dict.fromkeys([100, 500, 1000, epochs]):
        around = times[max(0, epoch - AROUND) : epoch + AROUND]
        print(f"| {epoch:,} | {statistics.median(around):.2f} |" if around else f"| {epoch:,} | not reached |")


if __name__ == "__main__":
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m benchmarks.collecting", description=__doc__, formatter_class=raw)
    parser.add_argument("--folder", help="on the disk that is to be timed (default: that of temporary files)")
    parser.add_argument("--epochs", type=int, default=2000, help="default 2000")
    given = parser.parse_args()
    show(given.folder, given.epochs)
