"""What looks at validation rows say of a climb, and what annealing says of the same weights.

    python -m experiments.second_look --dataset caltech101_silhouettes_28 --train-rows 400 --updates 6000 --every 500
    python -m experiments.second_look --page docs/study_appendix.md

A climb is that of `methods.dsgnht_nais()` with one chain, to its planned end, whatever validation rows say, and one
step of sampling. With the epoch that ends after every so many updates, the mean of log p(x) of the same validation rows
is estimated by

    looks      25 importance samples, as `fit` does in the study
    draws      1,000 importance samples
    short      annealing in 100 steps from q, as `model.second_look` does
    long       annealing in 1,000 steps from the prior

each with one run a row. Climbs that are on record are not made again. With --page the record is put there as a table.
"""

import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files, markdown, marked_page
from experiments.common.arguments import number, parser_of
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model

COMMAND = "experiments.second_look"
_DRAWS, _STEPS = (25, 1000), ((100, "recognition"), (1000, "prior"))
_KEYS = "dataset", "train_rows", "architecture", "updates", "every", "rows", "seed"


class Estimates(keras.callbacks.Callback):
    """What the model's weights are worth along a run, in lines.

    Args:
      x: validation rows.
      every: updates from one line to the next, in whole epochs.
      seed: of the draws.
    """

    def __init__(self, x, every, seed):
        super().__init__()
        self.x, self.every, self.seed, self.lines = x, every, seed, []

    def on_epoch_end(self, epoch, logs=None):
        if int(self.model.run.steps) < self.every * (len(self.lines) + 1):
            return
        of_rows = {"model": self.model, "x": self.x, "seed": self.seed}
        weighed = [ds.likelihood.importance_sampling(num_samples=k, warn=False, **of_rows).value for k in _DRAWS]
        annealed = [
            ds.likelihood.annealed_importance_sampling(num_steps=steps, num_runs=1, path=path, **of_rows).value
            for steps, path in _STEPS
        ]
        means = [round(float(np.mean(value)), 3) for value in (*weighed, *annealed)]
        self.lines.append({"step": int(self.model.run.steps), **dict(zip(("looks", "draws", "short", "long"), means))})


def climbed(train, valid, architecture, updates, every, rows, seed):
    """The estimates along a climb, a list of dicts."""
    keras.utils.clear_session()
    model, estimates = seeded_model(architecture, train, seed), Estimates(random_rows(valid, rows, 0), every, seed)
    steps = -(-len(train) // 100)
    method = ds.methods.dsgnht_nais(num_chains=1)
    method["kernel"] = method["kernel"].copy(fraction=1.0 - 0.5 / updates, patience=updates)
    model.compile(**method, steps_per_execution=min(50, steps))
    model.fit(train, batch_size=100, epochs=-(-updates // steps), verbose=0, callbacks=[estimates])
    return estimates.lines


def table(lines):
    """The lines as a table."""
    rows = []
    for one in lines:
        data = f"{one['dataset']}[:{one['train_rows']}]" if one["train_rows"] else one["dataset"]
        for found in one["estimates"]:
            means = [markdown.number(found[name]) for name in ("looks", "draws", "short", "long")]
            rows.append([data, one["architecture"].split("/")[-1], f"{found['step']:,}", *means])
    header = ["data", "model", "updates", "25 draws", "1,000 draws", "annealing, 100 steps", "annealing, 1,000 steps"]
    return "\n".join([*markdown.table(header, rows), ""])


def main(argv=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--dataset")
    parser.add_argument("--train-rows", type=number(int, 0), default=0, help="the first ones; 0 for all")
    parser.add_argument("--architecture", default="SBN/SBN 100-50", help="as in models.from_name")
    parser.add_argument("--updates", type=number(int), default=6000)
    parser.add_argument("--every", type=number(int), default=500)
    parser.add_argument("--rows", type=number(int), default=200)
    parser.add_argument("--seed", type=number(int, 0), default=0)
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("docs/second_look.jsonl"))
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    if args.updates % args.every:
        parser.error(f"--updates must be a multiple of --every. Received: {args.updates} and {args.every}")
    if args.page:
        marked_page.with_made(args.page.read_text(encoding="utf-8"), "", COMMAND)  # that it can be, before any work
    about = {key: getattr(args, key) for key in _KEYS}
    if args.dataset and about not in [{key: line[key] for key in _KEYS} for line in files.lines(args.record)]:
        data = ds.datasets.load(args.dataset)
        train = data.train[: args.train_rows] if args.train_rows else data.train
        how = args.architecture, args.updates, args.every, args.rows, args.seed
        files.append(args.record, {**about, "estimates": climbed(train, data.valid, *how)})
    marked_page.show(table(files.lines(args.record)), args.page, COMMAND)


if __name__ == "__main__":
    main()
