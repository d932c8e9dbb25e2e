"""One cell of the comparison: a table, a mechanism, a rate, a seed and an imputer."""

import time
import warnings
import zlib

from experiments.imputation import scores
from experiments.imputation.amputation import missing
from experiments.imputation.coded import coded, with_gaps
from experiments.imputation.imputers import IMPUTERS

KEY = ("table", "mechanism", "rate", "seed", "imputer")
IMPUTATIONS = 20


def key_of(line):
    """What names a cell, a tuple."""
    return tuple(line[name] for name in KEY)


def gaps_of(complete, table, mechanism, rate, seed):
    """(n, D), the same for all imputers."""
    return missing(complete, mechanism, rate, [seed, zlib.crc32(f"{table} {mechanism} {rate:g}".encode())])


def run(frame, table, mechanism, rate, seed, imputer):
    """The line of a cell, a dict; `frame` is the complete table."""
    complete = coded(frame)
    gaps = gaps_of(complete, table, mechanism, rate, seed)
    begun = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        completion = IMPUTERS[imputer](with_gaps(frame, gaps), IMPUTATIONS, seed)
    seconds = time.process_time() - begun
    found = {name: round(value, 5) for name, value in scores.of_completion(completion, complete, gaps).items()}
    numbers = complete.states == 0
    about = {"rows": len(frame), "numbers": int(numbers.sum()), "states": int((~numbers).sum())}
    about |= {"missing_numbers": int(gaps[:, numbers].sum()), "missing_states": int(gaps[:, ~numbers].sum())}
    return {**dict(zip(KEY, (table, mechanism, rate, seed, imputer))), **about, **found, "seconds": round(seconds, 1)}
