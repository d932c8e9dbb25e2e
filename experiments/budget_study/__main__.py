"""What sampling the weights is worth beside an optimizer, in equal processor time with defaults alone: docs/study.md.

    python recipes/budget_study.py --dataset baudio --architecture "DARN/DARN 50" --seconds 150 --seeds 0 1 2
    python recipes/budget_study.py --record docs/budget.jsonl
    python recipes/budget_study.py --table docs/budget.jsonl --page docs/study.md

`rws` is reweighted wake-sleep with its defaults, K = 25 and a flat prior; `--prior learnt` gives it the sampler's prior
too. It runs somewhat longer than the budget, and keeps its best weights on validation rows as they were at every
twentieth of it. The sampler is `methods.dsgnht_nais()` with the default prior, its updates planned so that its time is
near the budget: as many as `rws` made in what compiling leaves, by --per-update. If these are enough for three chains,
they are divided by three; `fit` decides itself how many chains there are. Its own processor time is measured, from
before `compile` to after `fit`, and `rws` counts as it stood then.

The sampler is judged by the average that its validation rows chose, and the other two stand beside. Test rows are
looked at in the end alone, the same for all: log-likelihoods by importance samples, or with --annealing-steps by
annealing, which does not depend on the recognition network, as rows of hundreds of columns ask for.

What was tried and is no default: --temperature, of a cold posterior; --stacking, a mixture of each chain's three
averages with the weights that are best on validation rows.
"""

import argparse
import pathlib
import time

from quiet import quiet_start

with quiet_start():
    import budget_table
    import keras
    import marked_page
    import numpy as np
    from sampler_study import data_logits, test_rows

    import tfdsmcmc as ds

KEPT = ("architecture", "prior", "annealing_steps", "temperature")
AVERAGES = ("weights", "units", "draws")
LONG = 12_000  # updates from which a run has three chains, and weights up to which
LIGHT = 100_000
MARKS = np.arange(0.5, 1.4, 0.05)  # of the budget


class Marks(keras.callbacks.Callback):
    """Keeps the weights that were best on validation rows so far, at marks of processor time; ends at the last."""

    def __init__(self, marks):
        super().__init__()
        self.marks, self.begun = list(marks), time.process_time()
        self.best, self.weights, self.kept, self.updates = -np.inf, None, [], []

    def on_epoch_end(self, epoch, logs=None):
        if logs["val_log_likelihood"] > self.best:
            self.best, self.weights = logs["val_log_likelihood"], self.model.get_weights()
        while self.marks and time.process_time() - self.begun >= self.marks[0]:
            self.kept.append((self.marks.pop(0), self.weights))
            self.updates.append(int(self.model.run.steps))
        self.model.stop_training = not self.marks

    def at(self, seconds):
        """The weights at the last mark that is not later; (mark, weights)."""
        return max((part for part in self.kept if part[0] <= seconds), default=self.kept[0], key=lambda part: part[0])


def model_of(args, data, seed, prior=None):
    keras.utils.set_random_seed(seed)
    logits = data_logits(data)
    return ds.models.from_name(args.architecture, data.train.shape[1], data_logits=logits, prior=prior, seed=seed)


def fitted(args, data, model, epochs, callbacks):
    steps = -(-len(data.train) // 100)
    model.compile(**args.method, steps_per_execution=min(steps, 50), evaluation_samples=25)
    arguments = {"validation_data": data.valid[:500], "epochs": epochs, "verbose": 0, "callbacks": callbacks}
    return model.fit(data.train, **arguments)


def optimizer(args, data, seed):
    """`rws`: (model, its marks)."""
    learnt = ds.Prior().patterns if args.prior == "learnt" else {"": None}
    model, marks = model_of(args, data, seed, learnt), Marks(args.seconds * MARKS)
    args.method = ds.methods.rws(None, 25)
    fitted(args, data, model, 10**6, [marks])
    return model, marks


def planned(args, data, model, marks):
    """Epochs of the sampler: (as many updates as fit the budget)."""
    at = int(np.argmin(np.abs(MARKS - 1.0)))
    begun = marks.updates[0] / (MARKS[0] * args.seconds)  # too few while it compiled
    rate = (marks.updates[at] - marks.updates[0]) / ((MARKS[at] - MARKS[0]) * args.seconds)
    compiled = MARKS[0] * args.seconds * (1 - begun / rate)
    updates = int(rate * args.per_update * (args.seconds - 2 * compiled))
    if sum(np.prod(variable.shape) for variable in model.theta_variables) <= LIGHT and updates >= LONG:
        updates = updates // 3 if updates // 3 >= LONG else LONG - 1
    return max(1, updates // -(-len(data.train) // 100))


def sampler(args, data, seed, epochs, folder):
    """(model, figures): its posterior is in the folder."""
    begun, model = time.process_time(), model_of(args, data, seed)
    args.method = ds.methods.dsgnht_nais()
    args.method["kernel"] = args.method["kernel"].copy(temperature=args.temperature)
    history = fitted(args, data, model, epochs, [ds.posterior.Collector(folder, args.samples, overwrite=True)]).history
    return model, {
        "seconds": round(time.process_time() - begun),
        "chains": model.run.num_chains,
        "updates": int(model.run.steps),
        "begins": int(np.max(model.run.state.kernel_results.begins)),
        "effective_sample_size": round(float(np.mean(history["effective_sample_size"][-5:])), 2),
    }


def estimated(args, model, x, posterior=None, average=None):
    """log p of rows, at the model's weights or under an average."""
    if args.annealing_steps:
        how = {"num_steps": args.annealing_steps, "num_runs": 1, "batch_size": 50}
        if posterior is None:
            return ds.likelihood.annealed_importance_sampling(model, x, **how).value
        return posterior.annealed_log_likelihood(model, x, average=average, **how).value
    if posterior is None:
        return model.log_likelihood(x, args.test_samples).value
    samples = max(1, args.test_samples // (5 if average == "draws" else 1))
    return posterior.log_likelihood(model, x, samples, average=average).value


def stacked(args, model, posterior, valid, x):
    """log of the mixture of each chain's averages whose weights are best on validation rows, of the rows x."""
    chains = [posterior.chain(number) for number in sorted(set(posterior.chain_numbers))]
    parts = [(chain, average) for chain in chains for average in AVERAGES]
    known = np.stack([estimated(args, model, valid, *part) for part in parts]).astype(np.float64)
    weights = np.full(len(parts), 1 / len(parts))
    for _ in range(1000):  # expectation maximisation
        shares = np.exp(known - known.max(0)) * weights[:, np.newaxis]
        weights = (shares / shares.sum(0)).mean(1)
    found = np.stack([estimated(args, model, x, *part) for part in parts]).astype(np.float64)
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(found + np.log(weights)[:, np.newaxis], 0)


def run(args, seed, data, folder):
    model, marks = optimizer(args, data, seed)
    epochs = planned(args, data, model, marks)
    own, figures = sampler(args, data, seed, epochs, folder / "posterior")
    x = test_rows(data, args.annealing_rows if args.annealing_steps else args.test_rows)
    mark, weights = marks.at(figures["seconds"])
    model.set_weights(weights)
    rows = {"rws": estimated(args, model, x)}
    posterior = ds.posterior.load(folder / "posterior")
    for average in (*AVERAGES, *(["start"] if posterior.starts else [])):
        if average in (*args.averages, "start") or average == posterior.average:
            rows[average] = estimated(args, own, x, posterior, average)
    if args.stacking:
        rows["stacked"] = stacked(args, own, posterior, data.valid[:500], x)
    figures |= {"average": posterior.average, "samples": len(posterior.samples), "rws_seconds": round(mark)}
    figures |= {"rws_updates": marks.updates[[part[0] for part in marks.kept].index(mark)]}
    return figures, rows


def study(args):
    data = ds.datasets.load(args.dataset, args.data_dir)
    if args.train_rows:
        data = data._replace(train=data.train[: args.train_rows])
    for seed in args.seeds:
        name = args.dataset if args.train_rows is None else f"{args.dataset}[:{args.train_rows}]"
        parts = name, args.architecture, f"{args.seconds:g}", args.prior, f"T{args.temperature:g}", seed
        folder = pathlib.Path(args.output) / " ".join(map(str, parts)).replace("/", "-").replace(" ", "_")
        if (folder / "result.json").exists():
            continue
        folder.mkdir(parents=True, exist_ok=True)
        figures, rows = run(args, seed, data, folder)
        with ds.files.replacing(folder / "rows.npz") as temporary, open(temporary, "wb") as file:
            np.savez(file, **rows)
        about = {"name": folder.name, "budget": args.seconds, "seed": seed}
        about |= {**{key: getattr(args, key) for key in KEPT}, "dataset": name}
        means = {name: round(float(value.mean()), 3) for name, value in rows.items()}
        ds.files.write_json(folder / "result.json", {**about, **figures, "means": means})
        print(folder.name, figures, means, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--data-dir")
    add("--architecture", default="SBN/SBN 100-50")
    add("--seconds", type=float, default=150.0, help="of processor time")
    add("--seeds", nargs="+", type=int, default=[0])
    add("--prior", choices=["flat", "learnt"], default="flat", help="of rws")
    add("--train-rows", type=int, help="learn from the first rows alone")
    add("--temperature", type=float, default=1.0, help="of the sampler")
    add("--samples", type=int, default=50, help="draws of each chain")
    add("--stacking", action="store_true", help="stack the averages of the chains too")
    add("--per-update", type=float, default=1.1, help="updates of the sampler in the time of one of rws")
    add("--averages", nargs="*", choices=AVERAGES, default=AVERAGES, help="that stand beside the chosen one")
    add("--test-rows", type=int, default=500)
    add("--test-samples", type=int, default=1000)
    add("--annealing-steps", type=int, default=0, help="anneal instead of importance sampling")
    add("--annealing-rows", type=int, default=50)
    add("--output", default="runs/budget_study")
    add("--record", type=pathlib.Path, help="file that what is finished is added to")
    add("--table", type=pathlib.Path, help="print the tables of such a file")
    add("--page", type=pathlib.Path, help="with --table: the page that has them")
    args = parser.parse_args()
    if args.page is not None and args.table is None:
        raise SystemExit(f"--page needs --table. Received: --page {args.page}")
    if args.record is not None:
        return budget_table.record(args.record, pathlib.Path(args.output))
    if args.table is None:
        return study(args)
    tables = budget_table.tables(budget_table.recorded(args.table))
    if args.page is None:
        print(tables)
    else:
        marked_page.write(
            args.page, marked_page.with_made(args.page.read_text(encoding="utf-8"), tables, "budget_study.py")
        )


if __name__ == "__main__":
    main()
