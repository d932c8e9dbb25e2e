"""The configurational temperature of posterior samples, weight by weight.

    T_w = −(1/M) Σ_m θ_w · ∇_w log p(θ_m given X) / d_w

d_w the entries of the weight w, ∇ the gradient over all rows. By partial integration E[−θ_i ∂_i log p(θ given X)] = 1
for each entry of θ that follows the posterior, and T where it follows the posterior at temperature T. A chain that has
not arrived, or that a biased gradient drives, shows here while v²/η, which a thermostat holds, does not. The gradient
is an estimate by importance samples: few of them show the bias that the chain itself has seen, many the distance from
the posterior. Weights with shrinkage priors have their scales drawn anew given θ, as `draws.LogPrior` says: a draw of
them that still remembered where it began would be no draw of the chain's law, and T would not be 1.

Source: Wenzel et al., "How good is the Bayes posterior in deep neural networks really?", ICML 2020, appendix I.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks, compiling
from tfdsmcmc.diagnostics.draws import LogPrior
from tfdsmcmc.latents import NAIS
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike


class Temperature(NamedTuple):
    """A mean over posterior samples.

    Attributes:
      value: the mean.
      standard_error: of samples that are independent; too small where they are not.
    """

    value: float
    standard_error: float


def configurational_temperature(
    posterior: Posterior,
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 100,
    seed: Seed = 0,
    batch_size: int = 100,
) -> dict[str, Temperature]:
    """The configurational temperature of each weight, see the module.

    Args:
      posterior: `Posterior`.
      model: `DeepGenerativeModel` of its architecture; it is not changed.
      x: the training data, (n, D) or a source of rows; NaN is missing. Each row counts once: of samples that learnt
        with other weights of rows the temperature is not this one.
      num_samples: K, importance samples a row.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.

    Returns:
      Dict from the names of weights that have entries to `Temperature`.

    Raises:
      ValueError: for a model of another architecture, data that do not fit, or counts out of range.
    """
    posterior.check(model)
    contract.check_directed(model, "The configurational temperature", "Of others diagnostics.trace tells.")
    x, latents = kept(rows_to_estimate(model, x)), NAIS(num_samples)
    batch_size = checks.positive_integer("batch_size", batch_size)
    named = model.generative.named_weights
    if not named:
        raise ValueError("A temperature is of weights that are learnt. Received: a model whose layers are all frozen")
    names, variables = zip(*named)
    phi_variables = model.recognition.trainable_variables
    scales = LogPrior(model)

    @functools.partial(compiling.program, jit_compile=model.uses_xla)
    def likelihood(theta, phi, rows, seed):
        with (
            tf.GradientTape(watch_accessed_variables=False) as tape,
            evaluated_at([*variables, *phi_variables], [*theta, *phi]),
        ):
            with tape.stop_recording():
                draws, _ = latents.draw(model.generative, model.recognition, rows, seed)
                shares = tf.nn.softmax(draws.log_weights, axis=0)
            tape.watch(theta)
            total = tf.reduce_sum(shares * model.generative.log_joint(rows, draws.z))
        return tape.gradient(total, theta, unconnected_gradients="zero")

    @functools.partial(compiling.program, jit_compile=model.uses_xla)
    def prior(theta, auxiliary):
        with tf.GradientTape() as tape:
            tape.watch(theta)
            value = model.prior.log_prob(names, theta, auxiliary)
        return tape.gradient(value, theta, unconnected_gradients="zero")

    found = []
    for m, sample in enumerate(posterior.samples):
        theta, phi = ([tf.constant(part) for part in group] for group in (sample.theta, sample.phi))
        own = random.fold(seed, m)
        total = [part.numpy() for part in prior(theta, scales.scales(theta, own))]
        for b, rows in enumerate(x.batches(batch_size)):
            part = likelihood(theta, phi, rows.floats().plain, random.fold(random.stream(own, "rows"), b))
            total = [a + b.numpy() for a, b in zip(total, part)]
        found.append([-np.sum(w * g, dtype=np.float64) / max(1, w.size) for w, g in zip(sample.theta, total)])
    return {name: _mean(values) for name, values, v in zip(names, zip(*found), variables) if 0 not in v.shape}


def _mean(values):
    error = np.std(values, ddof=1) / len(values) ** 0.5 if len(values) > 1 else np.nan
    return Temperature(float(np.mean(values)), float(error))
