"""What sampling the weights is worth beside climbing to one set of them: the table of docs/study.md.

    python recipes/sampler_study.py --dataset digits --architecture "SBN/SBN 100-50" --seeds 0 1 2
    python recipes/sampler_study.py --table

Each setting learns from the same rows with the same number of updates, and is evaluated on the same test rows:

    rws           reweighted wake-sleep, flat prior, K of the sampler, the weights of the best epoch on validation data
    rws_fast      the same with Adam(0.01), the rate of the samplers' warm start, not Adam(0.003)
    rws_learnt    rws with the default prior
    sampler       `methods.dsgnht_nais()` and the default prior, nothing else
    cold          the same without a warm start
    temperature_0 the same at temperature 0, so that a warm start is all that averaging has
    scale_0.09    the same with the published prior
    scale_1       the same with a Student-t prior of scale 1

Where there are samples the predictive average over all of them is taken, that over the draws of the first chain alone,
and that of the last weights of the first chain. Runs of an optimizer from several seeds are averaged in the table too.
Test log-likelihoods of each row are kept, so that differences are paired. What is finished is not run again.
"""

import argparse
import json
import pathlib
import time

from quiet import quiet_start

with quiet_start():
    import keras
    import numpy as np
    import tensorflow_probability as tfp

    import tfdsmcmc as ds

tfd = tfp.distributions
OPTIMIZERS = ("rws", "rws_fast", "rws_learnt")
SAMPLERS = ("sampler", "cold", "temperature_0", "scale_0.09", "scale_1")
PRIORS = {
    "rws": {"": None},
    "rws_fast": {"": None},
    "scale_0.09": tfd.StudentT(df=2.2, loc=0.0, scale=0.09),
    "scale_1": tfd.StudentT(df=2.2, loc=0.0, scale=1.0),
}


class Best(keras.callbacks.Callback):
    """Keeps the weights of the epoch with the best validation log-likelihood, and sets them at the end."""

    def on_train_begin(self, logs=None):
        self.best, self.weights, self.at = -np.inf, None, 0

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_log_likelihood"] > self.best:
            self.best, self.weights, self.at = logs["val_log_likelihood"], self.model.get_weights(), epoch + 1

    def on_train_end(self, logs=None):
        self.model.set_weights(self.weights)


def run(setting, args, seed, data, folder):
    """Learns and evaluates; returns a dict of figures, and of the test rows' log-likelihoods by estimator."""
    keras.utils.set_random_seed(seed)
    ones = data.train.sum(0, dtype=np.float64)
    logits = np.log((ones + 1) / (len(data.train) - ones + 1))
    model = ds.models.from_name(
        args.architecture, data.train.shape[1], data_logits=logits, prior=PRIORS.get(setting), seed=seed
    )
    steps = -(-len(data.train) // 100)
    epochs = -(-args.updates // steps)
    method = ds.methods.dsgnht_nais(num_chains=args.chains)
    if setting in OPTIMIZERS:
        method = ds.methods.rws(1e-2 if setting == "rws_fast" else 3e-3, method["latents"].num_samples)
        callbacks = [Best()]
    else:
        callbacks = [ds.posterior.Collector(folder / "posterior", overwrite=True)]
    if setting == "cold":
        method["kernel"] = method["kernel"].copy(updates=0)
    if setting == "temperature_0":
        method["kernel"] = method["kernel"].copy(temperature=0.0)
    model.compile(**method, steps_per_execution=min(steps, 50), evaluation_samples=25)
    begun = time.monotonic()
    arguments = {"validation_data": data.valid[:500], "epochs": epochs, "verbose": 0, "callbacks": callbacks}
    model.fit(data.train, **arguments)
    figures = {"seconds": round(time.monotonic() - begun), "updates_made": int(model.run.steps)}
    test = data.test[np.random.default_rng(0).permutation(len(data.test))[: args.test_rows]]
    rows = {"last": model.log_likelihood(test, args.test_samples).value}
    if setting in SAMPLERS:
        posterior = ds.posterior.load(folder / "posterior")
        figures["begins"] = int(np.max(model.run.state.kernel_results.begins))
        figures["samples"] = len(posterior.samples)
        each = max(1, args.test_samples // 5)
        rows["chain"] = posterior.chain(0).log_likelihood(model, test, each).value
        rows["predictive"] = posterior.log_likelihood(model, test, each).value
    else:
        figures["best_epoch"] = callbacks[0].at
    return figures, rows


def study(args):
    data = ds.datasets.load(args.dataset, args.data_dir)
    for seed in args.seeds:
        for setting in args.settings:
            chains = f" {args.chains} chains" if args.chains and setting in SAMPLERS else ""
            name = f"{args.dataset} {args.architecture} {setting} {seed} {args.updates}{chains}".replace("/", "-")
            folder = pathlib.Path(args.output) / name.replace(" ", "_")
            if (folder / "result.json").exists():
                continue
            folder.mkdir(parents=True, exist_ok=True)
            figures, rows = run(setting, args, seed, data, folder)
            with ds.files.replacing(folder / "rows.npz") as temporary, open(temporary, "wb") as file:
                np.savez(file, **rows)
            about = {name: getattr(args, name) for name in ("dataset", "architecture", "updates", "test_samples")}
            means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
            about |= {"setting": setting, "seed": seed, "chains": args.chains}
            ds.files.write_json(folder / "result.json", {**about, **figures, **means})
            print(name, figures, means, flush=True)


def mean_and_error(difference):
    return f"{difference.mean():+.2f} ± {difference.std(ddof=1) / len(difference) ** 0.5:.2f}"


def log_mean_exp(rows):
    return np.logaddexp.reduce(rows, 0) - np.log(len(rows))


def table(args):
    """Prints a table in Markdown for each data set and architecture: means over seeds, paired differences to `rws`."""
    found = {}
    for file in sorted(pathlib.Path(args.output).glob("*/result.json")):
        result = json.loads(file.read_text())
        with np.load(file.parent / "rows.npz") as rows:
            key = result["dataset"], result["architecture"], result["updates"]
            chains = result.get("chains")
            setting = result["setting"] + (f", {chains} chain" if chains and result["setting"] in SAMPLERS else "")
            found.setdefault(key, {}).setdefault(setting, []).append((result, dict(rows)))
    for key, settings in found.items():
        print(f"\n**{key[0]}, {key[1]}**, {key[2]:,} updates\n")
        print("| setting | seeds | minutes | last | chain 0 | all chains | all chains less the best `rws` |")
        print("| --- | --- | --- | --- | --- | --- | --- |")
        rivals = [(result["last"], rows["last"]) for name in OPTIMIZERS for result, rows in settings.get(name, [])]
        best = max(rivals, key=lambda pair: pair[0])[1] if rivals else None
        for name in sorted(settings, key=lambda name: (*OPTIMIZERS, *SAMPLERS).index(name.split(",")[0])):
            runs = settings[name]
            mean = {part: np.mean([rows[part].mean() for _, rows in runs]) for part in runs[0][1]}
            cells = [f"{mean[part]:.2f}" if part in mean else "" for part in ("last", "chain", "predictive")]
            against = np.mean([rows.get("predictive", rows["last"]) for _, rows in runs], 0)
            minutes = np.mean([result["seconds"] for result, _ in runs]) / 60
            paired = "" if best is None else mean_and_error(against - best)
            print(f"| `{name}` | {len(runs)} | {minutes:.1f} | {' | '.join(cells)} | {paired} |")
            if name in OPTIMIZERS and len(runs) > 1:
                together = log_mean_exp(np.stack([rows["last"] for _, rows in runs]))
                paired = mean_and_error(together - best)
                count = f"{minutes * len(runs):.1f}"
                print(f"| {len(runs)} of `{name}`, averaged | 1 | {count} | | | {together.mean():.2f} | {paired} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--architecture", default="SBN/SBN 100-50")
    parser.add_argument("--settings", nargs="+", choices=(*OPTIMIZERS, *SAMPLERS), default=("rws", "sampler"))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--chains", type=int, help="of samplers (default: those of the method)")
    parser.add_argument("--updates", type=int, default=12_000)
    parser.add_argument("--test-rows", type=int, default=2000)
    parser.add_argument("--test-samples", type=int, default=1000)
    parser.add_argument("--output", default="runs/sampler_study")
    parser.add_argument("--table", action="store_true", help="print what there is")
    args = parser.parse_args()
    table(args) if args.table else study(args)


if __name__ == "__main__":
    main()
