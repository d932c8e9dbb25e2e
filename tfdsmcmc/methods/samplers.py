"""Methods that sample θ by stochastic-gradient MCMC."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from tfdsmcmc._common import checks
from tfdsmcmc.latents import NAIS, Gibbs
from tfdsmcmc.mcmc import SGHMC, SGLD, SGNHT, WarmStart
from tfdsmcmc.mcmc.schedules import ByUnits, PolynomialDecay
from tfdsmcmc.methods.parts import adam, given, triple
from tfdsmcmc.proposals import Wake, WakeSleep

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Integrator, LearningRate, OptimizerLike


def dsgld_nais(
    learning_rate: LearningRate | None = None,
    num_samples: int | None = None,
    optimizer: OptimizerLike | None = None,
    as_published: bool = False,
    num_chains: int | Literal["auto"] | None = None,
) -> dict[str, Any]:
    """Doubly stochastic gradient Langevin dynamics with neural adaptive importance sampling.

    Args:
      learning_rate: the largest ℓ of any weight, a number or a schedule; by default 0.5, as published 0.01.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5. With more than 150 latent
        units the climb of the warm start warms up, see `latents.NAIS`; as published none does.
      optimizer: Keras optimizer of φ; by default Adam, its rate 1e-2 min(1, (150/S) √(150/U)) for U latent units and
        rows of spread S, see `mcmc.schedules.ByUnits`, and falling; as published Adam(3e-4).
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default "auto", as `compile` has it, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGLD(learning_rate=given(learning_rate, 0.5, 0.01, as_published))
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsghmc_nais(
    learning_rate: LearningRate | None = None,
    friction: float = 0.1,
    num_samples: int | None = None,
    optimizer: OptimizerLike | None = None,
    integrator: Integrator | None = None,
    as_published: bool = False,
    num_chains: int | Literal["auto"] | None = None,
) -> dict[str, Any]:
    """Doubly stochastic gradient Hamiltonian Monte Carlo with neural adaptive importance sampling.

    Args:
      learning_rate: the largest ℓ of any weight, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5. With more than 150 latent
        units the climb of the warm start warms up, see `latents.NAIS`; as published none does.
      optimizer: Keras optimizer of φ; by default Adam, its rate 1e-2 min(1, (150/S) √(150/U)) for U latent units and
        rows of spread S, see `mcmc.schedules.ByUnits`, and falling; as published Adam(3e-4).
      integrator: of the kernel; by default "splitting", as published "euler".
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default "auto", as `compile` has it, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGHMC(
        learning_rate=given(learning_rate, 0.3, 0.01, as_published),
        friction=friction,
        integrator=given(integrator, "splitting", "euler", as_published),
    )
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsgnht_nais(
    learning_rate: LearningRate | None = None,
    friction: float = 0.1,
    num_samples: int | None = None,
    optimizer: OptimizerLike | None = None,
    integrator: Integrator | None = None,
    thermostat_mass: float | Literal["auto"] | None = None,
    as_published: bool = False,
    num_chains: int | Literal["auto"] | None = None,
) -> dict[str, Any]:
    """The doubly stochastic gradient Nosé-Hoover thermostat with neural adaptive importance sampling.

    Args:
      learning_rate: the largest ℓ of any weight, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5. With more than 150 latent
        units the climb of the warm start warms up, see `latents.NAIS`; as published none does.
      optimizer: Keras optimizer of φ; by default Adam, its rate 1e-2 min(1, (150/S) √(150/U)) for U latent units and
        rows of spread S, see `mcmc.schedules.ByUnits`, and falling; as published Adam(3e-4).
      integrator: of the kernel; by default "splitting", as published "euler".
      thermostat_mass: of the kernel, a number or "auto"; by default "auto", as published 1.
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default "auto", as `compile` has it, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = _sgnht(
        given(learning_rate, 0.3, 0.01, as_published),
        friction,
        given(integrator, "splitting", "euler", as_published),
        given(thermostat_mass, "auto", 1.0, as_published),
    )
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsghmc_gibbs(
    learning_rate: LearningRate | None = None,
    friction: float = 0.1,
    num_samples: int | None = None,
    burn_in: int | None = None,
    persistent: bool | None = None,
    integrator: Integrator | None = None,
    as_published: bool = False,
    num_chains: int | Literal["auto"] | None = None,
    draw_missing: bool = False,
    optimizer: OptimizerLike | None = None,
) -> dict[str, Any]:
    """Doubly stochastic gradient Hamiltonian Monte Carlo with Gibbs sampling.

    Each row of the data keeps a Gibbs chain over its latent variables by default, which a sweep moves on whenever the
    row's turn comes, while θ moves under it (stochastic approximation, Younes, 1989). Adam climbs for the first half of
    the first `fit`, or until `run.end_climb()`; then θ is sampled. With an `optimizer` of φ validation rows may end the
    climb earlier, and θ goes back to where it was best.

    φ does not learn by default: estimates of the log-likelihood by importance sampling, those of the validation too,
    are too low until `refit_recognition`. Where rows are wide they are so after it, and with an `optimizer` of φ:
    `likelihood.annealed_importance_sampling` does without φ, though as many steps get further from one that has
    learnt. Let `posterior.Collector` go by `burn_in`, not by `patience`.

    Args:
      learning_rate: the largest ℓ of any weight, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K, states of the Gibbs chain that are kept; by default 1, as published 5.
      burn_in: sweeps before them, of persistent chains once; by default 0, or 5 where chains are not persistent, as
        published 5.
      persistent: whether each row's chain goes on from epoch to epoch, which needs the data as an array or a file; by
        default True, as published False.
      integrator: of the kernel; by default "splitting", as published "euler".
      as_published: whether what is not given is as published, without a warm start and with ten θ-updates on each
        minibatch.
      num_chains: C; by default "auto", as `compile` has it, as published 1.
      draw_missing: whether missing entries of the data are drawn along with z, which a DARN or NADE next to the data
        needs to learn from rows with gaps.
      optimizer: Keras optimizer of φ, by which it learns from the states of the chains, by wake updates; by default φ
        does not learn.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGHMC(
        learning_rate=given(learning_rate, 0.3, 0.01, as_published),
        friction=friction,
        integrator=given(integrator, "splitting", "euler", as_published),
    )
    return _gibbs(kernel, num_samples, burn_in, persistent, draw_missing, optimizer, as_published, num_chains)


def dsgnht_gibbs(
    learning_rate: LearningRate | None = None,
    friction: float = 0.1,
    num_samples: int | None = None,
    burn_in: int | None = None,
    persistent: bool | None = None,
    integrator: Integrator | None = None,
    thermostat_mass: float | Literal["auto"] | None = None,
    as_published: bool = False,
    num_chains: int | Literal["auto"] | None = None,
    draw_missing: bool = False,
    optimizer: OptimizerLike | None = None,
) -> dict[str, Any]:
    """The doubly stochastic gradient Nosé-Hoover thermostat with Gibbs sampling.

    Each row of the data keeps a Gibbs chain over its latent variables by default, and a warm start comes first: see
    `dsghmc_gibbs`, also for what estimates of the log-likelihood are worth.

    Args:
      learning_rate: the largest ℓ of any weight, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K, states of the Gibbs chain that are kept; by default 1, as published 5.
      burn_in: sweeps before them, of persistent chains once; by default 0, or 5 where chains are not persistent, as
        published 5.
      persistent: whether each row's chain goes on from epoch to epoch, which needs the data as an array or a file; by
        default True, as published False.
      integrator: of the kernel; by default "splitting", as published "euler".
      thermostat_mass: of the kernel, a number or "auto"; by default "auto", as published 1.
      as_published: whether what is not given is as published, without a warm start and with ten θ-updates on each
        minibatch.
      num_chains: C; by default "auto", as `compile` has it, as published 1.
      draw_missing: whether missing entries of the data are drawn along with z, which a DARN or NADE next to the data
        needs to learn from rows with gaps.
      optimizer: Keras optimizer of φ, by which it learns from the states of the chains, by wake updates; by default φ
        does not learn.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = _sgnht(
        given(learning_rate, 0.3, 0.01, as_published),
        friction,
        given(integrator, "splitting", "euler", as_published),
        given(thermostat_mass, "auto", 1.0, as_published),
    )
    return _gibbs(kernel, num_samples, burn_in, persistent, draw_missing, optimizer, as_published, num_chains)


def _nais(kernel, num_samples, optimizer, as_published, num_chains):
    """A sampler with importance samples from the recognition network."""
    num_samples = given(num_samples, 25, 5, as_published)
    num_chains = checks.positive_or_auto("num_chains", given(num_chains, "auto", 1, as_published))
    if as_published:
        proposal = Wake(adam(optimizer, 3e-4), redraw=True)
        nested = {"kernel_steps": 10, "interleaved": True, "num_chains": num_chains}
        return {**triple(kernel, NAIS(num_samples), proposal), **nested}
    climbing_samples = min(10, checks.positive_integer("num_samples", num_samples))
    latents = NAIS(num_samples, climbing_samples=climbing_samples, warm_up="auto")
    proposal = WakeSleep(adam(optimizer, _rate_of_recognition()))
    return {**triple(WarmStart(kernel=kernel, climbs=3), latents, proposal), "num_chains": num_chains}


def _rate_of_recognition():
    """The rate of φ: high for as long as short runs last, which lose by less. At it a network of wide layers stays
    coarse, so that few of the K draws count and the gradient of θ is biased: from there on it falls. It was found
    with 150 units and rows of a spread below 150; of more of either it switches units off (docs/study_appendix.md,
    "Units that a climb switches off")."""
    return ByUnits(PolynomialDecay(1e-2, offset=5000.0, power=0.75, constant_steps=5000), units=150, spread=150.0)


def _gibbs(kernel, num_samples, burn_in, persistent, draw_missing, optimizer, as_published, num_chains):
    """A sampler with Gibbs sampling."""
    persistent = given(persistent, True, False, as_published)
    latents = Gibbs(
        given(num_samples, 1, 5, as_published),
        given(burn_in, 0 if persistent is True else 5, 5, as_published),
        persistent=persistent,
        draw_missing=draw_missing,
    )
    num_chains = checks.positive_or_auto("num_chains", given(num_chains, "auto", 1, as_published))
    proposal = None if optimizer is None else Wake(optimizer)
    if as_published:
        return {**triple(kernel, latents, proposal), "kernel_steps": 10, "num_chains": num_chains}
    climber = adam(None, 3e-3)  # without a φ that learns no validation ends the climb: a rate for half of any run
    return {**triple(WarmStart(kernel=kernel, optimizer=climber), latents, proposal), "num_chains": num_chains}


def _sgnht(learning_rate, friction, integrator, thermostat_mass):
    return SGNHT(learning_rate=learning_rate, friction=friction, integrator=integrator, thermostat_mass=thermostat_mass)
