"""Several chains in a run, and several runs on several machines: have they met, and what is their average worth?

    python recipes/several_chains.py --seeds 0 1

On machines of their own: `--seeds 0` here, `--seeds 1` there, the folders under runs/several_chains brought together,
and then `--seeds 0 1`. What has learnt does not learn again. Each run prints R̂ and effective sample sizes of its
chains; then stands the test log-likelihood of each run, and of all of them averaged.
"""

import argparse
import pathlib

import keras
import numpy as np

import tfdsmcmc as ds


def learn(folder, data, seed, chains, epochs, samples):
    """A run, or what is left of it, and the model of it."""
    if (folder / "model.keras").exists():
        return keras.saving.load_model(folder / "model.keras")
    keras.utils.set_random_seed(seed)
    model = ds.models.from_name("SBN/SBN 50", units=data.train.shape[1], seed=seed)
    model.compile(**ds.methods.dsgnht_nais(num_chains=chains), steps_per_execution=12)
    collector = ds.posterior.Collector(folder / "posterior", samples, **ds.posterior.last_part(epochs, samples))
    backup = keras.callbacks.BackupAndRestore(folder / "backup")
    model.fit(data.train, epochs=epochs, callbacks=[collector, backup, ds.diagnostics.Progress()], verbose=0)
    model.save(folder / "model.keras")
    return model


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1], help="a run for each (default 0 1)")
    parser.add_argument("--chains", type=int, default=3, help="of each run (default 3)")
    parser.add_argument("--epochs", type=int, default=400)
    parser.add_argument("--quick", action="store_true", help="few epochs and draws, to see that it runs")
    args = parser.parse_args()
    if len(set(args.seeds)) < len(args.seeds) or min(args.seeds) < 0:
        parser.error(f"--seeds must differ, and be 0 or more. Received: {args.seeds}")
    if args.epochs < 80:
        parser.error(f"--epochs must be 80 or more. Received: {args.epochs}")
    epochs, samples, draws = (20, 8, 10) if args.quick else (args.epochs, 40, 200)

    data, found = ds.datasets.load("digits"), []
    for seed in args.seeds:
        folder = pathlib.Path(f"runs/several_chains{'_quick' * args.quick}/{seed}")
        model = learn(folder, data, seed, args.chains, epochs, samples)
        posterior = ds.posterior.load(folder / "posterior")
        if posterior.num_chains != args.chains:
            parser.error(f"{folder} holds a run of {posterior.num_chains} chains. Received: --chains {args.chains}")
        print(f"Run {seed}, {args.chains} chains:")
        # one set of weights may differ from another by the order of its units, log p(x) and the log prior do not
        ds.diagnostics.summary(ds.diagnostics.trace(posterior, model, data.test[:50], num_samples=draws))
        found.append(posterior.log_likelihood(model, data.test, draws, average="draws").value)

    print("Test log-likelihood, nats a row ± error over rows:")
    names = [f"run {seed}" for seed in args.seeds]
    together = np.logaddexp.reduce(found, 0) - np.log(len(found))  # log of the mean of p(x) over the runs
    for name, rows in (*zip(names, found), ("all runs, averaged", together)):
        print(f"  {name:<20}{rows.mean():8.2f} ± {rows.std(ddof=1) / len(rows) ** 0.5:.2f}")


if __name__ == "__main__":
    main()
