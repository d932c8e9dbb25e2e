"""A look at what weights are worth, along the way of learning and after it: some validation and some test rows."""

import numpy as np

import tfdsmcmc as ds
from experiments.common.plain_figures import figures
from experiments.method_table import methods

_ROWS, _SAMPLES = 300, 50
_ANNEALED_STEPS = 50  # where importance samples tell little


def look_of(method, settings, data, parts=("valid", "test")):
    """The function that estimates the log-likelihood of some validation and of some test rows.

    With Gibbs sampling importance samples tell little even if the recognition network learns, and nothing where it does
    not: there annealing does, from the network or else from the prior. The rows are the same for all methods.
    """
    rng = np.random.default_rng(settings["seed"])
    path = "prior" if methods.untaught(method, settings) else "recognition"
    annealed = methods.untaught(method, settings) or method in methods.GIBBS
    of_data = {name: part for name, part in data._asdict().items() if name in parts}
    chosen = {name: part[rng.permutation(len(part))[:_ROWS]] for name, part in of_data.items()}

    def look(model):
        found = {}
        for name, rows in chosen.items():
            if annealed:
                estimate = ds.likelihood.annealed_importance_sampling(
                    model, rows, num_steps=_ANNEALED_STEPS, num_runs=2, path=path
                )
            else:
                estimate = model.log_likelihood(rows, _SAMPLES)
            known = figures(estimate)
            found |= {name: known["value"], f"{name}_error": known["standard_error"]}
        return found

    return look
