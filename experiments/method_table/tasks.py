"""The rows of a table as tasks, in whatever process: each is claimed, looked for on record, and made if it is not."""

import functools
import pathlib
import warnings

import tensorflow as tf

import tfdsmcmc as ds
from experiments.method_table import rows_file, table


def make(args, place):
    """Makes the row at a place of those that are asked for, unless another process is at it or has made it."""
    tf.get_logger().setLevel("ERROR")  # it takes the new programs of each row for an oversight
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # the table says it
    wanted, output = table.rows_of(args), output_of(args)
    one, about = wanted[place], name_of(wanted, place)
    folder = rows_file.folder_of(output, *one)
    with ds.files.claimed(folder) as mine:
        if not mine:
            print(f"{about}: another process is at it", flush=True)
        elif rows_file.key_of(*one) not in rows_file.finished(output / "results.jsonl"):
            print(about, flush=True)
            table.make(*one, data_of(args), output, folder)
            table.write(args.dataset, wanted, output)


def unfinished(wanted, output):
    """The places of the rows that are not on record."""
    known = rows_file.finished(output / "results.jsonl")
    return [place for place, one in enumerate(wanted) if rows_file.key_of(*one) not in known]


def name_of(wanted, place):
    """What a row is called while it is made."""
    return f"row {place + 1} of {len(wanted)}: {wanted[place][0]}, {wanted[place][1]}"


def output_of(args):
    """The folder of the table, `pathlib.Path`."""
    return pathlib.Path(args.output or f"runs/table/{args.dataset}")


def data_of(args):
    """The data of the table, read once a process."""
    return _data(args.dataset, args.data_dir, args.binarization, args.seed)


@functools.lru_cache(maxsize=1)
def _data(dataset, folder, binarization, seed):
    return ds.datasets.load(dataset, folder, binarization=binarization, seed=seed)
