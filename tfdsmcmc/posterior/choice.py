"""Which average over posterior samples a run takes: its validation rows choose.

Let d be the differences, row by row, of the log-likelihoods under the best of the averages and another. Of the averages
in the order "weights", "units", "draws", "start" the first is chosen that is the best, or is behind it by no more than
two standard errors of the mean of d: the mean of weights is the cheapest to evaluate and to serve, and what a warm
start found is no posterior, so that it is chosen only where sampling was for the worse beyond chance. Before it come
"weights_and_start" and "units_and_start", their components in equal parts: the estimates of these are the mixture's.

An estimate from importance samples is too low, by half of its squared standard error to first order. So each average
has as many draws of z for a row in all, 300 for each chain, whatever its number of components: those of "draws" share
them. All samples are looked at, but for "units", which costs so many times as much: at most ten of each chain.

Rows that have chosen are no longer fresh: their log-likelihood under the average that they chose is too high by what
the largest of a few noisy means exceeds the true one, about one standard error of d at most. Test rows are not touched.

PATH/average.json keeps the name and the means; `posterior.load` reads it.
"""

from __future__ import annotations

import json
import pathlib
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tfdsmcmc import files, random
from tfdsmcmc.posterior.averages import AVERAGES, check_average, has_starts, parts_of
from tfdsmcmc.posterior.predictive import predictive_log_likelihood
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, FilePath, Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.source import Source

_DRAWS = 10  # of a chain that are averaged unit by unit
_SAMPLES = 300  # importance samples a row, of all components of a chain together
_PRODUCTS = 2e10  # multiplications of weights that are aimed at, seconds of a core
_ROWS = 50, 500  # at least and at most


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
    chains = posterior.chain_numbers
    each = max(chains.count(chain) for chain in set(chains))
    thinned = posterior.thin(-(-each // _DRAWS))
    entries = sum(np.size(part) for part in posterior.samples[0].theta)
    rows = int(_PRODUCTS / (_SAMPLES * len(thinned.samples) * max(1, entries)))
    rows = min(source.num_rows, max(_ROWS[0], min(_ROWS[1], rows)))
    rows, seed = ArraySource(source.evenly_spaced(rows)), random.stream(seed, "choice of an average")
    values = {}
    for average in ("weights", "units", "draws", *(["start"] if has_starts(posterior.starts, chains) else [])):
        components = (thinned if average == "units" else posterior).components(model, average)
        samples = max(1, _SAMPLES * posterior.num_chains // len(components))
        try:
            values[average] = predictive_log_likelihood(components, rows, samples, seed, warn=False).value
        except ValueError:
            if average != "units":
                raise
    values = mixed(values, len(posterior.starts) / posterior.num_chains)
    return Choice(preferred(values), values)


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
        error = behind.std(ddof=1) / len(behind) ** 0.5 if len(behind) > 1 else 0.0
        if name == best or behind.mean() <= 2 * error:
            return name


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
