"""The generative network, p(x, z; θ) = p(z_L) Π_l p(z_l given z_{l+1}) p(x given z_1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.networks.network import Network, of_widths
from tfdsmcmc.rows import Context, Rows, as_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Seed, TensorLike
    from tfdsmcmc.layers import StochasticLayer
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support


@keras.saving.register_keras_serializable("tfdsmcmc")
class GenerativeNetwork(Network):
    """A directed model p(x, z), top layer first, data layer last.

    Args:
      layers: list of stochastic layers; the first has the context as its parents, or none.
      context: what a row is given, c, as the parents of the top layer: the number of real covariates, or a list of the
        numbers of states of categorical ones, [10] for a label of ten classes. None for a model of rows alone. A row
        is `Rows(x, context=c)` then, wherever rows are read, and `sample` takes a context.
      **kwargs: of `keras.layers.Layer`.

    Attributes:
      units: the width of the data.
      context: `rows.Context` of a model of rows given one, p(x, z given c); else None.
      seen_units: the width of what a recognition network sees of a row: its entries, and those of its context.
      latent_units: widths of the latent layers, nearest to the data first.

    Raises:
      ValueError: if `layers` is no list of stochastic layers, two have one name, or their sizes do not meet.

    Example:

    >>> import tfdsmcmc as ds
    >>> generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(3), ds.layers.SBN(5)])
    >>> x, z = generative.sample(7, seed=0)
    >>> [part.shape[-1] for part in z]
    [3, 2]
    >>> generative.log_joint(x, z).shape
    TensorShape([7])
    """

    def __init__(
        self, layers: Sequence[StochasticLayer], context: int | Sequence[int] | None = None, **kwargs: Any
    ):  # fmt: skip
        super().__init__(layers, **kwargs)
        self.context: Context | None = None if context is None else Context(context)
        self._build_layers(0 if self.context is None else self.context.units)
        self.built = True

    @property
    def units(self) -> int:
        return self.layers[-1].units

    @property
    def seen_units(self) -> int:
        return self.units + (0 if self.context is None else self.context.units)

    @property
    def latent_units(self) -> list[int]:
        return [layer.units for layer in reversed(self.layers[:-1])]

    @property
    def support(self) -> Support:
        """What values the entries of a row may have: those of the data layer."""
        return self.layers[-1].support

    def log_joint(self, x: TensorLike | Rows, z: Sequence[TensorLike]) -> tf.Tensor:
        """log p(x, z; θ); missing entries of x are summed out.

        Args:
          x: (…, units), a tensor or `Rows`.
          z: list of tensors (…, H_l), nearest to the data first; leading axes broadcast.

        Returns:
          Tensor of the broadcast batch shape, in nats.

        Raises:
          ValueError: if the number of latent layers or a width does not fit, or for missing entries of a data layer
            whose units depend on each other.
        """
        likelihood, *terms = self.log_prob_of_layers(x, z)
        return sum(terms, likelihood)

    def log_prob_of_layers(self, x: TensorLike | Rows, z: Sequence[TensorLike]) -> list[tf.Tensor]:
        """[log p(x given z_1), log p(z_1 given z_2), …, log p(z_L)], the terms of `log_joint`; arguments as there."""
        rows = as_rows(x)
        values = of_widths("x and z", [rows.values, *z], [self.units, *self.latent_units])
        parents = [*values[1:], self.top_parents(rows)]
        data, *latent = reversed(self.layers)
        likelihood = data_log_prob(data, rows._replace(values=values[0]), parents[0])
        terms = [layer.log_prob(value, above) for layer, value, above in zip(latent, values[1:], parents[1:])]
        return [likelihood, *terms]

    def top_parents(self, rows: TensorLike | Rows) -> tf.Tensor:
        """The parents of the top layer, (…, C): the context of the rows, or (0,) where there is none.

        Raises:
          ValueError: for rows without the context that they need.
        """
        if self.context is None:
            return tf.zeros([0])
        given = as_rows(rows).context
        if given is None:
            raise ValueError("Rows of this model have a context, Rows(x, context=…). Received: rows without")
        return tf.convert_to_tensor(given)

    def data_parents(self, rows: TensorLike | Rows, z: Sequence[tf.Tensor]) -> tf.Tensor:
        """The parents of the data layer, (n, H_1): z_1, or without latent layers the context, or nothing, (n, 0)."""
        if z:
            return z[0]
        return self.top_parents(rows) if self.context else tf.zeros([tf.shape(as_rows(rows).values)[0], 0])

    def check_gaps(self, rows: Rows | Source) -> None:
        """Raises a ValueError for rows with missing entries if the data layer's units depend on each other.

        Args:
          rows: `Rows`, or a source of rows.
        """
        layer = self.layers[-1]
        if not (rows.complete or layer.factorised):
            raise ValueError(
                "With incomplete rows likelihoods, validation and learning, unless its latents draw what is missing as "
                "in methods.dsgnht_gibbs(draw_missing=True), need a data layer whose units are independent given its "
                "parents: SBN, MLPBernoulli, MLPGaussian or Mixed. Received: "
                f"{type(layer).__name__}{'(dependent=True)' * bool(getattr(layer, 'dependent', False))}"
            )

    def sample(
        self, num_samples: int | tf.Tensor, seed: Seed, context: TensorLike | None = None
    ) -> tuple[tf.Tensor, list[tf.Tensor]]:
        """Ancestral samples.

        Args:
          num_samples: number of samples, an integer or a scalar tensor.
          seed: integer, or int32 tensor of shape (2,).
          context: (num_samples, C), what each is given; for a network of rows alone None.

        Returns:
          (x, z): x of shape (num_samples, units), z a list of (num_samples, H_l), nearest to the data first.

        Raises:
          ValueError: for a context of another number of rows, where both are known, or of a network that has none.
        """
        if context is not None:
            self._check_context(num_samples, context)
        seeds = tf.unstack(random.split(seed, len(self.layers)))
        top, *below = self.layers
        if self.context is None:
            values = [top.sample(tf.zeros([0]), seeds[0], [num_samples])]
        else:
            values = [top.sample(self.top_parents(Rows(None, context=context)), seeds[0])]
        for layer, layer_seed in zip(below, seeds[1:]):
            values.append(layer.sample(values[-1], layer_seed))
        x, *z = reversed(values)
        return x, z

    def _check_context(self, num_samples, context):
        if self.context is None:
            raise ValueError("A network of rows alone takes no context. Received: context of some rows")
        count, shape = tf.get_static_value(num_samples), tf.convert_to_tensor(context).shape
        if not shape.is_compatible_with([None if count is None else int(count), None]):
            raise ValueError(f"There is a context of each of {count} samples. Received: context of the shape {shape}")

    def mean_given_top(self, top: tf.Tensor, num_draws: int | tf.Tensor, seed: Seed) -> tf.Tensor:
        """E[x given z_L], the average of num_draws means of p(x given z_1), z_1 drawn down from z_L each time.

        Of a data layer that draws its units one by one, the means are of each given those drawn before it.

        Args:
          top: (n, H_L), z_L; (n, 0) for a network without latent layers.
          num_draws: of the layers below the top, an integer or a scalar tensor.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          Tensor (n, units).

        Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS
        2015, section 5.1, where draws of x are averaged.
        """
        *between, data = self.layers[1:] or self.layers
        seed = random.as_seed(seed)

        def add(i, mean):
            parents = top
            *seeds, data_seed = tf.unstack(random.split(random.fold(seed, i), len(between) + 1))
            for layer, layer_seed in zip(between, seeds):
                parents = layer.sample(parents, layer_seed)
            x = mean if data.factorised else data.sample(parents, data_seed)
            return i + 1, mean + (data.conditional_mean(x, parents) - mean) / tf.cast(i + 1, mean.dtype)

        start = tf.constant(0), tf.zeros([tf.shape(top)[0], self.units])
        return loops.while_loop(lambda i, _: i < num_draws, add, start)[1]

    def get_config(self) -> Config:
        return {**super().get_config(), "context": None if self.context is None else self.context.parts}


def data_log_prob(layer: StochasticLayer, rows: Rows, parents: tf.Tensor) -> tf.Tensor:
    """log p(the observed entries of rows given parents) of a data layer."""
    if rows.complete:
        return layer.log_prob(rows.values, parents)
    return layer.observed_log_prob(rows.values, rows.observed, parents)
