"""How large the prior lets the weights be that lead from a hidden unit: which are in use, which switched off.

    w_jk ~ N(0, ζ_jk),   ζ_jk/φ_k ~ BetaPrime(a, b)

√φ_k is the scale of the weights of unit k, the column k of the paper's W. By Gibbs sampling it is the present draw, by
variational Bayes √⟨φ_k⟩ under q.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
Eq. 9 and section 5.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc.augmentation.gibbs.polya_gamma_gibbs import PolyaGammaGibbsStep
from tfdsmcmc.augmentation.variational.mean_field_step import VariationalStep
from tfdsmcmc.augmentation.variational.scale_factors import ThreeParameterScales
from tfdsmcmc.priors import ColumnThreeParameterBetaNormal

if TYPE_CHECKING:
    from tfdsmcmc.programs import DirectedModel


def column_scales(model: DirectedModel) -> list[np.ndarray]:
    """√φ_k of the units of each latent layer under `priors.ColumnThreeParameterBetaNormal`.

    Args:
      model: a `DeepGenerativeModel` that was compiled with `methods.polya_gamma_gibbs`, `methods.vb` or
        `methods.online_vb`; of several chains it is the first that counts.

    Returns:
      List of float64 arrays (H_l,), of the layer nearest to the data first.

    Raises:
      ValueError: for a model that learns otherwise, or weights that do not learn or have another prior.
    """
    run = getattr(model, "run", None)
    step, state = (None, None) if run is None else run.step.first_chain(run.state)
    if not isinstance(step, (PolyaGammaGibbsStep, VariationalStep)):
        received = f"{model!r}, which is not compiled" if step is None else f"one compiled with {type(step).__name__}"
        raise ValueError(f"Column scales are of a model that learns by augmentation. Received: {received}")
    squares = _drawn(step, state) if isinstance(step, PolyaGammaGibbsStep) else _of_factors(step, state)
    names = [f"{layer.name}/kernel" for layer in model.generative.layers[:0:-1]]
    missing = [name for name in names if name not in squares]
    if missing:
        raise ValueError(
            "Column scales are of weights that learn under ColumnThreeParameterBetaNormal. "
            f"Received: {missing[0]!r}, with the prior {model.prior.for_weight(missing[0])}"
        )
    return [np.sqrt(np.asarray(squares[name], np.float64).reshape(-1)) for name in names]


def _drawn(step, state):
    """φ by the names of weights, as Gibbs sampling has them."""
    parts = zip(step.names, step.mixtures.members, state.auxiliary, strict=True)
    return {name: own[2] for name, member, own in parts if isinstance(member, ColumnThreeParameterBetaNormal)}


def _of_factors(step, state):
    """⟨φ⟩ by the names of weights; those of the parents are the first of a layer's."""
    found = {}
    for place, prior, states in zip(step.learnt, step.priors, state.scales, strict=True):
        scales, own = prior.parts[0][1], states[0]
        if step.shapes[place].parents and isinstance(scales, ThreeParameterScales):
            found[f"{step.generative.layers[-1 - place].name}/kernel"] = scales.columns(own)
    return found
