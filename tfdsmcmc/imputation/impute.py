"""Imputation: x_missing from p(x_missing given x_observed), averaged over z and, given samples of them, over θ.

    "gibbs"         Markov chains over (x_missing, z), unit by unit           binary latent layers, Boltzmann machines
    "metropolis"    Markov chains with the recognition network as proposal    any layers
    "resampling"    importance sampling with the recognition network          any layers

The first two are exact in the limit of long chains, the third in that of many samples. `effective_sample_size` tells
how much the draws say of the law that they have. It does not see a burn-in that was too short, as that of "metropolis"
may be where the recognition network proposes badly: then the chains are still near where they began, and the size can
be the same as later. Runs with a longer `burn_in` tell. Their files have the equations and the sources.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc.imputation.continued import Chains
from tfdsmcmc.imputation.mixture import Mixture
from tfdsmcmc.imputation.plans import bar_of, rows_at_a_time, run
from tfdsmcmc.imputation.result import Imputation
from tfdsmcmc.imputation.settings import DRAWS, settings_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Average, Seed, Verbose
    from tfdsmcmc.contract import Model
    from tfdsmcmc.imputation.directed import ImputationMethod
    from tfdsmcmc.rows.from_users import RowsLike


def impute(
    model: Model,
    x: RowsLike,
    mask: ArrayLike | None = None,
    num_imputations: int = 1,
    seed: Seed = 0,
    method: ImputationMethod = "auto",
    burn_in: int = 50,
    thinning: int = 10,
    num_samples: int | None = None,
    num_chains: int = 2,
    posterior: Any = None,
    posterior_weights: Literal["likelihood", "equal"] = "likelihood",
    evidence_samples: int = DRAWS,
    batch_size: int = 100,
    average: Average | None = None,
    verbose: Verbose = 0,
    continued_burn_in: int | None = None,
) -> Imputation:
    """Draws the missing entries of rows given the observed ones.

    Args:
      model: `DeepGenerativeModel`, `RBM`, `DBN` or `MixtureOfBernoullis`.
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches (B, D), which are read into memory. Missing
        entries are NaN or, under a mask, anything: what stands there has no influence.
      mask: (n, D) or (D,), True where an entry is observed; by default where x is not NaN.
      num_imputations: draws for each row.
      seed: integer, or int32 tensor of shape (2,). The draws of a row depend on its batch.
      method: "gibbs", "metropolis" or "resampling"; "auto" is "gibbs" where all latent layers are binary and no layer
        is a NADE, else "metropolis". A sweep over the units of a NADE costs D times its log-probability. All but
        directed networks have "gibbs" alone.
      burn_in: sweeps of each chain before the first that counts.
      thinning: least number of sweeps between two imputations of one chain.
      num_samples: for chains, the least number of sweeps after the burn-in, all of which count for the probabilities,
        by default 50; for "resampling", the draws K, by default 1000.
      num_chains: chains for each row. Imputations are spread over them: as many chains as imputations give independent
        ones, fewer are cheaper. With one chain the effective sample size cannot see that it stays at one mode.
      posterior: an object whose `samples` have lists of arrays `theta` and `phi`; the imputations are then of the
        mixture over them. By default the model's own weights. Each sample costs as much as they. A `Posterior` is
        averaged as `average` says: the imputations are of the mixture over its components.
      posterior_weights: "likelihood" weighs θ_m, or a component, by an estimate of p(x_observed given θ_m), as new rows
        ask for, by importance sampling from the recognition network; "equal" is for rows that the samples were learned
        from, and for samples whose recognition network did not learn, as with `methods.dsgnht_gibbs()`, and for
        Boltzmann machines, whose p(x_observed given θ_m) nobody knows.
      evidence_samples: draws behind that estimate; for "resampling" its own K draws serve.
      batch_size: rows at a time.
      average: of `posterior.averages.AVERAGES`, of a `Posterior`; by default its own. "draws" has what is not known of
        the weights, as a sample is chosen for each imputation of a row anew. So a table of several rows mixes them:
        to pool analyses of tables, impute at one sample after the other, by seeds of their own, as `Imputer.impute`
        does.
      verbose: 0 is silent; otherwise a bar tells how many of the batches are done, those of each component.
      continued_burn_in: sweeps, in place of `burn_in`, of the chains at each component but the first, which then go on
        from where those at the one before ended; by default they start anew. It suits samples of one run, which are
        near each other. The effective sample size takes the components for independent, and is too large then.

    Returns:
      `Imputation`; the observed entries are those given, in float32.

    Raises:
      ValueError: for data or a mask that do not fit the model, NaN in an observed entry, an argument out of range, a
        method that does not suit the layers, a posterior without samples or of another architecture, or imputations
        that are not finite.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN 3", units=4)
    >>> result = ds.imputation.impute(model, [[1, 0, np.nan, 1]], num_imputations=2, burn_in=5, num_samples=5)
    >>> result.x.shape, result.probabilities.shape
    ((2, 1, 4), (1, 4))
    """
    contract.check_model(model)
    density = model.density() if posterior is None else _first_density(model, posterior)
    method = density.method_for(method)
    lengths, verbose = (burn_in, thinning, num_samples, num_chains), checks.verbose(verbose)
    settings = settings_of(
        num_imputations, method, *lengths, posterior_weights, evidence_samples, batch_size, continued_burn_in
    )
    num_imputations, batch_size = settings.num_imputations, int(batch_size)
    seed = random.stream(seed, "imputation")
    components = None if posterior is None else _components_of(model, posterior, average)
    if components is None and average is not None:
        raise ValueError(f"An average is of a posterior. Received: average={average!r}, posterior=None")
    rows = density.rows("x", x, mask)
    places = rows.with_gaps
    if not len(places):
        return _whole(rows, places, None, num_imputations, method == "metropolis")
    gappy, batch_size = rows.take(places), rows_at_a_time(len(places), batch_size)
    batches = -(-len(places) // batch_size)

    if components is None:
        plan, bar = density.imputation_plan(method, settings, batch_size), bar_of(verbose, batches)
        part = run(density, plan, gappy, seed, batch_size, bar)
    else:
        evidence_samples = None if posterior_weights == "equal" else int(evidence_samples)
        twice = evidence_samples is not None and method != "resampling"  # for the evidence too
        bar = bar_of(verbose, (1 + twice) * len(components) * batches)
        part = _mixture(components, method, settings, evidence_samples, gappy, seed, batch_size, bar)
    _check_imputed(part)
    return _whole(rows, places, part, num_imputations, method == "metropolis")


def _check_imputed(part):
    """Raises a ValueError for imputations that are not finite, as observed entries of 1e30 lead to."""
    bad = ~(np.isfinite(part.x).all((-2, -1)) & np.isfinite(part.probabilities).all(-1))
    if bad.any():
        raise ValueError(
            "The imputations of some rows are not finite: what is observed of them is too far from what the model can "
            f"tell. Received: {int(bad.sum())} of {len(bad)} rows with gaps"
        )


def _first_density(model, posterior):
    """The density at the first sample of a posterior, checked."""
    samples = getattr(posterior, "samples", None)
    if not hasattr(samples, "__len__") or not hasattr(samples, "__getitem__"):
        raise ValueError(f"A posterior has a sequence of samples. Received: posterior={posterior!r}")
    if not len(samples):
        raise ValueError("A posterior has at least one sample. Received: none")
    first = samples[0]
    if not hasattr(first, "theta") or not hasattr(first, "phi"):
        raise ValueError(f"A sample has lists of arrays theta and phi. Received: {type(first).__name__}")
    density = model.density((first.theta, first.phi))  # which refuses what does not fit
    return density


class _Samples:
    """Components of a posterior that knows no average but that over its samples."""

    def __init__(self, model, samples):
        self._model, self._samples = model, samples

    def __len__(self):
        return len(self._samples)

    def __iter__(self):
        for sample in self._samples:
            yield _Component(self._model, (sample.theta, sample.phi))


class _Component(NamedTuple):
    """A model and the weights that it is to have."""

    model: Any
    weights: Any

    @property
    def density(self):
        return self.model.density(self.weights)


def _components_of(model, posterior, average):
    """What the imputations are mixed of, each with a `density`."""
    if hasattr(posterior, "components"):
        return posterior.components(model, average)
    if average not in (None, "draws"):
        raise ValueError(f"Samples alone are averaged over draws. Received: average={average!r}, {posterior!r}")
    return _Samples(model, posterior.samples)


def _mixture(components, method, settings, evidence_samples, rows, seed, batch_size, bar):
    """The imputations over all components of a posterior, weighed alike where there are no `evidence_samples`."""
    mixture, chains = Mixture(), None
    for m, component in enumerate(components):
        density = component.density
        evidence = None
        if not (evidence_samples is None or method == "resampling"):
            evidence = density.evidence_plan(evidence_samples, batch_size)  # which refuses what is not known
        run_seed, evidence_seed, choice_seed = (random.fold(random.fold(seed, m), i) for i in range(3))
        plan = density.imputation_plan(method, settings, batch_size)
        if chains is None and settings.continued_burn_in is not None and getattr(plan, "continues", False):
            chains = Chains(settings.continued_burn_in)
        part = run(density, plan, rows, run_seed, batch_size, bar, chains)
        log_weight = part.log_likelihood
        if evidence_samples is None:
            log_weight = np.zeros(len(rows.values))
        elif log_weight is None:
            log_weight = run(density, evidence, rows, evidence_seed, batch_size, bar).log_likelihood
        mixture.add(part, log_weight, choice_seed)
    return mixture.result(part.acceptance_rate is not None)


def _whole(rows, places, part, num_imputations, rates):
    """The result for all rows, from the part of those with gaps at some places; observed entries stay as they are."""
    probabilities = rows.values.astype(np.float32)
    drawn = np.repeat(probabilities[np.newaxis], num_imputations, 0)
    size = np.full(len(probabilities), np.inf)
    rate = np.full(len(probabilities), np.nan) if rates else None
    if part is not None:
        x, known, *_ = rows.take(places)
        drawn[:, places] = np.where(known, x, part.x.swapaxes(0, 1))
        probabilities[places] = np.where(known, x, part.probabilities)
        size[places] = part.effective_sample_size
        if rates:
            rate[places] = part.acceptance_rate
    return Imputation(drawn, probabilities, size, rate)
