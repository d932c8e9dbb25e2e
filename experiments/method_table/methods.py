"""The methods of a table by name, each as phases of learning: what `compile` is given, and for which part of a budget.

Samplers have a prior, the others a flat one: they climb the likelihood, as published. Beside those of
`tfdsmcmc.methods`:

    dsgnht_iwae      DSGNHT for θ, and the importance weighted bound for φ: variational autoencoders
    rws_published    rws as published, K = 5 for half of the budget, then K = 25 and a third of the rate
    rws_sleep, rws_wake, rws_untaught    rws with the sleep update of φ alone, the wake update alone, neither
"""

import keras
import tensorflow_probability as tfp

import tfdsmcmc as ds

SAMPLERS = (
    "dsgld_nais",
    "dsghmc_nais",
    "dsgnht_nais",
    "dsghmc_gibbs",
    "dsgnht_gibbs",
    "dsgnht_iwae",
)
REWEIGHTED = ("rws", "rws_published", "rws_sleep", "rws_wake", "rws_untaught")  # wake-sleep
CLIMBERS = (*REWEIGHTED, "wake_sleep", "nvil", "vae", "iwae")
METHODS = (*SAMPLERS, *CLIMBERS)
CONTINUOUS = ("dsgnht_iwae", "vae", "iwae")  # need continuous latent variables
GIBBS = ("dsghmc_gibbs", "dsgnht_gibbs")  # φ learns beside θ if it is given a rate
BINARY = (*GIBBS, *REWEIGHTED, "wake_sleep", "nvil")  # for binary ones
WHERE_ASKED = ("rws_published", "rws_sleep", "rws_wake", "rws_untaught")  # not by default


def rates_of(method, args):
    """The learning rates among which validation data choose: of the kernel of samplers, else of the optimizers."""
    if method in SAMPLERS:
        ours = 0.5 if method == "dsgld_nais" else 0.3
        return args.learning_rate or [0.01 if args.as_published else ours]
    return args.momentum_rate if method == "rws_published" else args.adam or [None]  # that of the method


def untaught(method, settings):
    """Whether φ does not learn beside θ."""
    by_chains = method in GIBBS and settings.get("proposal_learning_rate") is None
    return by_chains or method == "rws_untaught"


def phi_apart(method, settings):
    """Whether a Gibbs sampler's φ did not learn: posterior samples hold nothing of use of it."""
    return method in GIBBS and untaught(method, settings)


def suits(method, architecture):
    """Whether the method is one for the latent variables of the architecture: continuous, binary, or none at all."""
    if architecture.strip().startswith("VAE"):
        return method not in BINARY
    latent = any(character.isdigit() for character in architecture)  # a plain "NADE" has no layer sizes
    return method not in CONTINUOUS and (latent or method not in GIBBS)


def prior_of(method, settings):
    """The prior of the weights, as `DeepGenerativeModel` takes it."""
    if method in CLIMBERS:
        return {"": None}
    published = settings.get("as_published") or settings.get("published_prior")
    return tfp.distributions.StudentT(df=2.2, loc=0.0, scale=0.09) if published else None


def phases(method, rate, settings):
    """The phases of learning, each with the same part of the budget.

    Args:
      method: of `METHODS`.
      rate: learning rate; of optimizers None for that of the method.
      settings: dict with `samples`, K or None for that of the method; for samplers `as_published` and
        `proposal_learning_rate`, of φ or None for that of the method, and maybe of the warm start `burn_in`, the part
        of the updates that it may last, `patience`, `climbing_rate`, of its Adam, or None for the optimizer of the
        method, `climbing_offset`, and `one_rate`, whether all weights are sampled with the same.

    Returns:
      List of dicts of arguments for `compile`.
    """
    samples = {} if settings["samples"] is None else {"num_samples": settings["samples"]}
    if method == "rws_published":
        first, then = settings["samples"] or 5, settings["samples"] or 25
        return [ds.methods.rws(rate, first, as_published=True), ds.methods.rws(rate / 3, then, as_published=True)]
    if method.startswith("rws_"):
        found = ds.methods.rws(rate, **samples)
        return [{**found, "proposal": _teacher(method, found["proposal"].optimizer)}]
    if method in CLIMBERS:
        return [getattr(ds.methods, method)(rate, **samples)]
    return [_sampler(method, rate, samples, settings)]


def _sampler(method, rate, samples, settings):
    arguments = {"learning_rate": rate, "as_published": settings["as_published"], **samples}
    if settings["proposal_learning_rate"] is not None:
        arguments["optimizer"] = keras.optimizers.Adam(settings["proposal_learning_rate"])
    found = getattr(ds.methods, "dsgnht_nais" if method == "dsgnht_iwae" else method)(num_chains=1, **arguments)
    if method == "dsgnht_iwae":
        found["proposal"] = ds.proposals.IWAE(keras.optimizers.Adam(settings["proposal_learning_rate"] or 1e-3))
    if isinstance(found["kernel"], ds.mcmc.WarmStart):
        found["kernel"] = found["kernel"].copy(**_climb(settings))
    return found


def _climb(settings):
    """What settings say of a warm start."""
    of_kernel = {"patience": "patience", "burn_in": "fraction"}
    found = {argument: settings[name] for name, argument in of_kernel.items() if name in settings}
    if settings.get("one_rate"):
        found["noise_tolerance"] = None
    rate = settings.get("climbing_rate")
    if rate is not None:
        found["optimizer"] = keras.optimizers.Adam(_climbing_schedule(rate, settings.get("climbing_offset")))
    return found


def _climbing_schedule(rate, offset):
    """With an offset of the form of `WarmStart`, which knows where the climb is planned to end; else without an end."""
    if offset is None:
        return ds.mcmc.PolynomialDecay(rate, offset=2000, power=1.0, warmup_steps=2000)
    return ds.mcmc.schedules.RiseAndFall(rate, offset=offset)


def _teacher(method, optimizer):
    kinds = {"rws_sleep": ds.proposals.Sleep, "rws_wake": ds.proposals.Wake}
    return kinds[method](optimizer) if method in kinds else None
