"""The weights at which the warm start of each chain ended, beside the samples.

PATH/start.h5             of chain 0: θ and φ, best on validation rows of all that the optimizer came by; of a run
                          that did not keep φ there, φ at the end of the first epoch of sampling
PATH/start_chain_2.h5     of chain 2
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
    """The weights at which a warm start left each chain of a compiled model; empty for none.

    Their step is the present one, of the first epoch that ends with sampled weights."""
    started, several = model.run.step.started_at(model.run.state), model.run.num_chains > 1
    if started is None:
        return []
    found = []
    for chain, (_, present) in enumerate(model.chain_weights()):
        theta, phi = ([np.asarray(part[chain] if several else part) for part in parts] for parts in started)
        found.append(Sample(theta, phi or present, int(model.run.steps), chain))
    return found


def write(folder: FilePath, starts: Sequence[Sample]) -> None:
    """Writes the weights at which sampling began, a `Sample` of each chain, chain 0 last."""
    for sample in reversed(starts):
        check_finite("the weights of a warm start", sample.arrays)
        name = f"start_chain_{sample.chain}.h5" if sample.chain else "start.h5"
        write_weights(
            pathlib.Path(folder) / name, sample.theta, sample.phi, step=sample.step, chain=sample.chain, of=len(starts)
        )


def read(folder: FilePath) -> list[Sample]:
    """What `write` wrote, chain 0 first; empty where there is nothing."""
    folder = pathlib.Path(folder)
    if not (folder / "start.h5").exists():
        return []
    count, found = read_weights(folder / "start.h5", "of")[2]["of"], []
    for chain in range(count):
        path = folder / (f"start_chain_{chain}.h5" if chain else "start.h5")
        theta, phi, attributes = read_weights(path, "step", "chain")
        found.append(Sample(theta, phi, attributes["step"], attributes["chain"]))
        check_finite(f"the weights in {path}", found[-1].arrays)
    return found


def delete(folder: FilePath) -> None:
    """Removes them, chain 0 first."""
    for path in sorted(pathlib.Path(folder).glob("start*.h5")):
        path.unlink()
