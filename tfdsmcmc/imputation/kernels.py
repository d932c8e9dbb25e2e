"""Markov chains over (x_missing, z) whose stationary law is p(x_missing, z given x_observed; θ).

    gibbs         each unit of z_1, …, z_L in turn from its law given all the rest
    metropolis    z' ~ q(z given x), x with its present fillings, accepted with probability
                  min(1, p(x, z') q(z given x) / (p(x, z) q(z' given x)))

and then, in both, x_missing given z and x_observed. Where the units of the data layer are independent given z that is
an exact draw; `gibbs` then draws z given x_observed alone, with x_missing summed out, for a z that had to explain what
stands in the gaps, noise at first, would be slow to leave it. Where they are not, `gibbs` draws each missing unit in
turn given all other units, and `metropolis` proposes all of them at once by `complete`, with log w(x) =
Σ_{d observed} log p(x_d given x_<d, z), and accepts them with probability min(1, w(x')/w(x)).

Without the test of acceptance, z' ~ q(z given x) leads to another law unless q is the posterior: that is the
"pseudo-Gibbs" sampler of Rezende, Mohamed and Wierstra, "Stochastic backpropagation and approximate inference in deep
generative models", ICML 2014, which is biased. Chains start with some passes of it where the units of the data layer
are independent given z: all units are drawn at once then, so that a pass costs a small part of a sweep.

A state of a chain is (rows, z): `Rows` whose missing entries have their present fillings as values.

Source of the correction: Mattei and Frellsen, "Leveraging the exact likelihood of deep latent variable models", NeurIPS
2018. Of summing out: Liu, "The collapsed Gibbs sampler in Bayesian computations with applications to a gene regulation
problem", Journal of the American Statistical Association 89 (1994).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.imputation.sweep_plan import Move
from tfdsmcmc.rows import Rows
from tfdsmcmc.sweeps.gibbs import sweep_all_and_mean

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork


PASSES = 10  # of the pseudo-Gibbs sampler before a chain; `experiments.first_guess` compares them with none


def start(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    rows: Rows,
    seed: Seed,
    passes: int = PASSES,
) -> tuple[Rows, list[tf.Tensor]]:
    """A first state (rows, z): noise in the gaps and z from the recognition network, and then passes over both.

    Rows with nothing observed start with a draw from the model itself, which is an exact one.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      rows: (n, D), with gaps; the values in these have no influence.
      seed: int32 of shape (2,).
      passes: of the pseudo-Gibbs sampler; none where the units of the data layer depend on each other.
    """
    noise_seed, latent_seed, model_seed, pass_seed = tf.unstack(random.split(seed, 4))
    x = tf.where(rows.observed, rows.values, generative.support.noise(tf.shape(rows.values), noise_seed))
    z = [part[0] for part in recognition.sample(rows._replace(values=x), 1, latent_seed)]
    if passes := passes_of(generative, passes):
        x, z = _passed(generative, recognition, rows, x, z, pass_seed, passes)
    model_x, model_z = generative.sample(tf.shape(x)[0], model_seed, rows.context)
    some = tf.reduce_any(rows.observed, 1, keepdims=True)
    return rows._replace(values=tf.where(some, x, model_x)), [tf.where(some, *pair) for pair in zip(z, model_z)]


def passes_of(generative: GenerativeNetwork, passes: int = PASSES) -> int:
    """How many of the passes a chain starts with: none without latent layers, or where the data's units depend on each
    other."""
    return passes if generative.latent_units and generative.layers[-1].factorised else 0


def gibbs(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    rows: Rows,
    z: Sequence[tf.Tensor],
    seed: Seed,
) -> Move:
    """One sweep over all latent layers, from the data upwards, and the missing entries.

    Args:
      generative: `GenerativeNetwork` of binary latent layers.
      recognition: not used.
      rows: (n, D), with gaps and their present fillings.
      z: list of (n, H_l).
      seed: int32 of shape (2,).

    Returns:
      `Move`, with probabilities of missing bits that depend on each other.
    """
    x, z, mean = sweep_all_and_mean(generative, rows, z, seed)
    return Move(rows._replace(values=x), z, mean=mean)


def metropolis(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    rows: Rows,
    z: Sequence[tf.Tensor],
    seed: Seed,
) -> Move:
    """One proposal of z and one of the missing entries; arguments as for `gibbs`, any layers.

    Returns:
      `Move`, with the share of the proposals that was accepted.
    """
    latent_seed, data_seed = tf.unstack(random.split(seed))
    x, shares = rows.values, []
    if z:
        z, accepted = _move_latents(generative, recognition, rows._replace(observed=None), z, latent_seed)
        shares.append(accepted)
    x, accepted = _move_data(generative, rows, z, data_seed)
    if accepted is not None:
        shares.append(accepted)
    accepted = sum(shares) / len(shares) if shares else tf.ones(tf.shape(x)[:1])
    return Move(rows._replace(values=x), z, accepted)


KERNELS: dict[str, Callable[..., Any]] = {"gibbs": gibbs, "metropolis": metropolis}


class NetworkKernel(NamedTuple):
    """A kernel as a value, see `imputation.sweep_plan`; its parts are the generative and the recognition network.

    Attributes:
      name: "gibbs" or "metropolis".
    """

    name: str

    @property
    def proposes(self) -> bool:
        """Whether moves are proposed, and some of them rejected."""
        return self.name == "metropolis"

    def start(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        rows: Rows,
        seed: Seed,
    ) -> tuple[Rows, list[tf.Tensor]]:
        return start(generative, recognition, rows, seed)

    def sweep(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        rows: Rows,
        z: Sequence[tf.Tensor],
        seed: Seed,
    ) -> Move:
        return KERNELS[self.name](generative, recognition, rows, z, seed)

    def expected(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        rows: Rows,
        z: Sequence[tf.Tensor],
    ) -> tf.Tensor:
        return expected(generative, rows, z)

    def log_density(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        rows: Rows,
        z: Sequence[tf.Tensor],
    ) -> tf.Tensor:
        return generative.log_joint(rows._replace(observed=None), z)


def expected(generative: GenerativeNetwork, rows: Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
    """The values, with the mean given z in the gaps; their fillings where the units depend on each other."""
    x, data_layer = rows.values, generative.layers[-1]
    if not data_layer.factorised:
        return x
    return tf.where(rows.observed, x, data_layer.conditional_mean(x, generative.data_parents(rows, z)))


def _passed(generative, recognition, rows, x, z, seed, passes):
    """(x, z) after x_missing ~ p(x_missing given z) and z ~ q(z given x) in turn."""

    def draw_both(i, x, z):
        data_seed, latent_seed = tf.unstack(random.split(random.fold(seed, i)))
        parents = generative.data_parents(rows._replace(values=x), z)
        x = generative.layers[-1].complete(x, rows.observed, parents, data_seed)[0]
        return i + 1, x, [part[0] for part in recognition.sample(rows._replace(values=x), 1, latent_seed)]

    return loops.while_loop(lambda i, *_: i < passes, draw_both, (0, x, z), maximum_iterations=passes)[1:]


def _move_latents(generative, recognition, x, z, seed):
    proposal_seed, accept_seed = tf.unstack(random.split(seed))
    proposed, log_q = recognition.sample_and_log_prob(x, 1, proposal_seed)
    proposed, log_q = [part[0] for part in proposed], log_q[0]
    log_ratio = generative.log_joint(x, proposed) - log_q
    log_ratio -= generative.log_joint(x, z) - recognition.log_prob(z, x)
    accepted = _accepted(log_ratio, accept_seed)
    z = [tf.where(accepted[:, tf.newaxis], *pair) for pair in zip(proposed, z)]
    return z, tf.cast(accepted, x.values.dtype)


def _move_data(generative, rows, z, seed):
    """(x, which proposals were accepted); None for the second where each is an exact draw."""
    proposal_seed, accept_seed = tf.unstack(random.split(seed))
    x, observed = rows.values, rows.observed
    layer, parents = generative.layers[-1], generative.data_parents(rows, z)
    proposed, log_weight = layer.complete(x, observed, parents, proposal_seed)
    if layer.factorised:
        return proposed, None
    accepted = _accepted(log_weight - layer.completion_log_weight(x, observed, parents), accept_seed)
    return tf.where(accepted[:, tf.newaxis], proposed, x), tf.cast(accepted, x.dtype)


def _accepted(log_ratio, seed):
    return tf.math.log(random.open_uniform(tf.shape(log_ratio), seed)) < log_ratio
