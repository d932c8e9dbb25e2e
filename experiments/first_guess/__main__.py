"""How near to p(x_missing given x_observed) chains are after few sweeps, by where they start.

    python -m experiments.first_guess --dataset digits dna adult ocr_letters accidents
    python -m experiments.first_guess --dataset binarized_mnist --architecture "SBN/SBN 200-200" --updates 6000
    python -m experiments.first_guess --page docs/how_to/missing_values.md

An --architecture learns each data set by `methods.dsgnht_nais()`, one chain, --updates minibatches. Of --rows test rows
half of the entries are taken away, at random ("half"), or the latter half of the columns ("block"). --chains chains a
row start with noise in the gaps and z from the recognition network, and go on by passes of the pseudo-Gibbs sampler or
none, and by Gibbs sweeps. A start is worth

    Σ_d log p̄_d(x_d) over the entries taken away,      p̄_d = the mean over chains of E[x_d given z], in [0.001, 0.999]

and is compared with that of --reference sweeps without passes, row by row. Data sets that are finished are not run
again. With --page the lines of the record are put there as a table.
"""

import pathlib

import keras
import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from experiments.common import files, marked_page
from experiments.common.arguments import number, parser_of
from experiments.common.paired import stated, with_error
from tfdsmcmc import random
from tfdsmcmc.imputation import kernels
from tfdsmcmc.rows import Rows

COMMAND = "experiments.first_guess"
ARMS = [(0, 2), (0, 10), (kernels.PASSES, 2), (kernels.PASSES, 10), (kernels.PASSES, 50)]  # passes, sweeps


def learnt(dataset, architecture, updates, seed):
    """(model, test rows)."""
    data = ds.datasets.load(dataset)
    keras.utils.set_random_seed(seed)
    share = (np.asarray(data.train).sum(0) + 0.5) / (len(data.train) + 1.0)
    logits = np.log(share) - np.log1p(-share)
    model = ds.models.from_name(architecture, data.train.shape[1], data_logits=logits, seed=seed)
    model.compile(**ds.methods.dsgnht_nais(num_chains=1), steps_per_execution=50)
    steps = -(-len(data.train) // 100)
    model.fit(data.train, batch_size=100, epochs=max(1, updates // steps), validation_data=data.valid[:500], verbose=0)
    return model, np.asarray(data.test)


def mask(kind, shape, seed):
    """Which entries stay, (n, D)."""
    if kind == "half":
        return np.random.default_rng(seed).random(shape) < 0.5
    return np.tile(np.arange(shape[1]) < shape[1] // 2, (shape[0], 1))


def scores(model, x, observed, passes, sweeps, chains, seed):
    """Of each row, (n,)."""
    networks = model.generative, model.recognition

    @tf.function(jit_compile=True, autograph=False)
    def means(x, observed, seed):
        start_seed, sweep_seed = tf.unstack(random.split(seed))
        rows, z = kernels.start(*networks, Rows(x, observed), start_seed, passes)

        def sweep(i, x, z):
            moved, z, *_ = kernels.gibbs(*networks, rows._replace(values=x), z, random.fold(sweep_seed, i))
            return i + 1, moved.values, z

        _, x, z = tf.while_loop(lambda i, *_: i < sweeps, sweep, (0, rows.values, z), maximum_iterations=sweeps)
        return kernels.expected(networks[0], rows._replace(values=x), z)

    stream = random.fold(random.fold(random.as_seed(seed), passes), sweeps)
    total = sum(means(x, observed, random.fold(stream, chain)).numpy() for chain in range(chains))
    p = np.clip(total / chains, 1e-3, 1 - 1e-3)
    return np.where(observed, 0.0, np.where(x > 0, np.log(p), np.log1p(-p))).sum(1)


def lines(dataset, args):
    """The results of a data set, dicts."""
    model, test = learnt(dataset, args.architecture, args.updates, args.seed)
    x = test[np.sort(np.random.default_rng(args.seed).permutation(len(test))[: args.rows])].astype(np.float32)
    for kind in ("half", "block"):
        observed = mask(kind, x.shape, args.seed)
        given = x, observed
        reference = scores(model, *given, 0, args.reference, args.chains, args.seed)
        about = {"dataset": dataset, "architecture": args.architecture, "gaps": kind, "updates": args.updates}
        about |= {"seed": args.seed, "rows": len(x), "chains": args.chains}
        about |= {"reference": args.reference, "value": float(reference.mean())}
        for passes, sweeps in ARMS:
            value, error = with_error(scores(model, *given, passes, sweeps, args.chains, args.seed) - reference)
            yield {**about, "passes": passes, "sweeps": sweeps, "difference": float(value), "error": float(error)}


def table(found):
    """The lines as a table."""
    heads = [f"{sweeps} sweeps" if not passes else f"passes, {sweeps} sweeps" for passes, sweeps in ARMS]
    rows = {}
    for one in found:
        names = one["dataset"], one["architecture"], one["gaps"]
        rows.setdefault(names, {})[one["passes"], one["sweeps"]] = one
    text = [f"| data | network | gaps | {' | '.join(heads)} |", "| --- " * (len(heads) + 3) + "|"]
    for names, cells in rows.items():
        figures = [stated(cells[arm]["difference"], cells[arm]["error"]) for arm in ARMS]
        text.append(f"| {' | '.join([*names, *figures])} |")
    return "\n".join([*text, ""])


def main(argv=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--dataset", nargs="+", default=[])
    parser.add_argument("--architecture", default="SBN/SBN 100-50", help="an SBN with a recognition network")
    parser.add_argument("--updates", type=number(int), default=3000)
    parser.add_argument("--rows", type=number(int), default=100)
    parser.add_argument("--chains", type=number(int), default=100)
    parser.add_argument("--reference", type=number(int), default=50)
    parser.add_argument("--seed", type=number(int, 0), default=0)
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("docs/first_guess.jsonl"))
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    done = {(one["dataset"], one["architecture"], one["seed"]) for one in files.lines(args.record)}
    for dataset in args.dataset:
        if (dataset, args.architecture, args.seed) not in done:
            for one in list(lines(dataset, args)):
                files.append(args.record, one)
    marked_page.show(table(files.lines(args.record)), args.page, COMMAND)


if __name__ == "__main__":
    main()
