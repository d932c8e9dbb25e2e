"""Methods by Pólya-Gamma augmentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB, PolyaGammaGibbs
from tfdsmcmc.methods.parts import check_as_published, given

if TYPE_CHECKING:
    from tfdsmcmc._common.types import LearningRate
    from tfdsmcmc.augmentation.variational.mean_field_step import Covariance


def polya_gamma_gibbs(
    sweeps: int = 1,
    initial: Literal["prior", "recognition"] = "prior",
    burn_in: int = 0,
    as_published: bool = False,
) -> dict[str, Any]:
    """Gibbs sampling of θ and z by Pólya-Gamma augmentation, for networks of SBN and DARN layers; φ does not learn.

    An epoch is a sweep over all rows, and each of them after the burn-in a sample of the posterior. Estimates of the
    log-likelihood are too low until `refit_recognition`. Published are some 40 sweeps of burn-in and 100 that are kept,
    with a Student-t prior, or with one for each hidden unit's column: `priors.ColumnThreeParameterBetaNormal()`. There
    the units are drawn given the augmentation, which is summed out here, and weights and biases apart, which are drawn
    together here; both ways leave the same posterior invariant.

    Args:
      sweeps: over the units of a row in a pass.
      initial: where the units start, "prior" or "recognition".
      burn_in: sweeps over the units before the first pass, where the weights have learnt before.
      as_published: True and False are the same: the defaults are the published scheme but for the order of draws above.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    check_as_published(as_published)
    return {"step": PolyaGammaGibbs(sweeps, initial, burn_in)}


def vb(
    covariance: Covariance | None = None,
    rounds: int = 1,
    initial: Literal["random", "recognition"] = "random",
    burn_in: int = 0,
    as_published: bool = False,
) -> dict[str, Any]:
    """Mean-field variational Bayes by Pólya-Gamma augmentation, for networks of SBN and DARN layers.

    An epoch updates all factors once, from all rows; the metric `bound` is the evidence lower bound in nats a row,
    with the weights integrated out. The model's weights are the means of q(θ), and `posterior.Collector` keeps draws
    from it. φ does not learn: estimates of the log-likelihood are too low until `refit_recognition`. Published are up
    to 40 updates, from weights of N(0, 0.1²): epochs and initializers are the caller's, as the prior is. There each
    bias has a factor of its own; here it belongs to the weights, with either covariance.

    Args:
      covariance: of the weights of a unit, "full" or "diagonal"; by default "full", as published "diagonal".
      rounds: over the factors of a row in a pass.
      initial: where the means of the units start, "random" or at draws of the "recognition" network.
      burn_in: rounds over the factors of a row before the first pass, where the weights have learnt before: some ten.
      as_published: whether a covariance that is not given is as published.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    covariance = given(covariance, "full", "diagonal", as_published)
    return {"step": MeanFieldVB(covariance, rounds, initial=initial, burn_in=burn_in)}


def online_vb(
    rate: LearningRate = 0.1,
    covariance: Covariance | None = None,
    rounds: int = 4,
    initial: Literal["random", "recognition"] = "random",
    burn_in: int = 0,
    as_published: bool = False,
) -> dict[str, Any]:
    """Online variational Bayes: as `vb`, with a natural gradient step after each minibatch.

    Published are minibatches of 5,000 rows for 240 steps, and what the defaults are, a fixed rate of 0.1 and four
    rounds over the factors of a row; else as `vb`.

    Args:
      rate: ρ, in (0, 1], or a schedule such as `mcmc.schedules.PolynomialDecay`.
      covariance: of the weights of a unit, "full" or "diagonal"; by default "full", as published "diagonal".
      rounds: over the factors of a row, each time that it is read.
      initial, burn_in, as_published: as of `vb`.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    covariance = given(covariance, "full", "diagonal", as_published)
    return {"step": OnlineVB(rate, covariance, rounds, initial=initial, burn_in=burn_in)}
