"""Methods that climb to one θ by an optimizer."""

from __future__ import annotations

from tfdsmcmc.latents import NAIS
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.methods.parts import adam, triple
from tfdsmcmc.proposals import IWAE, NVIL, Sleep, WakeSleep


def rws(learning_rate=1e-3, num_samples=5, optimizer=None):
    """Reweighted wake-sleep: importance weights for θ, and for φ the mean of its wake and its sleep update.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return triple(_map(learning_rate), NAIS(num_samples), WakeSleep(adam(optimizer, learning_rate)))


def wake_sleep(learning_rate=1e-3, num_samples=1, optimizer=None):
    """Wake-sleep: θ learns from draws of q as they are, φ from dreams.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K, equally weighted; the paper has 1.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return triple(_map(learning_rate), NAIS(num_samples, "uniform"), Sleep(adam(optimizer, learning_rate)))


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
    proposal = NVIL(adam(optimizer, learning_rate), baseline_units, decay)
    return triple(_map(learning_rate), NAIS(num_samples, "uniform"), proposal)


def vae(learning_rate=1e-3, num_samples=1, optimizer=None):
    """The variational autoencoder: both networks climb the evidence lower bound; continuous z.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K, equally weighted.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    proposal = IWAE(adam(optimizer, learning_rate), bound="elbo")
    return triple(_map(learning_rate), NAIS(num_samples, "uniform"), proposal)


def iwae(learning_rate=1e-3, num_samples=5, optimizer=None):
    """The importance weighted autoencoder: both networks climb the bound of K samples; continuous z.

    Args:
      learning_rate: of Adam for θ.
      num_samples: K; the paper has 1, 5 and 50.
      optimizer: Keras optimizer of φ; by default Adam at the same rate.

    Returns:
      Arguments of `DeepGenerativeModel.compile`, a dict.
    """
    return triple(_map(learning_rate), NAIS(num_samples), IWAE(adam(optimizer, learning_rate)))


def _map(learning_rate):
    return MAP(optimizer=adam(None, learning_rate))
