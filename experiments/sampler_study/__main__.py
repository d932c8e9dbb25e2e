"""What sampling the weights is worth beside climbing to one set of them: the tables of docs/study_appendix.md.

    python recipes/sampler_study.py --dataset digits --architecture "SBN/SBN 100-50" --seeds 0 1 2 --equal-time
    python recipes/sampler_study.py --dataset caltech101_silhouettes_28 --annealing-rows 100
    python recipes/sampler_study.py --record docs/study.jsonl
    python recipes/sampler_study.py --table docs/study.jsonl --page docs/study_appendix.md

Each setting learns from the same rows and is evaluated on the same test rows. Samplers make the same number of updates;
optimizers too, or with `--equal-time` as many as take the processor time, compilation and validation included, that the
`sampler` of the same seed took, which therefore comes first:

    rws           reweighted wake-sleep, flat prior, K of the sampler, the weights of the best epoch on validation data
    rws_fast      the same with Adam(0.01), not Adam(0.003)
    rws_falling   the same with the optimizers of the sampler: Adam of a rate that rises and falls, and Adam(0.01) for φ
    rws_learnt    rws with the prior that samplers have by default
    sampler       `methods.dsgnht_nais()` and the default prior, nothing else
    cold          the same without a warm start
    temperature_0 the same at temperature 0, so that a warm start is all that averaging has
    scale_0.09    the same with the published prior
    scale_1       the same with a Student-t prior of scale 1
    gibbs         `methods.dsgnht_gibbs()` and the default prior, nothing else: half of the sampler's time is its climb;
                  its draws are annealed and nothing else
    augmentation  `methods.polya_gamma_gibbs()` in the sampler's time, a prior with a scale for each column: the draws
                  after 20 sweeps, which are annealed and nothing else

Minutes in the table are of processor time. Where there are samples the predictive average over all of them is taken,
that over the draws of the first chain alone, and that of the last weights of the first chain. Runs of an optimizer from
several seeds are averaged in the table too. Test log-likelihoods of each row are kept, so that differences are paired.
What is finished is not run again. `--record` runs nothing: it writes what is finished into a file, in which runs of
several machines can stand, and `--table` prints the tables of such a file, or of --output where it has no name. With
`--page` it puts them between the markers of a page instead.

These are by importance sampling, which is too low where the recognition network is not close. `--annealing-rows` adds
the estimates of so many test rows by annealing from the prior, 1,000 steps and two runs a row, which do without one: of
an optimizer's weights, and of the average over six draws of a sampler, evenly spaced.
"""

import argparse
import json
import pathlib
import time

from quiet import quiet_start

with quiet_start():
    import keras
    import marked_page
    import numpy as np
    import sampler_table
    import tensorflow_probability as tfp
    from sampler_table import OPTIMIZERS, SAMPLERS, SETTINGS, WITHOUT_RECOGNITION, log_mean_exp

    import tfdsmcmc as ds

tfd = tfp.distributions
ANNEALING = {"num_steps": 1000, "num_runs": 2, "batch_size": 50}
DRAWS = 6  # of a posterior that are annealed
PRIORS = {
    "rws": {"": None},
    "rws_learnt": ds.Prior().patterns,  # an optimizer has it only where it is given
    "rws_fast": {"": None},
    "rws_falling": {"": None},
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


class Until(keras.callbacks.Callback):
    """Ends learning after so many seconds of processor time."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.process_time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.process_time() >= self.end:
            self.model.stop_training = True


class Climb(keras.callbacks.Callback):
    """Ends the climb of a warm start after so many seconds of processor time."""

    def __init__(self, seconds):
        super().__init__()
        self.end = time.process_time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.process_time() >= self.end:
            self.model.run.end_climb()


class TooLittleTime(Exception):
    """No draw was made in the time that there was."""


def run_without_recognition(setting, args, seed, data, folder, seconds):
    """Gibbs sampling of the units in the time that a sampler took; returns a dict of figures."""
    steps, callbacks = -(-len(data.train) // 100), [Until(seconds)]
    if setting == "augmentation":
        batch_size, sampling = 500, {"burn_in": 20, "every": 1}
        prior = {"bias": tfd.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal()}
        method = ds.methods.polya_gamma_gibbs()
    else:
        batch_size, sampling, prior = 100, {"burn_in": 0, "every": max(1, 250 // steps)}, None
        method = ds.methods.dsgnht_gibbs(num_chains=args.chains)
        callbacks.append(Climb(seconds / 2))
    keras.utils.set_random_seed(seed)
    model = ds.models.from_name(
        args.architecture, data.train.shape[1], data_logits=data_logits(data), prior=prior, seed=seed
    )
    model.compile(**method, steps_per_execution=min(-(-len(data.train) // batch_size), 50))
    callbacks.append(ds.posterior.Collector(folder / "posterior", num_samples=1000, overwrite=True, **sampling))
    begun, worked = time.monotonic(), time.process_time()
    train = data.train.astype(np.uint8)
    model.fit(train, batch_size=batch_size, epochs=10**6, verbose=0, callbacks=callbacks)
    if not any((folder / "posterior").glob("*.h5")):
        raise TooLittleTime(f"no draws after {int(model.run.epochs)} passes over the rows: too little time")
    return {
        "chains": model.run.num_chains,
        "seconds": round(time.monotonic() - begun),
        "processor_seconds": round(time.process_time() - worked),
        "updates_made": int(model.run.epochs if setting == "augmentation" else model.run.steps),
        "samples": len(ds.posterior.load(folder / "posterior").samples),
    }


def data_logits(data):
    """Where the biases of the data layer start: the log-odds of the columns' means, a row of each kind added."""
    ones = data.train.sum(0, dtype=np.float64)
    return np.log((ones + 1) / (len(data.train) - ones + 1))


def run(setting, args, seed, data, folder, seconds=None):
    """Learns and evaluates; returns a dict of figures, and of the test rows' log-likelihoods by estimator."""
    keras.utils.set_random_seed(seed)
    model = ds.models.from_name(
        args.architecture, data.train.shape[1], data_logits=data_logits(data), prior=PRIORS.get(setting), seed=seed
    )
    steps = -(-len(data.train) // 100)
    epochs = -(-args.updates // steps)
    method = ds.methods.dsgnht_nais(num_chains=args.chains)
    if setting in OPTIMIZERS:
        of_sampler = {"kernel": ds.mcmc.MAP(optimizer=method["kernel"].optimizer), "proposal": method["proposal"]}
        method = ds.methods.rws(1e-2 if setting == "rws_fast" else None, method["latents"].num_samples)
        method |= of_sampler if setting == "rws_falling" else {}
        callbacks = [Best()]
        if seconds is not None:
            epochs = 10**6
            callbacks.append(Until(seconds))
    else:
        callbacks = [ds.posterior.Collector(folder / "posterior", overwrite=True)]
    if setting == "cold":
        method["kernel"] = method["kernel"].copy(updates=0)
    if setting == "temperature_0":
        method["kernel"] = method["kernel"].copy(temperature=0.0)
    model.compile(**method, steps_per_execution=min(steps, 50), evaluation_samples=25)
    begun, worked = time.monotonic(), time.process_time()
    arguments = {"validation_data": data.valid[:500], "epochs": epochs, "verbose": 0, "callbacks": callbacks}
    model.fit(data.train, **arguments)
    figures = {
        "chains": model.run.num_chains,
        "seconds": round(time.monotonic() - begun),
        "processor_seconds": round(time.process_time() - worked),
        "updates_made": int(model.run.steps),
    }
    test = test_rows(data, args.test_rows)
    rows = {"last": model.log_likelihood(test, args.test_samples).value}
    if setting in SAMPLERS:
        posterior = ds.posterior.load(folder / "posterior")
        figures["begins"] = int(np.max(model.run.state.kernel_results.begins))
        figures["samples"] = len(posterior.samples)
        each = max(1, args.test_samples // 5)
        rows["chain"] = posterior.chain(0).log_likelihood(model, test, each, average="draws").value
        rows["predictive"] = posterior.log_likelihood(model, test, each, average="draws").value
    else:
        figures["best_epoch"] = callbacks[0].at
        model.save_weights(folder / "model.weights.h5")
    return figures, rows


def test_rows(data, count):
    return data.test[np.random.default_rng(0).permutation(len(data.test))[:count]]


def annealed(setting, args, data, folder):
    """log p of test rows by annealing, averaged over draws where there are some."""
    model = ds.models.from_name(args.architecture, data.train.shape[1])
    if setting in OPTIMIZERS:
        model.load_weights(folder / "model.weights.h5")
        draws = [model.generative.get_weights()]
    else:
        samples = ds.posterior.load(folder / "posterior").samples
        places = np.unique(np.linspace(0, len(samples) - 1, DRAWS).round().astype(int))
        draws = [samples[int(place)].theta for place in places]
    found = []
    for theta in draws:
        for variable, value in zip(model.generative.trainable_variables, theta, strict=True):
            variable.assign(value)
        rows = test_rows(data, args.annealing_rows)
        found.append(ds.likelihood.annealed_importance_sampling(model, rows, **ANNEALING).value)
    return log_mean_exp(np.stack(found))


def timed(setting, args):
    """Whether a setting has the time of the sampler of its seed."""
    return setting in WITHOUT_RECOGNITION or args.equal_time and setting in OPTIMIZERS


def folder_of(setting, args, seed):
    chains = f" {args.chains} chains" if args.chains and (setting in SAMPLERS or timed(setting, args)) else ""
    time = " equal time" if args.equal_time and setting in OPTIMIZERS else ""
    name = f"{args.dataset} {args.architecture} {setting} {seed} {args.updates}{chains}{time}"
    return pathlib.Path(args.output) / name.replace("/", "-").replace(" ", "_")


def time_of_sampler(args, seed):
    file = folder_of("sampler", args, seed) / "result.json"
    found = json.loads(file.read_text())
    if "processor_seconds" not in found:
        raise SystemExit(f"The sampler's run in {file.parent} does not say its processor time: run it again")
    return found["processor_seconds"]


def check(args):
    """Ends the program for what cannot be run, before anything is."""
    if args.annealing_rows is not None and args.annealing_rows < 1:
        raise SystemExit(f"--annealing-rows must be positive. Received: {args.annealing_rows}")
    for seed in args.seeds:
        there = (folder_of("sampler", args, seed) / "result.json").exists()
        for setting in args.settings:
            there |= setting == "sampler"
            if timed(setting, args) and not there:
                where = folder_of("sampler", args, seed)
                raise SystemExit(f"{setting} has the time of the sampler's run of seed {seed}, and needs it in {where}")


def check_tables(args):
    """The same for what is made of finished runs."""
    if args.record is not None and args.table is not None:
        raise SystemExit(f"--record and --table are two calls. Received: --record {args.record} --table {args.table}")
    if args.page is not None and args.table is None:
        raise SystemExit(f"--page needs --table. Received: --page {args.page}")
    if args.table and not pathlib.Path(args.table).exists():
        raise SystemExit(f"--table needs a file that --record has made. Received: {args.table}")
    if (args.record is not None or args.table == "") and not pathlib.Path(args.output).is_dir():
        raise SystemExit(f"--output must be a folder with finished runs. Received: {args.output}")


def study(args):
    data = ds.datasets.load(args.dataset, args.data_dir)
    for seed in args.seeds:
        for setting in args.settings:
            folder = folder_of(setting, args, seed)
            if (folder / "result.json").exists():
                continue
            seconds = time_of_sampler(args, seed) if timed(setting, args) else None
            folder.mkdir(parents=True, exist_ok=True)
            try:
                if setting in WITHOUT_RECOGNITION:
                    figures, rows = run_without_recognition(setting, args, seed, data, folder, seconds), {}
                else:
                    figures, rows = run(setting, args, seed, data, folder, seconds)
            except TooLittleTime as error:
                print(folder.name, error, flush=True)
                continue
            with ds.files.replacing(folder / "rows.npz") as temporary, open(temporary, "wb") as file:
                np.savez(file, **rows)
            about = {name: getattr(args, name) for name in ("dataset", "architecture", "updates", "test_samples")}
            means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
            about |= {"setting": setting, "seed": seed, "equal_time": seconds is not None}
            ds.files.write_json(folder / "result.json", {**about, **figures, **means})
            print(folder.name, figures, means, flush=True)


def anneal(args):
    """Adds what annealing finds to the runs that are there."""
    data = ds.datasets.load(args.dataset, args.data_dir)
    for seed in args.seeds:
        for setting in args.settings:
            folder = folder_of(setting, args, seed)
            if not (folder / "result.json").exists():
                continue
            result = json.loads((folder / "result.json").read_text())
            if result.get("annealed_rows") == args.annealing_rows:
                continue
            if setting in OPTIMIZERS and not (folder / "model.weights.h5").exists():
                print(folder.name, "kept no weights to anneal: remove it and run it again", flush=True)
                continue
            with np.load(folder / "rows.npz") as kept:
                rows = {**kept, "annealed": annealed(setting, args, data, folder)}
            with ds.files.replacing(folder / "rows.npz") as temporary, open(temporary, "wb") as file:
                np.savez(file, **rows)
            mean = round(float(rows["annealed"].mean()), 3)
            ds.files.write_json(
                folder / "result.json", {**result, "annealed": mean, "annealed_rows": args.annealing_rows}
            )
            print(folder.name, "annealed", mean, flush=True)


def show(tables, page):
    """Prints the tables, or puts them into a page."""
    if page is None:
        print(tables)
    else:
        text = marked_page.with_made(page.read_text(encoding="utf-8"), tables, "sampler_study.py")
        marked_page.write(page, text)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--data-dir")
    parser.add_argument("--architecture", default="SBN/SBN 100-50")
    settings = ("sampler", *OPTIMIZERS[:3])
    parser.add_argument("--settings", nargs="+", choices=SETTINGS, default=settings)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--chains", type=int, help="of samplers (default: those of the method)")
    parser.add_argument("--updates", type=int, default=12_000)
    parser.add_argument("--equal-time", action="store_true", help="optimizers get the time of the sampler")
    parser.add_argument("--test-rows", type=int, default=2000)
    parser.add_argument("--test-samples", type=int, default=1000)
    parser.add_argument("--output", default="runs/sampler_study")
    parser.add_argument("--record", type=pathlib.Path, help="file that what is finished is added to")
    parser.add_argument("--table", nargs="?", const="", help="print what is in a file, or (default) in --output")
    parser.add_argument("--page", type=pathlib.Path, help="with --table: the page that has the tables")
    parser.add_argument("--annealing-rows", type=int, help="test rows that are annealed too (default: none)")
    args = parser.parse_args()
    check_tables(args)
    runs = [] if args.record is None and args.table is None else sampler_table.finished(pathlib.Path(args.output))
    if args.record is not None:
        return sampler_table.record(args.record, runs)
    if args.table is not None:
        runs = sampler_table.recorded(pathlib.Path(args.table)) if args.table else runs
        return show(sampler_table.tables(runs), args.page)
    check(args)
    study(args)
    if args.annealing_rows:
        anneal(args)


if __name__ == "__main__":
    main()
