"""The methods of the literature, each as the arguments of `compile`.

A method is a triple (kernel, latents, proposal). Those that sample θ from its posterior:

    dsgld_nais, dsghmc_nais, dsgnht_nais    SGLD, SGHMC, SGNHT with importance samples from the recognition network
    dsghmc_gibbs, dsgnht_gibbs              SGHMC, SGNHT with Gibbs sampling; the recognition network does not learn

and those that climb to one θ. With importance weights they climb log p(θ) + log p(X given θ), with a bias of order 1/K,
with uniform ones log p(θ) + the evidence lower bound; a flat prior is `{"": None}`, and under a prior whose scales are
drawn the height that is climbed moves with them:

    rws           reweighted wake-sleep         importance weights, wake and sleep updates of φ
    wake_sleep    wake-sleep                    one draw from q, sleep updates of φ
    nvil          neural variational inference  uniform weights, score-function gradient of φ
    vae           variational autoencoder       uniform weights, reparametrised gradient of φ (continuous z)
    iwae          importance weighted autoencoder    importance weights, reparametrised gradient of φ (continuous z)

Methods that are a step of their own, with no kernel, latents and proposal:

    polya_gamma_gibbs    Gibbs sampling of θ and z by Pólya-Gamma augmentation
    vb                   mean-field variational Bayes by the same augmentation
    online_vb            online variational Bayes: natural gradients from minibatches

    model.compile(**tfdsmcmc.methods.rws(), steps_per_execution=20)

The samplers with importance samples are what `docs/study.md` found best, without a look at the data: a warm start by
Adam with K = 10, its rate falling from 0.03, then the splitting scheme with K = 25, reweighted wake-sleep updates of φ
by Adam(1e-2), and three chains, each with a warm start and a recognition network of its own. `as_published=True` gives
what the paper has but for the prior, which is the model's (there `prior=StudentT(df=2.2, loc=0.0, scale=0.09)`): no
warm start, the Euler scheme, a thermostat of mass 1, K = 5, wake updates of φ by Adam(3e-4) with fresh draws, ten
θ-updates on each minibatch and a φ-update after each of them, one chain. Arguments that are given go before either.
Those with Gibbs sampling are as published but for the ten θ-updates, which `as_published=True` adds. The publications
of the others used momentum or plain stochastic gradients with rates of their own; here Adam stands in for all of them.

Sources: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions on
Neural Networks and Learning Systems 29 (2018); Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015; Hinton,
Dayan, Frey and Neal, "The wake-sleep algorithm for unsupervised neural networks", Science 268 (1995); Mnih and
Gregor, "Neural variational inference and learning in belief networks", ICML 2014; Kingma and Welling, "Auto-encoding
variational Bayes", ICLR 2014; Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016; Gan,
Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015.
"""

from __future__ import annotations

import keras

from tfdsmcmc import checks
from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB, PolyaGammaGibbs
from tfdsmcmc.latents import NAIS, Gibbs
from tfdsmcmc.mcmc import MAP, SGHMC, SGLD, SGNHT, WarmStart
from tfdsmcmc.proposals import IWAE, NVIL, Sleep, Wake, WakeSleep

__all__ = [
    "dsghmc_gibbs",
    "dsghmc_nais",
    "dsgld_nais",
    "dsgnht_gibbs",
    "dsgnht_nais",
    "iwae",
    "nvil",
    "online_vb",
    "polya_gamma_gibbs",
    "rws",
    "vae",
    "vb",
    "wake_sleep",
]


def dsgld_nais(learning_rate=None, num_samples=None, optimizer=None, as_published=False, num_chains=None):
    """Doubly stochastic gradient Langevin dynamics with neural adaptive importance sampling.

    Args:
      learning_rate: ℓ of the kernel, a number or a schedule; by default 0.5, as published 0.01.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5.
      optimizer: Keras optimizer of φ; by default Adam(1e-2), as published Adam(3e-4).
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default 3, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGLD(learning_rate=_given(learning_rate, 0.5, 0.01, as_published))
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsghmc_nais(
    learning_rate=None,
    friction=0.1,
    num_samples=None,
    optimizer=None,
    integrator=None,
    as_published=False,
    num_chains=None,
):
    """Doubly stochastic gradient Hamiltonian Monte Carlo with neural adaptive importance sampling.

    Args:
      learning_rate: ℓ of the kernel, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5.
      optimizer: Keras optimizer of φ; by default Adam(1e-2), as published Adam(3e-4).
      integrator: of the kernel; by default "splitting", as published "euler".
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default 3, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGHMC(
        learning_rate=_given(learning_rate, 0.3, 0.01, as_published),
        friction=friction,
        integrator=_given(integrator, "splitting", "euler", as_published),
    )
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsgnht_nais(
    learning_rate=None,
    friction=0.1,
    num_samples=None,
    optimizer=None,
    integrator=None,
    thermostat_mass=None,
    as_published=False,
    num_chains=None,
):
    """The doubly stochastic gradient Nosé-Hoover thermostat with neural adaptive importance sampling.

    Args:
      learning_rate: ℓ of the kernel, a number or a schedule; by default 0.3, as published 0.01.
      friction: a of the kernel.
      num_samples: K; by default 25, at most 10 of them in the warm start, as published 5.
      optimizer: Keras optimizer of φ; by default Adam(1e-2), as published Adam(3e-4).
      integrator: of the kernel; by default "splitting", as published "euler".
      thermostat_mass: of the kernel, a number or "auto"; by default "auto", as published 1.
      as_published: whether what is not given is as published, see the module's docstring.
      num_chains: C; by default 3, as published 1.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = _sgnht(
        _given(learning_rate, 0.3, 0.01, as_published),
        friction,
        _given(integrator, "splitting", "euler", as_published),
        _given(thermostat_mass, "auto", 1.0, as_published),
    )
    return _nais(kernel, num_samples, optimizer, as_published, num_chains)


def dsghmc_gibbs(
    learning_rate=0.01,
    friction=0.1,
    num_samples=5,
    burn_in=5,
    persistent=False,
    integrator="euler",
    as_published=False,
):
    """Doubly stochastic gradient Hamiltonian Monte Carlo with Gibbs sampling; φ does not learn.

    Estimates of the log-likelihood, those of the validation too, are too low until `refit_recognition`: let
    `posterior.Collector` go by `burn_in`, not by `patience`.

    Args:
      learning_rate: ℓ of the kernel, a number or a schedule.
      friction: a of the kernel.
      num_samples: K, states of the Gibbs chain that are kept.
      burn_in: sweeps before them.
      persistent: whether each row's chain goes on from epoch to epoch.
      integrator: of the kernel: "euler" as published, or "splitting".
      as_published: whether there are ten θ-updates on each minibatch, as published.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = SGHMC(learning_rate=learning_rate, friction=friction, integrator=integrator)
    return _gibbs(kernel, num_samples, burn_in, persistent, as_published)


def dsgnht_gibbs(
    learning_rate=0.01,
    friction=0.1,
    num_samples=5,
    burn_in=5,
    persistent=False,
    integrator="euler",
    thermostat_mass=1.0,
    as_published=False,
):
    """The doubly stochastic gradient Nosé-Hoover thermostat with Gibbs sampling; φ does not learn.

    Estimates of the log-likelihood, those of the validation too, are too low until `refit_recognition`: let
    `posterior.Collector` go by `burn_in`, not by `patience`.

    Args:
      learning_rate: ℓ of the kernel, a number or a schedule.
      friction: a of the kernel.
      num_samples: K, states of the Gibbs chain that are kept.
      burn_in: sweeps before them.
      persistent: whether each row's chain goes on from epoch to epoch.
      integrator: of the kernel: "euler" as published, or "splitting".
      thermostat_mass: of the kernel: 1 as published, another number, or "auto".
      as_published: whether there are ten θ-updates on each minibatch, as published.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    kernel = _sgnht(learning_rate, friction, integrator, thermostat_mass)
    return _gibbs(kernel, num_samples, burn_in, persistent, as_published)


def rws(learning_rate=1e-3, num_samples=5, optimizer=None):
    """Reweighted wake-sleep: importance weights for θ, and for φ the mean of its wake and its sleep update.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return _method(_map(learning_rate), NAIS(num_samples), WakeSleep(_adam(optimizer, learning_rate)))


def wake_sleep(learning_rate=1e-3, num_samples=1, optimizer=None):
    """Wake-sleep: θ learns from draws of q as they are, φ from dreams.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return _method(_map(learning_rate), NAIS(num_samples, "uniform"), Sleep(_adam(optimizer, learning_rate)))


def nvil(learning_rate=1e-3, num_samples=1, optimizer=None, baseline_units=100, decay=0.8):
    """Neural variational inference and learning: both networks climb the evidence lower bound.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ and of the baseline; by default Adam at the same rate.
      baseline_units: hidden units of the baseline that depends on the data; the paper has 100.
      decay: of the running mean and variance of the signal; the paper has 0.8.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    proposal = NVIL(_adam(optimizer, learning_rate), baseline_units, decay)
    return _method(_map(learning_rate), NAIS(num_samples, "uniform"), proposal)


def vae(learning_rate=1e-3, num_samples=1, optimizer=None):
    """The variational autoencoder: both networks climb the evidence lower bound; continuous z.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K, equally weighted.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    proposal = IWAE(_adam(optimizer, learning_rate), bound="elbo")
    return _method(_map(learning_rate), NAIS(num_samples, "uniform"), proposal)


def iwae(learning_rate=1e-3, num_samples=5, optimizer=None):
    """The importance weighted autoencoder: both networks climb the bound of K samples; continuous z.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K; the paper has 1, 5 and 50.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return _method(_map(learning_rate), NAIS(num_samples), IWAE(_adam(optimizer, learning_rate)))


def polya_gamma_gibbs(sweeps=1, initial="prior", burn_in=0, labels=None):
    """Gibbs sampling of θ and z by Pólya-Gamma augmentation, for networks of SBN and DARN layers; φ does not learn.

    An epoch is a sweep over all rows, and each of them after the burn-in a sample of the posterior. Estimates of the
    log-likelihood are too low until `refit_recognition`. Published are some 40 sweeps of burn-in and 100 that are kept,
    with a Student-t prior, or with one for each hidden unit's column: `priors.ColumnThreeParameterBetaNormal()`. There
    the units are drawn given the augmentation, which is summed out here, and weights and biases apart, which are drawn
    together here; both ways leave the same posterior invariant, and there is no `as_published`.

    Args:
      sweeps: over the units of a row in a pass.
      initial: where the units start, "prior" or "recognition".
      burn_in: sweeps over the units before the first pass, where the weights have learnt before.
      labels: (N,) integers, one for each row, on which the biases of the top layer depend, kept in
        `run.state.label_biases`. The layer and posterior samples keep their mean over the rows: `log_likelihood`,
        `sample` and `impute` are of a network with that bias for all rows, not of the one that learns.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": PolyaGammaGibbs(sweeps, initial, burn_in, labels)}


def vb(covariance="full", rounds=1, labels=None):
    """Mean-field variational Bayes by Pólya-Gamma augmentation, for networks of SBN and DARN layers.

    An epoch updates all factors once, from all rows; the metric `bound` is the evidence lower bound in nats a row,
    with the weights integrated out. The model's weights are the means of q(θ), and `posterior.Collector` keeps draws
    from it. φ does not learn: estimates of the log-likelihood are too low until `refit_recognition`.

    Args:
      covariance: of the weights of a unit, "full" or "diagonal".
      rounds: over the factors of a row in a pass.
      labels: (N,) integers, one for each row, on which the biases of the top layer depend, kept in
        `run.state.label_biases`. The layer and posterior samples keep their mean over the rows: `log_likelihood`,
        `sample` and `impute` are of a network with that bias for all rows, not of the one that learns.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": MeanFieldVB(covariance, rounds, labels)}


def online_vb(rate=0.1, covariance="full", rounds=4, labels=None):
    """Online variational Bayes: as `vb`, with a natural gradient step after each minibatch.

    Published are minibatches of 5,000 rows and a fixed rate of 0.1, for 240 steps.

    Args:
      rate: ρ, in (0, 1], or a schedule such as `mcmc.schedules.PolynomialDecay`.
      covariance: of the weights of a unit, "full" or "diagonal".
      rounds: over the factors of a row, each time that it is read.
      labels: (N,) integers, one for each row, on which the biases of the top layer depend, kept in
        `run.state.label_biases`. The layer and posterior samples keep their mean over the rows: `log_likelihood`,
        `sample` and `impute` are of a network with that bias for all rows, not of the one that learns.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": OnlineVB(rate, covariance, rounds, labels)}


def _nais(kernel, num_samples, optimizer, as_published, num_chains):
    """A sampler with importance samples from the recognition network."""
    num_samples = _given(num_samples, 25, 5, as_published)
    num_chains = _given(num_chains, 3, 1, as_published)
    if as_published:
        proposal = Wake(_adam(optimizer, 3e-4), redraw=True)
        nested = {"kernel_steps": 10, "interleaved": True, "num_chains": num_chains}
        return {**_method(kernel, NAIS(num_samples), proposal), **nested}
    latents = NAIS(num_samples, climbing_samples=min(10, checks.positive_integer("num_samples", num_samples)))
    return {**_method(WarmStart(kernel=kernel), latents, WakeSleep(_adam(optimizer, 1e-2))), "num_chains": num_chains}


def _gibbs(kernel, num_samples, burn_in, persistent, as_published):
    """A sampler with Gibbs sampling."""
    method = _method(kernel, Gibbs(num_samples, burn_in, persistent=persistent), None)
    return {**method, **_given(None, {}, {"kernel_steps": 10}, as_published)}


def _given(value, default, published, as_published):
    """A value, or what stands in its place."""
    if not isinstance(as_published, bool):
        raise ValueError(f"as_published must be True or False. Received: as_published={as_published!r}")
    return (published if as_published else default) if value is None else value


def _method(kernel, latents, proposal):
    return {"kernel": kernel, "latents": latents, "proposal": proposal}


def _adam(optimizer, learning_rate):
    checks.learning_rate(learning_rate)
    return keras.optimizers.Adam(learning_rate) if optimizer is None else optimizer


def _map(learning_rate):
    checks.learning_rate(learning_rate)
    return MAP(optimizer=keras.optimizers.Adam(learning_rate))


def _sgnht(learning_rate, friction, integrator, thermostat_mass):
    return SGNHT(
        learning_rate=learning_rate, friction=friction, integrator=integrator, thermostat_mass=thermostat_mass
    )
