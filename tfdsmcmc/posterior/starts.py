"""The weights at which the warm start of each chain ended, beside the samples.

PATH/start.h5             of chain 0: θ and φ, best on validation rows of all that the optimizer came by; of a run
                          that did not keep φ there, φ at the end of the first epoch of sampling
PATH/start_chain_2.h5     of chain 2
PATH/start_climb_1.h5     of another climb of chain 0 (`training.climbs`)
"""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.posterior.store import Sample, read_weights, write_weights

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.training.fitting.learner import Learner


def starts_of(model: Learner) -> list[Sample]:
    """The weights at which a warm start left each chain of a compiled model, and behind them those of the other climbs
    of a single chain; empty for none.

    Their step is the present one, of the first epoch that ends with sampled weights."""
    started, several = model.run.step.started_at(model.run.state), model.run.num_chains > 1
    if started is None:
        return []
    found, step = [], int(model.run.steps)
    for chain, (_, present) in enumerate(model.chain_weights()):
        theta, phi = ([np.asarray(part[chain] if several else part) for part in parts] for parts in started)
        found.append(Sample(theta, phi or present, step, chain))
    climbs = [] if model.run.climbs is None else model.run.climbs.others
    return found + [Sample(theta, phi, step, 0) for theta, phi in climbs]


def write(folder: FilePath, starts: Sequence[Sample]) -> None:
    """Writes what `starts_of` gives, the first of chain 0 last."""
    for place, sample in reversed(list(enumerate(starts))):
        check_finite("the weights of a warm start", sample.arrays)
        path = pathlib.Path(folder) / _names(place)[sample.chain == 0]
        write_weights(path, sample.theta, sample.phi, step=sample.step, chain=sample.chain, of=len(starts))


def are_in(folder: FilePath) -> bool:
    """Whether a folder has all that `write` wrote: the file that is written last, and removed first."""
    return (pathlib.Path(folder) / "start.h5").exists()


def read(folder: FilePath) -> list[Sample]:
    """What `write` wrote, in that order; empty where there is nothing."""
    folder = pathlib.Path(folder)
    if not are_in(folder):
        return []
    count, found = read_weights(folder / "start.h5", "of")[2]["of"], []
    for place in range(count):
        paths = [folder / name for name in _names(place)]
        path = next((path for path in paths if path.exists()), paths[0])
        theta, phi, attributes = read_weights(path, "step", "chain")
        found.append(Sample(theta, phi, attributes["step"], attributes["chain"]))
        check_finite(f"the weights in {path}", found[-1].arrays)
    return found


def delete(folder: FilePath) -> None:
    """Removes them, chain 0 first."""
    for path in sorted(pathlib.Path(folder).glob("start*.h5")):
        path.unlink()


def _names(place):
    """Of the file at this place: (of a chain of this number, of another climb of chain 0)."""
    return (f"start_chain_{place}.h5", f"start_climb_{place}.h5") if place else ("start.h5", "start.h5")
