"""Which average over posterior samples a run takes: its validation rows choose.

Let d be the differences, row by row, of the log-likelihoods under the best of the averages and another. Of the averages
in the order "weights", "units", "draws", "start" the first is chosen that is the best, or is behind it by no more than
two standard errors of the mean of d: the mean of weights is the cheapest to evaluate and to serve, and what a warm
start found is no posterior, so that it is chosen only where sampling was for the worse beyond chance. A single row does
not tell the error, and leaves the first. Before "start" come "weights_and_start" and "units_and_start", their
components in equal parts: the estimates of these are the mixture's.

Where it costs little, 500 rows are looked at. Else some are first, 50 or more, and then twice as many each time, until
no other average can be ahead of the one that they choose by 0.05 nats, at two standard errors, or the time is up. How
closely each is looked at is said in `posterior.looks`.

Rows that have chosen are no longer fresh: their log-likelihood under the average that they chose is too high by what
the largest of a few noisy means exceeds the true one, about one standard error of d at most. Test rows are not touched.

PATH/average.json keeps the name and the means; `posterior.load` reads it.
"""

from __future__ import annotations

import json
import math
import pathlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdsmcmc import files, random
from tfdsmcmc.posterior import looks
from tfdsmcmc.posterior.averages import AVERAGES, check_average, parts_of
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, FilePath, Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.source import Source

_AHEAD = 0.05  # nats a row that are not worth another look


class Choice(NamedTuple):
    """An average and what it was chosen from.

    Attributes:
      average: of `averages.AVERAGES`.
      values: dictionary, the log-likelihoods of the validation rows under each average, float64 arrays (n,);
        empty where an average was said.
    """

    average: Average
    values: dict[Average, np.ndarray]

    @property
    def log_likelihoods(self) -> dict[Average, float]:
        """Their means, in nats."""
        return {name: float(value.mean()) for name, value in self.values.items()}

    @property
    def num_rows(self) -> int:
        """How many rows chose."""
        return len(self.values.get(self.average, ()))


def choose(posterior: Posterior, model: Model, source: Source, seed: Seed = 0) -> Choice:
    """The choice of some of the validation rows, evenly spaced.

    An average that layers of the model's kinds cannot have is left out.

    Args:
      posterior: `Posterior`.
      model: `DeepGenerativeModel` of its architecture, whose recognition network learnt with it.
      source: of validation rows.
      seed: integer, or int32 tensor of shape (2,).
    """
    components = looks.components(posterior, model)
    size, first, most = looks.numbers_of_rows(components["units"], model, source.num_rows)
    seed, order = random.split(random.stream(seed, "choice of an average"))
    rows = source.evenly_spaced(most).take(random.host_permutation(most, order))
    found: list[dict[Average, np.ndarray]] = []
    seen, end = 0, first
    while True:
        part = ArraySource(rows.take(slice(seen, end)))
        found.append(looks.look(components, part, size, random.fold(seed, len(found))))
        values = {average: np.concatenate([look[average] for look in found]) for average in found[0]}
        values = mixed(values, len(posterior.starts) / posterior.num_chains)
        chosen = preferred(values)
        if end == most or not _may_be_ahead(values, chosen):
            return Choice(chosen, values)
        seen, end = end, min(2 * end, most)


def _may_be_ahead(values, chosen):
    """Whether another average may be better than the chosen one, by more than is not worth a look."""
    ahead = (value - values[chosen] for name, value in values.items() if name != chosen)
    return any(part.mean() + 2 * _error(part) > _AHEAD for part in ahead)


def mixed(values: dict[Average, np.ndarray], starts: float = 1.0) -> dict[Average, np.ndarray]:
    """The values in the order of `AVERAGES`, those of mixtures with "start" among them.

    Args:
      values: dictionary of the rows' log-likelihoods (n,) by average.
      starts: S of each chain.
    """
    found = {}
    for average in AVERAGES:
        own, with_start = parts_of(average)
        if with_start and own in values and "start" in values:
            found[average] = np.logaddexp(values[own], values["start"] + np.log(starts)) - np.log(1.0 + starts)
        elif average in values:
            found[average] = values[average]
    return found


def preferred(values: dict[Average, np.ndarray]) -> Average:
    """The first average that is within two errors of the best.

    Args:
      values: dictionary of the rows' log-likelihoods (n,) by average, in the order of preference.
    """
    best = max(values, key=lambda name: np.mean(values[name]))
    for name, value in values.items():
        behind = values[best] - value
        if name == best or behind.mean() <= 2 * _error(behind):
            return name


def _error(values):
    """Of their mean; infinite of one value, which does not tell it."""
    return values.std(ddof=1) / len(values) ** 0.5 if len(values) > 1 else math.inf


def write(folder: FilePath, choice: Choice) -> None:
    """Keeps a choice beside the samples."""
    told = {"average": choice.average, "log_likelihoods": choice.log_likelihoods, "num_rows": choice.num_rows}
    files.write_json(_file(folder), told)


def read(folder: FilePath) -> Average | None:
    """The name of the average that was chosen; None where none was.

    Raises:
      ValueError: for a file of another kind.
    """
    file = _file(folder)
    if not file.exists():
        return None
    try:
        average = json.loads(file.read_text(encoding="utf-8"))["average"]
        check_average(average)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"The choice of an average cannot be read ({error}). Received: {file}") from None
    return average


def forget(folder: FilePath) -> None:
    """Removes what was chosen, where there is something."""
    _file(folder).unlink(missing_ok=True)


def _file(folder):
    return pathlib.Path(folder) / "average.json"
