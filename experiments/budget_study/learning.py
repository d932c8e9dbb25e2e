"""How `rws` and the sampler learn in a budget of processor time."""

import time

import numpy as np

import tfdsmcmc as ds
from experiments.budget_study.marks import Marks
from experiments.common.seeded_model import seeded_model

EACH, MOST = 6_000, 3  # planned updates for each chain from two on, and chains at most
LIGHT = 100_000  # weights up to which a run has several
MARKS = np.arange(0.5, 1.4, 0.05)  # of the budget


def fitted(method, data, model, epochs, callbacks):
    """Learns by a method, a dict of arguments of `compile`; returns the history."""
    steps = -(-len(data.train) // 100)
    model.compile(**method, steps_per_execution=min(steps, 50), evaluation_samples=25)
    return model.fit(data.train, validation_data=data.valid[:500], epochs=epochs, verbose=0, callbacks=callbacks)


def optimizer(args, data, seed):
    """`rws`: (model, its marks)."""
    prior = ds.Prior().patterns if args.prior == "learnt" else {"": None}
    model, marks = seeded_model(args.architecture, data.train, seed, prior), Marks(args.seconds * MARKS)
    fitted(ds.methods.rws(None, 25), data, model, 10**6, [marks])
    return model, marks


def planned(args, data, model, marks):
    """Epochs of the sampler: (as many updates as fit the budget)."""
    at = int(np.argmin(np.abs(MARKS - 1.0)))
    begun = marks.updates[0] / (MARKS[0] * args.seconds)  # too few while it compiled
    rate = (marks.updates[at] - marks.updates[0]) / ((MARKS[at] - MARKS[0]) * args.seconds)
    compiled = MARKS[0] * args.seconds * (1 - begun / rate)
    updates = int(rate * args.per_update * (args.seconds - 2 * compiled))
    light = sum(np.prod(variable.shape) for variable in model.theta_variables) <= LIGHT
    steps = -(-len(data.train) // 100)
    return max(1, of_a_chain(updates, steps) if light else updates // steps)


def of_a_chain(updates, steps):
    """The most epochs, of so many steps, of a run whose chains have so many updates together or fewer; there are as
    many chains as "auto" makes of the epochs."""
    for chains in range(MOST, 1, -1):
        epochs = updates // chains // steps
        if epochs * steps >= chains * EACH:
            return epochs if chains == MOST else min(epochs, ((chains + 1) * EACH - 1) // steps)
    return min(updates, 2 * EACH - 1) // steps


def sampler(args, data, seed, epochs, folder):
    """(model, figures): its posterior is in the folder."""
    begun, model = time.process_time(), seeded_model(args.architecture, data.train, seed)
    method = ds.methods.dsgnht_nais()
    method["kernel"] = method["kernel"].copy(temperature=args.temperature)
    collector = ds.posterior.Collector(folder, args.samples, overwrite=True)
    history = fitted(method, data, model, epochs, [collector]).history
    return model, {
        "seconds": round(time.process_time() - begun),
        "chains": model.run.num_chains,
        "updates": int(model.run.steps),
        "begins": int(np.max(model.run.state.kernel_results.begins)),
        "effective_sample_size": round(float(np.mean(history["effective_sample_size"][-5:])), 2),
    }
