"""Results of runs by variational Bayes: the bound as plain numbers, and a line for each run, once."""

import json

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.plain_figures import bound_figures

_OF_A_CALL = ("hours", "output", "data_dir")  # arguments that change no result


def bound_of(model, x, weights, args, initial="half", num_starts=1):
    """The bound of some rows with its errors; `initial` and `num_starts` as `variational_bound` takes them."""
    bound = ds.augmentation.variational_bound(
        model, x, args.draws, weights=weights, seed=args.seed, initial=initial, num_starts=num_starts
    )
    return bound_figures(bound)


def record(path, line):
    """Appends a line, unless a run that was finished already has left the very same, wherever its files were."""

    def known(line):
        line = json.loads(json.dumps(line))
        return {**line, "arguments": {k: v for k, v in line["arguments"].items() if k not in _OF_A_CALL}}

    if known(line) not in [known(each) for each in files.lines(path)]:
        files.append(path, line)
