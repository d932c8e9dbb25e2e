"""Methods that climb to one θ by an optimizer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.latents import NAIS
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.methods.parts import adam, given, triple
from tfdsmcmc.proposals import IWAE, NVIL, Sleep, WakeSleep

if TYPE_CHECKING:
    from tfdsmcmc._common.types import LearningRate, OptimizerLike


def rws(
    learning_rate: LearningRate | None = None,
    num_samples: int = 5,
    optimizer: OptimizerLike | None = None,
    as_published: bool = False,
) -> dict[str, Any]:
    """Reweighted wake-sleep: importance weights for θ, and for φ the mean of its wake and its sleep update.

    Args:
      learning_rate: of Adam for θ, by default 3e-3; as published of gradient steps with momentum 0.95, 1e-3, or 3e-4
        or 3e-3, whichever is best on validation data. The authors' program has it of the sum over 25 rows, and a
        momentum whose parts sum to 1: 0.025 of the mean in all, where this is 0.02.
      num_samples: K.
      optimizer: Keras optimizer of φ; by default as that of θ, and as published too: the rate is twice as high then,
        for the paper adds the two updates.
      as_published: whether what is not given is as published, see the module's docstring; else importance weights of
        more than 150 latent units warm up, see `latents.NAIS`.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    theta, phi = _optimizers(learning_rate, optimizer, as_published, _with_momentum, 1e-3)
    return triple(MAP(optimizer=theta), NAIS(num_samples, warm_up=0 if as_published else "auto"), WakeSleep(phi))


def wake_sleep(
    learning_rate: LearningRate | None = None,
    num_samples: int = 1,
    optimizer: OptimizerLike | None = None,
    as_published: bool = False,
) -> dict[str, Any]:
    """Wake-sleep: θ learns from draws of q as they are, φ from dreams.

    Args:
      learning_rate: of Adam for θ, by default 3e-3; as published of plain gradient steps, 2e-3: 1e-4 for the sum of the
        gradient over a minibatch of 20 rows, of which it is the mean here.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ; by default as that of θ, as published of a fifth of the rate.
      as_published: whether what is not given is as published, see the module's docstring.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    theta, phi = _optimizers(learning_rate, optimizer, as_published, _plain, 2e-3)
    return triple(MAP(optimizer=theta), NAIS(num_samples, "uniform"), Sleep(phi))


def nvil(
    learning_rate: LearningRate | None = None,
    num_samples: int = 1,
    optimizer: OptimizerLike | None = None,
    baseline_units: int = 100,
    decay: float = 0.8,
    as_published: bool = False,
) -> dict[str, Any]:
    """Neural variational inference and learning: both networks climb the evidence lower bound.

    Args:
      learning_rate: of Adam for θ, by default 3e-3; as published of plain gradient steps, 2e-3: 1e-4 for the sum of the
        gradient over a minibatch of 20 rows, of which it is the mean here.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ and of the baseline; by default as that of θ, as published of a fifth of the
        rate.
      baseline_units: hidden units of the baseline that depends on the data; the paper has 100.
      decay: of the running mean and variance of the signal; the paper has 0.8.
      as_published: whether what is not given is as published, see the module's docstring.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    theta, phi = _optimizers(learning_rate, optimizer, as_published, _plain, 2e-3)
    return triple(MAP(optimizer=theta), NAIS(num_samples, "uniform"), NVIL(phi, baseline_units, decay))


def vae(
    learning_rate: LearningRate | None = None,
    num_samples: int = 1,
    optimizer: OptimizerLike | None = None,
    as_published: bool = False,
) -> dict[str, Any]:
    """The variational autoencoder: both networks climb the evidence lower bound; continuous z.

    Args:
      learning_rate: of Adam for θ, by default 3e-3; as published of Adagrad, 0.01, or 0.02 or 0.1, whichever learns
        fastest.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ; by default as that of θ.
      as_published: whether what is not given is as published, see the module's docstring.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    theta, phi = _optimizers(learning_rate, optimizer, as_published, _adagrad, 0.01)
    return triple(MAP(optimizer=theta), NAIS(num_samples, "uniform"), IWAE(phi, bound="elbo"))


def iwae(
    learning_rate: LearningRate | None = None,
    num_samples: int = 5,
    optimizer: OptimizerLike | None = None,
    as_published: bool = False,
) -> dict[str, Any]:
    """The importance weighted autoencoder: both networks climb the bound of K samples; continuous z.

    Args:
      learning_rate: of Adam for θ, by default 3e-3; as published 1e-3, a rate that falls to a tenth in the end,
        and ε = 1e-4.
      num_samples: K; the paper has 1, 5 and 50.
      optimizer: Keras optimizer of φ; by default as that of θ.
      as_published: whether what is not given is as published, see the module's docstring.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    theta, phi = _optimizers(learning_rate, optimizer, as_published, _with_large_epsilon, 1e-3)
    return triple(MAP(optimizer=theta), NAIS(num_samples), IWAE(phi))


def _optimizers(learning_rate, optimizer, as_published, published, published_rate):
    """Those of θ and φ.

    Args:
      learning_rate: of the method, or None.
      optimizer: of φ, or None.
      as_published: whether what is not given is as published.
      published: function from a rate to both as published.
      published_rate: what it is given where there is no learning rate.
    """
    rate = checks.learning_rate(given(learning_rate, 3e-3, published_rate, as_published))
    theta, phi = published(rate) if as_published else (adam(None, rate), adam(None, rate))
    return theta, phi if optimizer is None else optimizer


def _with_momentum(rate):
    """φ at twice the rate: the paper adds the two updates of which `WakeSleep` has the mean."""
    checks.positive_number("learning_rate", rate)  # no schedule, of which there is no multiple
    return keras.optimizers.SGD(rate, momentum=0.95), keras.optimizers.SGD(2 * rate, momentum=0.95)


def _plain(rate):
    checks.positive_number("learning_rate", rate)
    return keras.optimizers.SGD(rate), keras.optimizers.SGD(rate / 5)


def _adagrad(rate):
    return keras.optimizers.Adagrad(rate), keras.optimizers.Adagrad(rate)


def _with_large_epsilon(rate):
    return keras.optimizers.Adam(rate, epsilon=1e-4), keras.optimizers.Adam(rate, epsilon=1e-4)
