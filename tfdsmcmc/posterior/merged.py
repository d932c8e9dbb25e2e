"""Chains of several folders as one posterior.

A folder of `cluster.fit_chains` has a folder for each chain, which says in `chain.json` what the chain learnt from:

    FOLDER/chain_0003/chain.json         the rows' checksum and weights, the model, its prior and its method
    FOLDER/chain_0003/samples/           what a collector writes
"""

from __future__ import annotations

import json
import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tfdsmcmc.posterior import store
from tfdsmcmc.posterior.averages import as_many_of_each, without_missing
from tfdsmcmc.posterior.ensemble import Posterior
from tfdsmcmc.posterior.samples import Samples

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

SAMPLES, STATEMENT = "samples", "chain.json"
LATER = ("networks", "frozen", "patterns")  # what older versions did not write down
SAME = ("rows", "row_weights", "weights", "prior", "method", *LATER)


def folders_of(path: FilePath) -> list[pathlib.Path]:
    """The collectors' folders of chains, by their numbers; [] for a folder that is none of chains."""
    if not isinstance(path, (str, os.PathLike)):
        return []
    return [part for part in sorted(pathlib.Path(path).glob(f"chain_*/{SAMPLES}")) if any(part.glob("sample_*.h5"))]


def without_samples(path: FilePath) -> list[pathlib.Path]:
    """The folders of chains that have begun and have no sample yet, beside chains that have."""
    found = {part.parent for part in folders_of(path)}
    begun = {said.parent for said in pathlib.Path(path).glob(f"chain_*/{STATEMENT}")} if found else set()
    return sorted(begun - found)


def statement(folder: FilePath) -> dict[str, Any] | None:
    """What a chain learnt from, of its collector's folder; None where nothing says it."""
    file = pathlib.Path(folder).parent / STATEMENT
    return json.loads(file.read_text(encoding="utf-8")) if file.is_file() else None


def completed(statement: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """A statement with what older versions did not say as another one has it."""
    return {**{name: other[name] for name in LATER if name in other}, **statement}


def merged(parts: Sequence[Posterior]) -> Posterior:
    """The posteriors of folders as one, the chains numbered one after the other.

    Raises:
      ValueError: for none, or for chains that cannot be of one posterior.
    """
    if not parts:
        raise ValueError("A posterior is of one folder at least. Received: an empty list")
    first, said, known = parts[0].samples, None, set()
    for part in parts:
        if part.samples[0].shapes != first[0].shapes:
            raise ValueError(f"Chains of one posterior have weights of the same shapes. Received: {part._folder}")
        found = statement(part._folder)
        said = said or found
        own = (found["seed"], found["chain"]) if found else pathlib.Path(part._folder).resolve()
        if own in known:
            raise ValueError(f"A chain counts once. Received: {part._folder}, whose chain is there already")
        known.add(own)
        if found and not (pathlib.Path(part._folder).parent / "model.keras").exists():
            warnings.warn(f"A chain is not done yet: {part._folder}", RuntimeWarning, stacklevel=3)
        said = completed(said, found) if found else said
        differing = [name for name in SAME if found and completed(found, said).get(name) != said.get(name)]
        if differing:
            raise ValueError(
                f"Chains of one posterior have the same {', '.join(SAME)}. "
                f"Received: {part._folder}, which differs in {', '.join(differing)}"
            )
    rows, starts, offset = [], [], 0
    for part in parts:
        numbers = {chain: offset + place for place, chain in enumerate(sorted(set(part.chain_numbers)))}
        steps = [store.step_of(path) for path in part.samples.paths]
        rows += zip(steps, (numbers[chain] for chain in part.chain_numbers), part.samples.paths)
        starts += [start._replace(chain=numbers[start.chain]) for start in part.starts if start.chain in numbers]
        offset += len(numbers)
    rows.sort()
    averages = {part.average for part in parts}
    average = averages.pop() if len(averages) == 1 else "weights"
    chains = [chain for _, chain, _ in rows]
    starts = as_many_of_each(starts)
    average = without_missing(average, starts, chains)
    return Posterior(None, Samples([path for *_, path in rows], chains), average, starts)
