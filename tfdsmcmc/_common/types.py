"""What annotations call the types that rooms share, and the named tuples that cross rooms.

Shapes: data B, samples K, chains C lead; units last. `z` is a list of tensors (…, H), nearest to the data first.

TensorFlow Probability loads its classes when they are used, so that a type checker knows none of them: `Distribution`
says what the package asks of one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol, TypeAlias

import tensorflow as tf

if TYPE_CHECKING:
    import os

    import keras
    import numpy as np
    from numpy.typing import ArrayLike

# numbers and tensors
Nest: TypeAlias = Any  # tensors within lists, tuples and dicts
KernelResults: TypeAlias = Any  # a named tuple of tensors, each kernel its own: of `step`, `skipped_steps` and others
GradientFn: TypeAlias = Callable[..., Nest]  # called as gradient_fn(*state_parts, seed=seed)
Array: TypeAlias = "np.ndarray | tf.Tensor"  # of NumPy outside of a program, a tensor inside
Number: TypeAlias = "float | np.number[Any] | tf.Tensor"  # a number, or a tensor that holds one
Weight: TypeAlias = "tf.Tensor | tf.Variable"  # a variable, or in a program what stands for it
TensorLike: TypeAlias = "tf.Tensor | tf.Variable | keras.Variable | ArrayLike"  # what TensorFlow takes for a tensor
Shape: TypeAlias = "Sequence[int | np.integer[Any] | tf.Tensor | None] | np.ndarray | tf.Tensor | tf.TensorShape"
DType: TypeAlias = "tf.DType | str | type[np.generic] | np.dtype[Any]"
Index: TypeAlias = "slice | Sequence[int] | np.ndarray"  # some of the rows, in any order
ThetaAndPhi: TypeAlias = "Sequence[Sequence[TensorLike]]"  # the weights of both networks, a pair of lists
Seed: TypeAlias = "int | np.integer[Any] | Sequence[int] | np.ndarray | tf.Tensor | keras.random.SeedGenerator"

# what users pass
FilePath: TypeAlias = "str | os.PathLike[str]"
Config: TypeAlias = dict[str, Any]  # arguments from which Keras makes the object again
LearningRate: TypeAlias = "float | tf.Tensor | keras.optimizers.schedules.LearningRateSchedule"
OptimizerLike: TypeAlias = "keras.optimizers.Optimizer | str"  # an optimizer, or Keras' name of one
Callbacks: TypeAlias = "Sequence[keras.callbacks.Callback] | keras.callbacks.Callback | keras.callbacks.CallbackList"
Verbose: TypeAlias = 'int | Literal["auto"]'
Logs: TypeAlias = dict[str, Any]  # metrics, as Keras hands them to callbacks
Evaluation: TypeAlias = Any  # a list of numbers, or where `return_dict` is true a dict of them

# names that users write
Average: TypeAlias = Literal["units", "draws", "weights", "weights_and_start", "units_and_start", "start"]
AverageChoice: TypeAlias = 'Literal["auto"] | Average'  # the first leaves it to the data
Integrator: TypeAlias = Literal["splitting", "euler"]
KernelName: TypeAlias = Literal["map", "preconditioned_sgld", "sghmc", "sgld", "sgnht"]
LatentsName: TypeAlias = Literal["gibbs", "nais"]
ProposalName: TypeAlias = Literal["iwae", "nvil", "sleep", "wake", "wake_sleep"]
MethodName: TypeAlias = Literal[
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


class Distribution(Protocol):
    """A distribution as TensorFlow Probability has them: axes of the batch lead, those of the event follow."""

    @property
    def dtype(self) -> tf.DType: ...

    @property
    def batch_shape(self) -> tf.TensorShape: ...

    @property
    def event_shape(self) -> tf.TensorShape: ...

    def sample(self, sample_shape: Shape = (), seed: Seed | None = None) -> tf.Tensor:
        """Draws of the shape sample_shape + batch_shape + event_shape."""
        ...

    def log_prob(self, value: TensorLike) -> tf.Tensor:
        """The log-density of values, of the shape of their batch."""
        ...

    def prob(self, value: TensorLike) -> tf.Tensor:
        """The density of values."""
        ...

    def mean(self) -> tf.Tensor:
        """The mean of a draw."""
        ...

    def variance(self) -> tf.Tensor:
        """The variance of each entry of a draw."""
        ...

    def entropy(self) -> tf.Tensor:
        """The entropy in nats."""
        ...


class WeightedLatents(NamedTuple):
    """Draws of the latent variables given the data, with their weights.

    Attributes:
      z: list of tensors (K, B, H_l), nearest to the data first.
      log_weights: (K, B), up to a constant for each row the logarithms of the weights that gradients give the draws:
        log p(x, z) − log q(z given x) for importance samples; zeros where all draws weigh alike.
      log_likelihood: (B,), an estimate of log p(x) to show beside the learning, or None: then log (1/K) Σ_k w_k is.
    """

    z: list[tf.Tensor]
    log_weights: tf.Tensor
    log_likelihood: tf.Tensor | None = None


class WeightedCompletions(NamedTuple):
    """Draws of the latent variables and of the missing entries of the data, with their weights.

    Attributes:
      x: (K, B, D), the data with draws in the gaps; `Rows` where they have a context.
      z, log_weights, log_likelihood: as of `WeightedLatents`.
    """

    x: Nest
    z: list[tf.Tensor]
    log_weights: tf.Tensor
    log_likelihood: tf.Tensor | None = None


class LatentSampler(Protocol):
    """What draws the latent variables given the data, as a `latents.Latents` does."""

    @property
    def num_samples(self) -> int:
        """K, the draws for each row."""
        ...

    @property
    def weights_all_alike(self) -> bool:
        """Whether draws of the recognition network itself come with equal weights."""
        ...

    def draw(
        self,
        generative: Any,
        recognition: Any,
        x: Any,
        seed: Seed,
        carry: Sequence[tf.Tensor] | None = None,
    ) -> tuple[WeightedLatents | WeightedCompletions, list[tf.Tensor] | None]:
        """Draws of z with their weights, and what the next call takes as its `carry`."""
        ...
