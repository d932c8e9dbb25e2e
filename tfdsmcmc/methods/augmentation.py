"""Methods by Pólya-Gamma augmentation."""

from __future__ import annotations

from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB, PolyaGammaGibbs


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
      labels: (N,) integers, one for each row, on which the biases of the top layer depend. The layer has their mean
        over the rows, and `log_likelihood`, `sample` and `impute` of the model are of a network with that bias for all
        rows, not of the one that learns: that one is `posterior.present(model).given_label(y)`, or samples'
        `posterior.load(path).given_label(y)`, and `label_probabilities` are those of the labels of new rows.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": PolyaGammaGibbs(sweeps, initial, burn_in, labels)}


def vb(covariance="full", rounds=1, labels=None, initial="random", burn_in=0):
    """Mean-field variational Bayes by Pólya-Gamma augmentation, for networks of SBN and DARN layers.

    An epoch updates all factors once, from all rows; the metric `bound` is the evidence lower bound in nats a row,
    with the weights integrated out. The model's weights are the means of q(θ), and `posterior.Collector` keeps draws
    from it. φ does not learn: estimates of the log-likelihood are too low until `refit_recognition`. The published
    formulas are those of covariance="diagonal", from weights of N(0, 0.1²), with a factor of its own for each bias,
    which belongs to the weights here; prior and start are the model's, and there is no `as_published`.

    Args:
      covariance: of the weights of a unit, "full" or "diagonal".
      rounds: over the factors of a row in a pass.
      labels: (N,) integers, one for each row, on which the biases of the top layer depend, as of `polya_gamma_gibbs`.
      initial: where the means of the units start, "random" or at draws of the "recognition" network.
      burn_in: rounds over the factors of a row before the first pass, where the weights have learnt before: some ten.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": MeanFieldVB(covariance, rounds, labels, initial=initial, burn_in=burn_in)}


def online_vb(rate=0.1, covariance="full", rounds=4, labels=None, initial="random", burn_in=0):
    """Online variational Bayes: as `vb`, with a natural gradient step after each minibatch.

    Published are minibatches of 5,000 rows and a fixed rate of 0.1, which is the default, for 240 steps; else as `vb`.

    Args:
      rate: ρ, in (0, 1], or a schedule such as `mcmc.schedules.PolynomialDecay`.
      covariance: of the weights of a unit, "full" or "diagonal".
      rounds: over the factors of a row, each time that it is read.
      labels, initial, burn_in: as of `vb`.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return {"step": OnlineVB(rate, covariance, rounds, labels, initial=initial, burn_in=burn_in)}
