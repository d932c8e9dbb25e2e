"""How fast the recognition network should learn: climbs alike but for the rate of φ.

    python -m experiments.recognition_rate --dataset ocr_letters --architecture "SBN/SBN 200-200-200" --updates 10000
    python -m experiments.recognition_rate --page docs/study_appendix.md

A climb is that of `methods.dsgnht_nais()` with one chain, to its planned end, whatever validation rows say, and one
step of sampling. A rate stands for the first 5,000 updates of φ and falls then as by default. Of each climb there are

    nats     log p(x) of --rows validation rows by 1,000 importance samples; differences are from the first rate
    on       units of each latent layer that are on in 2 to 98 % of 1,000 training rows, by one draw from q(z given x)

Other rows of the same difficulty are those of columns that are flipped, and with each column twice; --columns takes
these. Climbs that are on record are not made again. With --page the record is put there as a table.
"""

import pathlib

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files, markdown, marked_page
from experiments.common.arguments import number, parser_of
from experiments.common.paired import mean_and_error
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model
from tfdsmcmc.mcmc.schedules import PolynomialDecay

COMMAND = "experiments.recognition_rate"
_BLOCK = 500  # updates in what is an epoch to Keras
_KEYS = "dataset", "columns", "architecture", "updates", "seed"
_COLUMNS = {"as they are": np.asarray, "flipped": lambda x: 1 - x, "twice": lambda x: np.tile(x, (1, 2))}


def key_of(line):
    """What climbs that are compared have in common."""
    return (*(line[key] for key in _KEYS), len(line["rows"]))


def climbed(architecture, train, rate, updates, seed):
    """The model at the end of its climb."""
    keras.utils.clear_session()
    model = seeded_model(architecture, train, seed)
    falling = PolynomialDecay(rate, offset=5000.0, power=0.75, constant_steps=5000)
    method = ds.methods.dsgnht_nais(optimizer=keras.optimizers.Adam(falling), num_chains=1)
    method["latents"] = ds.latents.NAIS(10)  # for the step of sampling too
    method["kernel"] = method["kernel"].copy(fraction=1.0 - 0.5 / updates, patience=updates)
    model.compile(**method, steps_per_execution=min(100, updates))
    block = min(_BLOCK, updates)
    model.fit(train, batch_size=100, steps_per_epoch=block, epochs=updates // block, verbose=0)
    return model


def units_on(model, rows):
    """Of each latent layer how many units are on in 2 to 98 % of the rows."""
    shares = [np.asarray(layer[0]).mean(0) for layer in model.recognition.sample(rows, 1, seed=0)]
    return [int(((share > 0.02) & (share < 0.98)).sum()) for share in shares]


def line(dataset, columns, architecture, rate, updates, seed, rows):
    """What a climb leaves, a dict."""
    data = ds.datasets.load(dataset)
    train, valid = _COLUMNS[columns](data.train), _COLUMNS[columns](data.valid)
    model = climbed(architecture, train, rate, updates, seed)
    x, looked = random_rows(valid, rows, 0), random_rows(train, 1000, 1).astype(np.float32)
    return {
        **dict(zip(_KEYS, (dataset, columns, architecture, updates, seed))),
        "rate": rate,
        "units": units_on(model, looked),
        "rows": np.round(np.asarray(model.log_likelihood(x, 1000).value, np.float64), 3).tolist(),
    }


def table(lines):
    """The lines as a table, a climb's together; pairs on the rows of the first of these."""
    depth = max((len(one["units"]) for one in lines), default=0)
    layers = [f"on, layer {i + 1}" for i in range(depth)]
    rows, firsts = [], {}
    for one in sorted(lines, key=key_of):
        first = firsts.setdefault(key_of(one), one)
        paired = "" if first is one else mean_and_error(np.subtract(one["rows"], first["rows"]))
        data = one["dataset"] if one["columns"] == "as they are" else f"{one['dataset']}, {one['columns']}"
        about = data, one["architecture"].split("/")[-1], f"{one['updates']:,}", f"{one['rate']:g}"
        units = *one["units"], *[""] * (depth - len(one["units"]))
        rows.append([*about, *units, markdown.number(np.mean(one["rows"])), paired])
    header = ["data", "model", "updates", "rate of φ", *layers, "nats a row", "difference"]
    return "\n".join([*markdown.table(header, rows), ""])


def main(argv=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--dataset")
    parser.add_argument("--columns", choices=list(_COLUMNS), default="as they are")
    parser.add_argument("--architecture", default="SBN/SBN 200-200-200", help="as in models.from_name")
    parser.add_argument("--updates", type=number(int), default=5000)
    parser.add_argument("--rates", type=number(float), nargs="+", default=[0.01, 0.005], metavar="RATE")
    parser.add_argument("--rows", type=number(int), default=500)
    parser.add_argument("--seed", type=number(int, 0), default=0)
    parser.add_argument("--record", type=pathlib.Path, default=pathlib.Path("docs/recognition_rate.jsonl"))
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    if args.updates > _BLOCK and args.updates % _BLOCK:
        parser.error(f"--updates must be a multiple of {_BLOCK}, or fewer. Received: {args.updates}")
    if args.page:
        marked_page.with_made(args.page.read_text(encoding="utf-8"), "", COMMAND)  # that it can be, before any work
    about = args.dataset, args.columns, args.architecture, args.updates, args.seed
    done = {(*key_of(one), one["rate"]) for one in files.lines(args.record)}
    for rate in args.rates if args.dataset else []:
        if (*about, args.rows, rate) not in done:
            files.append(args.record, line(*about[:3], rate, *about[3:], args.rows))
    marked_page.show(table(files.lines(args.record)), args.page, COMMAND)


if __name__ == "__main__":
    main()
