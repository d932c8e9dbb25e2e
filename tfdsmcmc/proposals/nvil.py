"""The score-function gradient of the evidence lower bound, with learnt baselines.

    L(x) = E_q[log p(x, z; θ) − log q(z given x; φ)] ≤ log p(x)
    ∇_φ L(x) = E_q[l ∇_φ log q(z given x; φ)],      l = log p(x, z) − log q(z given x) − C_ψ(x) − c
    φ ascends mean l/s ∇_φ log q(z given x; φ),      ψ ascends mean l/s ∇_ψ C_ψ(x),      s = max(1, √v)

It needs no reparametrisation, so it is for discrete latent variables too. Whatever does not depend on z may be taken
from the signal, since E_q[∇ log q] = 0: the network C_ψ learns by least squares to foresee it, and c and v are the
running mean and variance of l + c over rows, each as often as it counts. All of them are those of the steps before, not
of the present draws. The paper updates c and v first, with the very minibatch that they then centre and scale; used
afterwards, as here, the gradient is exactly ∇_φ L / s in expectation, with an s that is known.

Source: Mnih and Gregor, "Neural variational inference and learning in belief networks", ICML 2014 (algorithm 1; without
its signals of each layer).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.proposals.base import Proposal, fixed, number_of_samples
from tfdsmcmc.rows import as_rows, mean_over_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, OptimizerLike, Seed, TensorLike, WeightedCompletions, WeightedLatents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


@keras.saving.register_keras_serializable("tfdsmcmc")
class NVIL(Proposal):
    """Raises the evidence lower bound in φ by the score function, with baselines that reduce its variance.

    It draws for itself, K as many as the latents hold, and weights them equally.

    Args:
      optimizer: Keras optimizer of φ and ψ, or its name.
      baseline_units: tanh units of the one hidden layer of C_ψ; 0 for no baseline that depends on x.
      decay: of the running mean and variance, in [0, 1).
      seed: integer seed of the first ψ.

    Attributes:
      mean: variable c.
      variance: variable v.

    Raises:
      ValueError: if an argument is out of range.

    Example:

    >>> import keras, tfdsmcmc as ds
    >>> proposal = ds.proposals.NVIL(keras.optimizers.Adam(3e-4), baseline_units=50)
    >>> proposal.build(784)
    >>> [tuple(variable.shape) for variable in proposal.trainable_variables]
    [(784, 50), (50,), (50,)]
    """

    takes_weights = True

    def __init__(self, optimizer: OptimizerLike = "adam", baseline_units: int = 100, decay: float = 0.8, seed: int = 0):
        if not checks.nonnegative_number("decay", decay) < 1:
            raise ValueError(f"decay must lie in [0, 1). Received: decay={decay!r}")
        super().__init__(optimizer)
        self.baseline_units: int = checks.nonnegative_integer("baseline_units", baseline_units)
        self.decay: float = float(decay)
        self.seed: int = checks.nonnegative_integer("seed", seed)
        self.units: int | None = None
        self._psi = []
        # not Keras variables: while θ is set by a stateless scope, those would not be assigned
        self.mean: tf.Variable = tf.Variable(0.0, trainable=False, name="signal_mean")
        self.variance: tf.Variable = tf.Variable(0.0, trainable=False, name="signal_variance")

    def build(self, units: int) -> None:
        """Creates ψ: A (D, H) and a (H,) of the hidden layer and b (H,) of the output, which starts at 0.

        Args:
          units: D, the width of the data.

        Raises:
          ValueError: if ψ has been created for another width.
        """
        units = checks.positive_integer("units", units)
        if self.units not in (None, units):
            raise ValueError(f"NVIL was built for data of width {self.units}. Received: units={units}")
        if self.units is None and self.baseline_units:
            shape = (units, self.baseline_units)
            kernel = random.normal(shape, self.seed) / math.sqrt(units)
            zeros = tf.zeros([self.baseline_units])
            names = ("baseline_kernel", "baseline_bias", "baseline_output")
            self._psi = [keras.Variable(value, name=name) for value, name in zip((kernel, zeros, zeros), names)]
        self.units = units

    @property
    def trainable_variables(self) -> list[keras.Variable]:
        return list(self._psi)

    @property
    def variables(self) -> list[keras.Variable | tf.Variable]:
        return [*self._psi, self.mean, self.variance]

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """mean_B mean_K of l/s (log q + C_ψ) with l/s held fixed; then c and v take in the present draws.

        Its gradient means something, its value does not.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D).
          latents: `WeightedLatents`, of which only K is used.
          seed: int32 tensor of shape (2,).

        Raises:
          ValueError: if `build` has not been called, or for data of another width.
        """
        rows = as_rows(x).floats()
        x, seen = rows.plain, recognition.seen(rows)
        shape = tuple(seen.shape)
        if self.units is None or shape[-1] != self.units:
            raise ValueError(f"Call build with the width of the data, not {self.units}. Received: shape={shape}")
        z = fixed(recognition.sample(x, number_of_samples(latents), seed))
        log_q = recognition.log_prob(z, x)
        baseline = self.baseline(seen)
        foreseen = tf.stop_gradient(generative.log_joint(x, z) - log_q - baseline)
        signal = (foreseen - self.mean) / tf.maximum(1.0, tf.sqrt(self.variance))
        self._take_in(foreseen, rows.weight)
        return mean_over_rows(signal * (log_q + baseline), x)

    def baseline(self, x: TensorLike) -> tf.Tensor:
        """C_ψ(x) = tanh(x A + a) b, (B,); its constant is c."""
        if not self._psi:
            return tf.zeros(tf.shape(x)[:1])
        kernel, bias, output = self._psi
        return tf.linalg.matvec(tf.tanh(tf.matmul(x, kernel.value) + bias.value), output.value)

    def get_config(self) -> Config:
        own = {"baseline_units": self.baseline_units, "decay": self.decay, "seed": self.seed}
        return {**super().get_config(), **own}

    def _take_in(self, values, weight):
        """Values (K, B), of rows that count as often as the weight says, (B, 1), or once each where that is None."""
        counts = tf.ones_like(values) if weight is None else tf.broadcast_to(weight[:, 0], tf.shape(values))
        mean, variance = tf.nn.weighted_moments(values, [0, 1], counts)
        # neither a row of probability 0 nor a minibatch of rows that do not count may spoil all steps to come
        usable = tf.math.is_finite(mean + variance) & (tf.reduce_sum(counts) > 0)
        for variable, present in ((self.mean, mean), (self.variance, variance)):
            present = tf.where(usable, present, variable)
            variable.assign(self.decay * variable + (1.0 - self.decay) * present)
