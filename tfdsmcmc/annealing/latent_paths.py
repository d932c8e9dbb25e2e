"""Paths of densities over the latent variables z of a network, from one that can be drawn from to the posterior.

With unnormalised densities f_β, f_1(z) = p(x, z; θ), and the law g of the first draw,

    "prior"         f_β = p(z) p(x given z)^β                    g = p(z)            log f_0/g = 0
    "recognition"   f_β = q(z given x)^(1 − β) p(x, z)^β         g = q(z given x)    log f_0/g = 0
    "weights"       f_β = p(x, z; βθ)                            g = p(z; 0)         log f_0/g = log p(x given z; 0)

At θ = 0 every layer of the package forgets its parents, so that log p(x given z; 0) is the same for each z and equals
log p(x; 0): the logits of SBN, DARN and MLPBernoulli are sums with factors from θ; those of NADE have a factor V or b;
the mean of MLPGaussian is 0 and its standard deviation exp(0). Layers of other kinds, or with weights that are not
trained and so not scaled, may depend on z: log f_0/g is taken at each z, which is right for them too.

All densities but "weights" are linear in β on the logarithmic scale.

A transition sweeps each binary layer once, from the data upwards, and takes one step of Hamiltonian Monte Carlo or of
the Metropolis-adjusted Langevin algorithm with all real layers together; networks with both take the two in turn.

Sources: Neal, "Annealed importance sampling", Statistics and Computing 11 (2001); Wu, Burda, Salakhutdinov and Grosse,
"On the quantitative analysis of decoder-based generative models", ICLR 2017 (from the prior); Salakhutdinov and Murray,
"On the quantitative analysis of deep belief networks", ICML 2008 (scaled weights, there of Boltzmann machines).
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.annealing.path import Path, difference
from tfdsmcmc.annealing.transitions import step
from tfdsmcmc.networks import data_log_prob, evaluated_at
from tfdsmcmc.rows import as_rows
from tfdsmcmc.sweeps.gibbs import generative_factors, recognition_factors, sweep

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.annealing.transitions import HMC, MALA
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.sweeps.gibbs import Factor

PathName: TypeAlias = Literal["prior", "recognition", "weights"]


class LatentPath(Path):
    """Densities f_β(z) for rows of data, with the networks' present weights; the state is the list of z.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (n, D) float32 or `Rows` of such values, the rows of all runs. Missing entries are summed out.
      kernel: `HMC` or `MALA`, of the real layers; None if all are binary.
      num_rows: of which x has copies; by default the rows of x.
    """

    generative: GenerativeNetwork
    recognition: RecognitionNetwork
    rows: Rows
    step_size: float | Literal["auto"] | None
    target_acceptance: float | None

    def __init__(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        kernel: HMC | MALA | None = None,
        num_rows: int | None = None,
    ):
        rows = as_rows(x)
        super().__init__(rows.values.shape[0], num_rows or rows.values.shape[0])
        self.generative, self.recognition, self.rows = generative, recognition, rows
        self._kernel = kernel
        if kernel is not None:
            self.step_size, self.target_acceptance = kernel.step_size, kernel.target_acceptance

    def at(self, beta: Number) -> contextlib.AbstractContextManager[Any]:
        """A context in which the layers have the weights that `factors` needs."""
        return contextlib.nullcontext()

    def factors(self, beta: Number) -> list[Factor]:
        """f_β as a product of layers' conditional distributions, to be used inside `at`."""
        raise NotImplementedError(f"{type(self).__name__} must define factors(beta).")

    def log_density(self, beta: Number, state: Nest) -> tf.Tensor:
        with self.at(beta):
            return self._log_density(beta, state)

    def increment(self, before: Number, after: Number, state: Nest) -> tf.Tensor:
        return (after - before) * self._slope(state)

    def move(
        self,
        beta: Number,
        state: Nest,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[Nest, tf.Tensor | None]:
        layers = self.generative.layers[-2::-1]
        binary = [i for i, layer in enumerate(layers) if layer.binary]
        real = [i for i, layer in enumerate(layers) if not layer.binary]
        *seeds, last = tf.unstack(random.split(seed, len(binary) + 1))
        values = [self.rows, *state]
        with self.at(beta):
            factors = self.factors(beta)
            for i, layer_seed in zip(binary, seeds):
                values[i + 1] = sweep(factors, values, i + 1, layer_seed)
            z = [tf.ensure_shape(value, part.shape) for value, part in zip(values[1:], state)]
            if not real:
                return z, None

            def log_density(*parts):
                trial = list(z)
                for i, part in zip(real, parts):
                    trial[i] = part
                return self._log_density(beta, trial)

            moved, acceptance = step(self._kernel, log_density, [z[i] for i in real], step_size, last)
        for i, part in zip(real, moved):
            z[i] = tf.ensure_shape(part, z[i].shape)
        return z, acceptance

    def _log_density(self, beta, z):
        """log f_β(z), inside `at`."""
        raise NotImplementedError(f"{type(self).__name__} must define _log_density(beta, z).")

    def _slope(self, z):
        """d log f_β(z) / dβ, where it is the same for all β."""
        raise NotImplementedError(f"{type(self).__name__} must define _slope(z) or increment(before, after, state).")

    def _log_joint(self, z):
        return self.generative.log_joint(self.rows, z)

    def _log_likelihood(self, z):
        return data_log_prob(self.generative.layers[-1], self.rows, z[0])


class PriorPath(LatentPath):
    """The likelihood comes in by degrees."""

    def start(self, seed: Seed) -> Nest:
        return self.generative.sample(self.num_runs, seed, self.rows.context)[1]

    def factors(self, beta: Number) -> list[Factor]:
        return generative_factors(self.generative, data_power=beta)

    def _log_density(self, beta, z):
        return self._log_joint(z) - (1.0 - beta) * self._slope(z)

    def _slope(self, z):
        return self._log_likelihood(z)


class RecognitionPath(LatentPath):
    """The geometric path from the recognition network to the joint density."""

    def start(self, seed: Seed) -> Nest:
        return [part[0] for part in self.recognition.sample(self.rows, 1, seed)]

    def factors(self, beta: Number) -> list[Factor]:
        joint = generative_factors(self.generative, beta)
        return [*joint, *recognition_factors(self.recognition, 1.0 - beta)]

    def _log_density(self, beta, z):
        return self.recognition.log_prob(z, self.rows) + beta * self._slope(z)

    def _slope(self, z):
        return self._log_joint(z) - self.recognition.log_prob(z, self.rows)


class WeightsPath(LatentPath):
    """The weights of the generative network grow from 0."""

    def __init__(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        kernel: HMC | MALA | None = None,
        num_rows: int | None = None,
    ):
        super().__init__(generative, recognition, x, kernel, num_rows)
        self._variables = generative.trainable_variables
        self._theta = [variable.value for variable in self._variables]

    def start(self, seed: Seed) -> Nest:
        with self.at(0.0):
            return self.generative.sample(self.num_runs, seed, self.rows.context)[1]

    def log_start(self, state: Nest) -> tf.Tensor:
        with self.at(0.0):
            return self._log_likelihood(state)

    def at(self, beta: Number) -> contextlib.AbstractContextManager[Any]:
        return evaluated_at(self._variables, [beta * value for value in self._theta])

    def factors(self, beta: Number) -> list[Factor]:
        return generative_factors(self.generative)

    def _log_density(self, beta, z):
        return self._log_joint(z)

    def increment(self, before: Number, after: Number, state: Nest) -> tf.Tensor:
        return difference(self.log_density(after, state), self.log_density(before, state))


PATHS: dict[PathName, type[LatentPath]] = {"prior": PriorPath, "recognition": RecognitionPath, "weights": WeightsPath}


def path_over_latents(
    name: PathName,
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    x: TensorLike | Rows,
    kernel: HMC | MALA | None = None,
    copies: int = 1,
) -> LatentPath:
    """The path of a name for `copies` of each row, one after the other.

    Args:
      name: one of `PATHS`.
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (n, D), a tensor or `Rows`; of x_observed are the densities of rows with missing entries.
      kernel: `HMC` or `MALA`, of the real layers; None if all are binary.
      copies: of all rows.
    """
    rows = as_rows(x).floats()
    tiled = rows.map(lambda part: tf.tile(part, [copies, 1]))
    return PATHS[name](generative, recognition, tiled, kernel, rows.values.shape[0])


def check_name(path: object) -> None:
    """Raises a ValueError for an unknown path."""
    checks.one_of("path", path, PATHS)
