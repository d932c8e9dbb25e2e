"""What a posterior is averaged to: a mixture, with equal weights, of networks at sets of weights.

    "draws"      p(x given X) ≈ (1/M) Σ_m p(x; θ_m)                 a component for each sample
    "weights"    p(x given X) ≈ (1/C) Σ_c p(x; θ̄_c)                 one for each chain: θ̄_c = (1/M_c) Σ_m θ_cm
    "units"      p(x given X) ≈ (1/C) Σ_c p̄_c(x)                    one for each chain, averaged unit by unit:
                 p̄_c(x, z) = Π_layers Π_j (1/M_c) Σ_m p(y_j given its parents and earlier units; θ_cm)
    "start"      (1/CS) Σ_cs p(x; θ_cs)                             one for each climb: θ_cs the best weights, on
                 validation rows, of climb s of the warm start of chain c, which are no draw of the posterior
    "weights_and_start", "units_and_start"                          the components of either, in equal parts

C is the number of chains, M_c that of the draws of one, S that of the climbs of each. "draws" is the posterior
predictive density itself; its logarithm is far too low where a few draws stand for many weights that the data do not
determine, as no draw is right about all of a row. "units" puts the average inside the product over units, see
`layers.UnitAverage`; "weights" inside the logits. Either is of draws of one chain, whose hidden units keep their roles.
"start" is what there was before anything was sampled: where rows are few and weights many, sampling may have been for
the worse. What the two explain differs from row to row then, and a mixture of k components is at most log k below the
best one of each row. All are normalised densities of x. A component of "weights" or "units" proposes z with the mean φ
of its chain, one of "start" with the φ of that step.

A component of "units" is a network of M_c sets of weights, which are held in memory together, and costs as much to
evaluate as M_c components of "draws".
"""

from __future__ import annotations

import collections
import collections.abc
import weakref
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tfdsmcmc import contract
from tfdsmcmc._common import checks
from tfdsmcmc.layers import UnitAverage
from tfdsmcmc.networks import GenerativeNetwork
from tfdsmcmc.posterior.running_means import RunningMean
from tfdsmcmc.posterior.samples import places_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average
    from tfdsmcmc.contract import Density, Model
    from tfdsmcmc.posterior.store import Sample
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.training.fitting.learner import Learner

# in the order in which `choice` prefers them, and what a manifest says of each
DESCRIBED: dict[Average, str] = {
    "weights": "mean of the posterior's samples",
    "units": "samples of the posterior, averaged unit by unit",
    "draws": "samples of the posterior",
    "weights_and_start": "mean of the posterior's samples, mixed with the weights at which the warm start ended",
    "units_and_start": "samples of the posterior, averaged unit by unit, mixed with the weights of the warm start",
    "start": "weights at which the warm start ended",
}
AVERAGES: tuple[Average, ...] = tuple(DESCRIBED)

_MOST_NETWORKS = 4  # of a model, each with the weights of all its draws
_networks = weakref.WeakKeyDictionary()


class Component(NamedTuple):
    """One of the networks that are mixed.

    Attributes:
      model: `contract.Model`, whose weights are to be these.
      theta: list of arrays.
      phi: list of arrays.
      log_partition: as `model.density` takes it.
    """

    model: Model
    theta: list[np.ndarray]
    phi: list[np.ndarray]
    log_partition: Any = None

    @property
    def weights(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """(θ, φ)."""
        return self.theta, self.phi

    @property
    def density(self) -> Density:
        """`contract.Density` of the model at these weights."""
        return self.model.density(self.weights, self.log_partition)


class Components(collections.abc.Sequence[Component]):
    """The components of an average, each made from the samples when it is asked for.

    Args:
      samples: sequence of `Sample`.
      chains: the number of the chain of each.
      model: `contract.Model` of their architecture; it is not changed.
      average: of `AVERAGES`.
      starts: list of `Sample`, the best weights of each climb of the warm starts, as many of each chain.
      log_partition: as `model.density` takes it.

    Raises:
      ValueError: for another name, units of an undirected model, or "start" where no warm start left weights.
    """

    def __init__(
        self,
        samples: Sequence[Sample],
        chains: Sequence[int],
        model: Model,
        average: Average,
        starts: Sequence[Sample] = (),
        log_partition: Any = None,
    ):
        check_average(average)
        own, with_start = parts_of(average)
        if own == "units":
            contract.check_directed(model, "An average unit by unit", 'Average others over "draws" or "weights".')
        if (with_start or own == "start") and not has_starts(starts, chains):
            raise ValueError(
                "Weights of a warm start are kept where validation rows told which were best, as many of each chain. "
                f"Received: average={average!r}, of {len(set(chains))} chains and {len(starts)} starts"
            )
        self._samples, self._starts, self._model = samples, list(starts), model
        self._average, self._log_partition = own, log_partition
        if own == "start":
            self._places: list[list[int]] = []
        elif own == "draws":
            self._places = [[i] for i in range(len(samples))]
        else:
            self._places = list(places_of(chains).values())
        begun = self._starts if with_start or own == "start" else []
        numbers = sorted({start.chain for start in self._starts})
        self._begun: list[int] = [numbers.index(start.chain) for start in begun]  # the place of the chain of each
        contract.check_partition(log_partition, len(self))

    def __len__(self) -> int:
        return len(self._places) + len(self._begun)

    def __getitem__(self, index: int) -> Component:
        place = range(len(self))[index]
        if place >= len(self._places):
            return self._start(place - len(self._places))
        places = self._places[place]
        if self._average == "draws":
            sample = self._samples[places[0]]
            return Component(self._model, sample.theta, sample.phi, self._log_partition)
        if self._average == "weights":
            theta, phi = mean_of(self._samples[i] for i in places)
            mean = ([w.astype(np.float32) for w in part] for part in (theta, phi))
            return Component(self._model, *mean, self._log_partition)
        return self._stacked(places)

    @property
    def draws(self) -> list[int]:
        """How many draws are in each component, a list."""
        return [len(places) for places in self._places] + [self._copies(place) for place in range(len(self._begun))]

    def _start(self, place):
        """The weights of a warm start; beside units as so many equal draws, so that all are networks of one kind."""
        sample = self._starts[place]
        if self._average != "units":
            return Component(self._model, sample.theta, sample.phi, self._log_partition)
        copies = self._copies(place)
        theta = [np.repeat(np.asarray(w, np.float32)[np.newaxis], copies, 0) for w in sample.theta]
        return Component(unit_average_of(self._model, copies), theta, sample.phi)

    def _copies(self, place):
        return len(self._places[self._begun[place]]) if self._average == "units" else 1

    def _stacked(self, places):
        model, phi = unit_average_of(self._model, len(places)), RunningMean()
        stacks = None
        for m, sample in enumerate(self._samples[i] for i in places):
            if stacks is None:
                stacks = [np.empty((len(places), *np.shape(w)), np.float32) for w in sample.theta]
            for stack, value in zip(stacks, sample.theta, strict=True):
                stack[m] = value
            phi.add(sample.phi)
        return Component(model, stacks, [w.astype(np.float32) for w in phi.value])


def parts_of(average: Average) -> tuple[Average, bool]:
    """(what the samples are averaged to, whether the weights of the warm start are mixed in)."""
    own = average.removesuffix("_and_start")
    return own, own != average  # type: ignore[return-value]


def has_starts(starts: Sequence[Sample], chains: Sequence[int]) -> bool:
    """Whether each chain has weights of a warm start, and as many: else a mixture would not be in equal parts."""
    counts = collections.Counter(start.chain for start in starts)
    return bool(counts) and len(counts) == len(set(chains)) and len(set(counts.values())) == 1


def as_many_of_each(starts: Sequence[Sample]) -> list[Sample]:
    """As many starts of each chain as that with the fewest has, its first."""
    found: dict[int, list[Sample]] = {}
    for start in starts:
        found.setdefault(start.chain, []).append(start)
    fewest = min(map(len, found.values()), default=0)
    return [start for own in found.values() for start in own[:fewest]]


def without_missing(average: Average, starts: Sequence[Sample], chains: Sequence[int]) -> Average:
    """The average, or where it is of weights of a warm start that are not there what it has beside them: of "start"
    alone the mean of weights."""
    if not average.endswith("start") or has_starts(starts, chains):
        return average
    return "weights" if average == "start" else parts_of(average)[0]


def check_average(average: object) -> None:
    """Raises a ValueError for what is no name of an average."""
    checks.one_of("average", average, AVERAGES)


def check_fit(average: Average, model: Learner) -> None:
    """Raises a ValueError where a fit that begins leaves nothing that such an average is made of."""
    if parts_of(average)[0] == "units":
        contract.check_directed(model, "An average unit by unit", 'Average others over "draws" or "weights".')
    if average.endswith("start") and not model.validates:
        raise ValueError(
            "Validation rows tell which weights of a warm start are kept: give fit validation_data. "
            f"Received: average={average!r}, validation_data=None"
        )


def mean_of(samples: Iterable[Sample]) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(θ̄, φ̄), lists of float64 arrays: the mean of samples that come one at a time."""
    mean = RunningMean()
    for sample in samples:
        mean.add([*sample.theta, *sample.phi])
        split = len(sample.theta)
    return mean.value[:split], mean.value[split:]


def unit_average_of(model: DirectedModel, num_draws: int) -> DirectedModel:
    """The model whose layers are averages unit by unit over M draws of θ; one for each M, for its programs are kept.

    Its θ has a leading axis of M, its φ is the model's.

    Args:
      model: `DeepGenerativeModel`; it is not changed.
      num_draws: M.
    """
    kept = _networks.setdefault(model, {})
    trained = tuple(id(variable) for variable in model.generative.trainable_variables)
    key = num_draws, trained, model.uses_xla
    if key not in kept:
        while len(kept) >= _MOST_NETWORKS:
            kept.pop(next(iter(kept)))
        layers = [UnitAverage(layer, num_draws) for layer in model.generative.layers]
        context = None if model.generative.context is None else model.generative.context.parts
        kept[key] = model.with_networks(GenerativeNetwork(layers, context), model.recognition)
    for layer in kept[key].generative.layers:
        layer.keep_frozen()
    return kept[key]
