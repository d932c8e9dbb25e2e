"""A second look at validation rows, by annealing, before a climb goes back to the weights that were best there.

Importance samples estimate log p(x) too low, by (1/ESS − 1/K)/2 in first order where ESS of K are effective. Where φ
falls behind θ that grows, and the estimate falls while log p(x) still rises. Annealing begins at q too and ends within
some tenths of a nat: of 400 silhouettes, by 2,000 updates, 100 steps are 0.3 below 1,000, and 1,000 importance samples
are 10 below them (`experiments.second_look`). It takes too long for each look. So it is asked once, before a climb goes
back to weights of five looks ago or more, as its patience or its plan ends:

    the present weights are better where   mean_i d_i > √(Σ_i (d_i − mean)² / (n (n − 1))),   d_i = â_i − b̂_i,

with annealed estimates â at the present weights and b̂ at the best, of n validation rows and by the same draws. Both are
lower bounds in expectation, as importance samples are. So annealing is believed where it finds more than these, and not
where its steps are too few, as with columns that exclude each other. Networks of SBN and DARN layers are looked at: a
sweep of those of other kinds evaluates the network for each unit, which takes minutes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import likelihood, random
from tfdsmcmc.annealing import annealed_importance_sampling
from tfdsmcmc.layers import DARN, SBN

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs, TensorLike
    from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel

_ENOUGH = 5.0  # effective draws of a row, with which the bias is below a tenth of a nat
_ROWS, _STEPS = 200, 100


def outdoes(model: DeepGenerativeModel, theta: Sequence[TensorLike], phi: Sequence[TensorLike], logs: Logs) -> bool:
    """Whether the present weights are better on validation rows than others that were best by importance samples.

    Args:
      model: `DeepGenerativeModel` within a `fit` that has validation rows.
      theta: θ of the others.
      phi: their φ; empty for the present one.
      logs: of the present look; without `val_effective_sample_size` there is no second one.
    """
    source, network = model.validation_source, model.generative
    if not network.latent_units or not all(isinstance(layer, (SBN, DARN)) for layer in network.layers):
        return False
    if logs.get("val_effective_sample_size", np.inf) >= _ENOUGH or source.num_rows < 2:
        return False
    rows, seed = source.evenly_spaced(min(_ROWS, source.num_rows)), random.stream(model.seed, "second look")
    present = _annealed(model, rows, seed, None)
    draws = model.fitting.settings.get("evaluation_samples", 100)
    if np.mean(present) <= np.mean(likelihood.importance_sampling(model, rows, draws, seed, warn=False).value):
        return False
    gains = present - _annealed(model, rows, seed, _arrays(model, theta, phi))
    return bool(np.mean(gains) > np.std(gains, ddof=1) / np.sqrt(len(gains)))


def _annealed(model, rows, seed, weights):
    """The estimate of each row, (n,); the model's own weights where none are given."""
    return annealed_importance_sampling(
        model, rows, _STEPS, num_runs=1, path="recognition", seed=seed, weights=weights
    ).value


def _arrays(model, theta, phi):
    return [np.asarray(value) for value in theta], [np.asarray(value) for value in phi or model.phi_variables]
