"""Climbs alike but for one setting: a rate, or how long a climb or an optimizer warms up.

    python -m experiments.climbs --setting rate --dataset ocr_letters --updates 10000
    python -m experiments.climbs --setting warm-up --dataset dna --architecture "SBN/SBN 200-200" --updates 3000
    python -m experiments.climbs --setting warm-up --page docs/study_appendix.md

A rate stands for the first 5,000 updates of φ and falls then as by default; these climbs do not warm up. A warm-up is
that of `latents.NAIS(warm_up=…)`, in updates; φ has its default rate there. An offset is b of the rate 60/(t + b) of θ,
which falls to 0 at the planned end besides and is that of `mcmc.WarmStart` at 2,000; these climbs warm up by default. A
climb is that of `methods.dsgnht_nais()` with one chain and ten samples of z, to its planned end, whatever validation
rows say, and one step of sampling. With --setting rws-warm-up it is `methods.rws()` with 25 samples of z. With
--setting latents-first a part of the updates is a climb under an SBN in the place of the data layer, see
`models.with_data_layer`, and the rest another one. Of each climb there are

    nats     log p(x) of --rows validation rows by 1,000 importance samples; differences are from the first climb
    on       units of each latent layer that are on in 2 to 98 % of 1,000 training rows, by one draw from q(z given x)

Other rows of the same difficulty are those of columns that are flipped, and with each column twice; --columns takes
these. Climbs that are on record are not made again. With --page the record is put there as a table.
"""

import pathlib
from typing import NamedTuple

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common import files, markdown, marked_page
from experiments.common.arguments import number, parser_of
from experiments.common.paired import mean_and_error
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model
from tfdsmcmc.mcmc.schedules import PolynomialDecay

COMMAND = "experiments.climbs"
_FAR = 60.0  # the rate of θ times t, long after the offset
_BLOCK = 500  # updates in what is an epoch to Keras
_KEYS = "dataset", "columns", "architecture", "updates", "seed"
_COLUMNS = {"as they are": np.asarray, "flipped": lambda x: 1 - x, "twice": lambda x: np.tile(x, (1, 2))}


class Setting(NamedTuple):
    """What differs: the argument of `climbed`, how a table names it, the values compared by default, and the record."""

    name: str
    title: str
    values: tuple
    record: str


SETTINGS = {
    "rate": Setting("rate", "rate of φ", (0.01, 0.005), "docs/recognition_rate.jsonl"),
    "warm-up": Setting("warm_up", "warm-up", (0, 300), "docs/warm_up.jsonl"),
    "offset": Setting("offset", "offset", (2000, 4000), "docs/climbing_offset.jsonl"),
    "latents-first": Setting("latents_first", "latents first", (0.0, 0.3), "docs/latents_first.jsonl"),
    "rws-warm-up": Setting("rws_warm_up", "warm-up", (0, 375), "docs/rws_warm_up.jsonl"),
}


def key_of(line):
    """What climbs that are compared have in common."""
    return (*(line[key] for key in _KEYS), len(line["rows"]))


def climbed(
    architecture, train, updates, seed, rate=None, warm_up=0, offset=None, latents_first=None, rws_warm_up=None
):
    """The model at the end of its climb.

    Args:
      architecture: as in `models.from_name`.
      train: (n, D).
      updates: of the climb.
      seed: an integer.
      rate: that of φ for its first 5,000 updates; it falls then, as by default. None for the default.
      warm_up: updates, that of `latents.NAIS`.
      offset: b of the rate of θ, of a climb that warms up by default; None for the default rate.
      latents_first: part of the updates under an SBN in the place of the data layer, in climbs that warm up by default.
      rws_warm_up: that of `methods.rws()`, which climbs instead; None for a sampler's climb.
    """
    keras.utils.clear_session()
    model = seeded_model(architecture, train, seed)
    if rws_warm_up is not None:
        method = {**ds.methods.rws(), "latents": ds.latents.NAIS(25, warm_up=rws_warm_up)}
        return _fitted(model, method, train, updates)
    if latents_first is not None:
        return _after_latents(model, train, updates, latents_first)
    return _fitted(model, _climb(updates, rate, warm_up if offset is None else "auto", offset), train, updates)


def _climb(updates, rate=None, warm_up="auto", offset=None):
    falling = rate and keras.optimizers.Adam(PolynomialDecay(rate, offset=5000.0, power=0.75, constant_steps=5000))
    method = ds.methods.dsgnht_nais(optimizer=falling, num_chains=1)
    method["latents"] = ds.latents.NAIS(10, warm_up=warm_up)  # for the step of sampling too
    method["kernel"] = method["kernel"].copy(fraction=1.0 - 0.5 / updates, patience=updates)
    if offset is not None:
        schedule = ds.mcmc.schedules.RiseAndFall(_FAR / offset, offset=offset)
        method["kernel"] = method["kernel"].copy(optimizer=keras.optimizers.Adam(schedule))
    return method


def _after_latents(model, train, updates, part):
    """The model after a climb, of which a part goes before under an SBN in the place of the data layer."""
    before = _updates_before(part, updates)
    if before:
        first = ds.models.with_data_layer(model, ds.layers.SBN(model.units))
        _fitted(first, _climb(before), train, before)
        model = ds.models.with_data_layer(first, model.generative.layers[-1])
    return _fitted(model, _climb(updates - before), train, updates - before)


def _updates_before(part, updates):
    """So many in whole blocks; of a part that is not 0 one block at least, which leaves one at least."""
    block = _BLOCK if updates > _BLOCK else 1
    return min(max(block, round(part * updates / block) * block), updates - block) if part else 0


def _fitted(model, method, train, updates):
    """The model after so many updates."""
    model.compile(**method, steps_per_execution=min(100, updates))
    block = min(_BLOCK, updates)
    model.fit(train, batch_size=100, steps_per_epoch=block, epochs=updates // block, verbose=0)
    return model


def units_on(model, rows):
    """Of each latent layer how many units are on in 2 to 98 % of the rows."""
    shares = [np.asarray(layer[0]).mean(0) for layer in model.recognition.sample(rows, 1, seed=0)]
    return [int(((share > 0.02) & (share < 0.98)).sum()) for share in shares]


def line(dataset, columns, architecture, updates, seed, rows, **setting):
    """What a climb leaves, a dict; `setting` is an argument of `climbed`."""
    data = ds.datasets.load(dataset)
    train, valid = _COLUMNS[columns](data.train), _COLUMNS[columns](data.valid)
    model = climbed(architecture, train, updates, seed, **setting)
    x, looked = random_rows(valid, rows, 0), random_rows(train, 1000, 1).astype(np.float32)
    return {
        **dict(zip(_KEYS, (dataset, columns, architecture, updates, seed))),
        **setting,
        "units": units_on(model, looked),
        "rows": np.round(np.asarray(model.log_likelihood(x, 1000).value, np.float64), 3).tolist(),
    }


def table(lines, setting):
    """The lines as a table, climbs that are compared together; pairs on the rows of the first of these."""
    depth = max((len(one["units"]) for one in lines), default=0)
    layers = [f"on, layer {i + 1}" for i in range(depth)]
    rows, firsts = [], {}
    for one in sorted(lines, key=key_of):
        first = firsts.setdefault(key_of(one), one)
        paired = "" if first is one else mean_and_error(np.subtract(one["rows"], first["rows"]))
        data = one["dataset"] if one["columns"] == "as they are" else f"{one['dataset']}, {one['columns']}"
        about = data, one["architecture"].split("/")[-1], f"{one['updates']:,}", f"{one[setting.name]:g}"
        units = *one["units"], *[""] * (depth - len(one["units"]))
        rows.append([*about, *units, markdown.number(np.mean(one["rows"])), paired])
    header = ["data", "model", "updates", setting.title, *layers, "nats a row", "difference"]
    return "\n".join([*markdown.table(header, rows), ""])


def main(argv=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--setting", choices=list(SETTINGS), default="rate")
    parser.add_argument("--dataset")
    parser.add_argument("--columns", choices=list(_COLUMNS), default="as they are")
    parser.add_argument("--architecture", default="SBN/SBN 200-200-200", help="as in models.from_name")
    parser.add_argument("--updates", type=number(int), default=5000)
    parser.add_argument("--values", type=number(float, 0), nargs="+", help="of the setting, rates and offsets above 0")
    parser.add_argument("--rows", type=number(int), default=500)
    parser.add_argument("--seed", type=number(int, 0), default=0)
    parser.add_argument("--record", type=pathlib.Path, help="by default the one that docs/study_appendix.md shows")
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(argv)
    if args.updates > _BLOCK and args.updates % _BLOCK:
        parser.error(f"--updates must be a multiple of {_BLOCK}, or fewer. Received: {args.updates}")
    setting, command = SETTINGS[args.setting], f"{COMMAND} --setting {args.setting}"
    values, record = args.values or setting.values, args.record or pathlib.Path(setting.record)
    if setting.name == "latents_first" and max(values) >= 1:
        parser.error(f"--values of latents first must be parts of the updates, below 1. Received: {values}")
    if setting.name == "latents_first" and args.updates < 2:
        parser.error(f"--updates must be 2 or more, a climb and another. Received: {args.updates}")
    if setting.name not in ("rate", "latents_first") and any(value % 1 for value in values):
        parser.error(f"--values of a warm-up must be whole. Received: {values}")
    if setting.name in ("rate", "offset") and not all(values):
        parser.error(f"--values of a rate or an offset must be above 0. Received: {values}")
    if args.page:
        marked_page.with_made(args.page.read_text(encoding="utf-8"), "", command)  # that it can be, before any work
    known = files.lines(record)
    if not all(setting.name in one for one in known):
        parser.error(f"--record must be of this setting. Received: {record}")
    about = args.dataset, args.columns, args.architecture, args.updates, args.seed
    done = {(*key_of(one), one[setting.name]) for one in known}
    for value in map(type(setting.values[0]), values if args.dataset else []):
        if (*about, args.rows, value) not in done:
            files.append(record, line(*about, args.rows, **{setting.name: value}))
    marked_page.show(table(files.lines(record), setting), args.page, command)


if __name__ == "__main__":
    main()
