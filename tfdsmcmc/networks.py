"""Networks of stochastic layers, each the parent of the next.

    generative     p(x, z; θ) = p(z_L) Π_l p(z_l given z_{l+1}) p(x given z_1)
    recognition    q(z given x; φ) = q(z_1 given x) Π_l q(z_{l+1} given z_l)

Everywhere `z` is a list, nearest to the data first: [z_1, …, z_L]. Data x are a tensor, or `Rows` where entries are
missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.layers import StochasticLayer
from tfdsmcmc.rows import Context, Rows, as_rows
from tfdsmcmc.supports import Real

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Seed, TensorLike
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support


def evaluated_at(variables: Iterable[keras.Variable], values: Iterable[TensorLike]) -> keras.StatelessScope:
    """A context in which Keras variables read as the given tensors; the variables themselves stay as they are."""
    return keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True)))


class _Network(keras.layers.Layer):
    """A list of stochastic layers, each the parent of the next."""

    layers: list[StochasticLayer]
    _fewest = 1

    def __init__(self, layers: Sequence[StochasticLayer], name: str | None = None, **kwargs: Any):
        layers = list(layers) if isinstance(layers, (list, tuple)) else layers
        fits = isinstance(layers, list) and len(layers) >= self._fewest
        if not fits or not all(isinstance(layer, StochasticLayer) for layer in layers):
            raise ValueError(
                f"{type(self).__name__} takes a list of stochastic layers, at least {self._fewest}. "
                f"Received: layers={layers!r}"
            )
        if len({id(layer) for layer in layers}) < len(layers):
            raise ValueError(f"Each layer may stand in a network once. Received: layers={layers!r}")
        names = [layer.name for layer in layers]
        if len(set(names)) < len(names):  # weights are told apart by "layer/weight"
            raise ValueError(f"The layers of a network have different names; give them name=…. Received: {names}")
        super().__init__(name=name, **kwargs)
        self.layers = layers
        for i, layer in enumerate(layers):
            setattr(self, f"layer_{i}", layer)  # tf.train.Checkpoint does not look into Keras' lists

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        """Pairs (name, variable) of the trainable weights; a name is "layer/weight", as priors match them."""
        return [(f"{layer.name}/{v.name}", v) for layer in self.layers for v in layer.trainable_variables]

    def get_config(self) -> Config:
        layers = [keras.saving.serialize_keras_object(layer) for layer in self.layers]
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype_policy.name, "layers": layers}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        layers = [keras.saving.deserialize_keras_object(layer) for layer in config["layers"]]
        return cls(**{**config, "layers": layers})

    def _build_layers(self, parent_units):
        for layer in self.layers:
            if not layer.built:
                layer.build((None, parent_units))
            elif layer.parent_units != parent_units:
                raise ValueError(
                    f"Layer {layer.name!r} follows a layer of {parent_units} units but was built for another width. "
                    f"Received: parents of width {layer.parent_units}"
                )
            parent_units = layer.units


@keras.saving.register_keras_serializable("tfdsmcmc")
class GenerativeNetwork(_Network):
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
        rows = as_rows(x)
        values = _of_widths("x and z", [rows.values, *z], [self.units, *self.latent_units])
        parents = [*values[1:], self.top_parents(rows)]
        data, *latent = reversed(self.layers)
        likelihood = data_log_prob(data, rows._replace(values=values[0]), parents[0])
        terms = [layer.log_prob(value, above) for layer, value, above in zip(latent, values[1:], parents[1:])]
        return sum(terms, likelihood)

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
                f"parents: SBN, MLPBernoulli, MLPGaussian or Mixed. Received: {type(layer).__name__}"
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
        """
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
        return tf.while_loop(lambda i, _: i < num_draws, add, start)[1]

    def get_config(self) -> Config:
        return {**super().get_config(), "context": None if self.context is None else self.context.parts}


@keras.saving.register_keras_serializable("tfdsmcmc")
class RecognitionNetwork(_Network):
    """A proposal q(z given x), the layer nearest to the data first, top layer last.

    It is built when it first sees data, or when a model joins it with a generative network.

    Args:
      layers: list of stochastic layers; empty for a generative network without latent layers, such as a plain NADE.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `layers` is no list of stochastic layers, two have one name, or their sizes do not meet.
    """

    _fewest = 0
    support: Support = Real()  # a model sets it: that of its data layer, which says what is seen of a row

    @property
    def latent_units(self) -> list[int]:
        return [layer.units for layer in self.layers]

    def build(self, input_shape: Sequence[int | None]) -> None:
        self._build_layers(int(input_shape[-1]))
        self.built = True

    def sample(self, x: TensorLike | Rows, num_samples: int | tf.Tensor, seed: Seed) -> list[tf.Tensor]:
        """Draws z from q(z given x).

        Args:
          x: (B, D), a tensor or `Rows`.
          num_samples: K.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          List of tensors (K, B, H_l), nearest to the data first.
        """
        return self.sample_and_log_prob(x, num_samples, seed)[0]

    def sample_and_log_prob(
        self, x: TensorLike | Rows, num_samples: int | tf.Tensor, seed: Seed
    ) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Draws z from q(z given x); returns z, as `sample` does, and log q(z given x), (K, B)."""
        x = self.seen(x)
        seeds = tf.unstack(random.split(seed, len(self.layers)))
        # what the first layer computes from the data serves all samples
        parents, sample_shape, z = x, [num_samples], []
        total = tf.zeros([num_samples, tf.shape(x)[0]])
        for layer, layer_seed in zip(self.layers, seeds):
            parents, log_prob = layer.sample_and_log_prob(parents, layer_seed, sample_shape)
            sample_shape = []
            z.append(parents)
            total += log_prob
        return z, total

    def log_prob(self, z: Sequence[TensorLike], x: TensorLike | Rows) -> tf.Tensor:
        """log q(z given x; φ), (K, B) for z of shapes (K, B, H_l) and x of shape (B, D); zeros (B,) without layers.

        Raises:
          ValueError: if the number of latent layers or a width does not fit.
        """
        z = _of_widths("z", z, self.latent_units)
        x = self.seen(x)
        terms = [layer.log_prob(value, above) for layer, value, above in zip(self.layers, z, [x, *z[:-1]])]
        return sum(terms[1:], terms[0]) if terms else tf.zeros(tf.shape(x)[:1])

    def seen(self, x: TensorLike | Rows) -> tf.Tensor:
        """What the network sees of rows: their values, a constant in place of what is missing, and their context.

        Values of many sizes, such as counts, it sees as the support of the data says."""
        rows = as_rows(x)
        x = self.support.seen(tf.convert_to_tensor(rows.values))
        if rows.context is not None:
            leading = tf.concat([tf.shape(x)[:-1], tf.shape(rows.context)[-1:]], 0)
            x = tf.concat([tf.cast(x, tf.float32), tf.broadcast_to(rows.context, leading)], -1)
        if not self.built:
            self.build(tuple(x.shape))
        return x


def data_log_prob(layer: StochasticLayer, rows: Rows, parents: tf.Tensor) -> tf.Tensor:
    """log p(the observed entries of rows given parents) of a data layer."""
    if rows.complete:
        return layer.log_prob(rows.values, parents)
    return layer.observed_log_prob(rows.values, rows.observed, parents)


def _of_widths(names, values, widths):
    values = [tf.convert_to_tensor(value) for value in values]
    shapes = [tuple(value.shape) for value in values]
    if [shape[-1:] for shape in shapes] != [(width,) for width in widths]:
        raise ValueError(f"{names} must have the widths {widths}. Received: shapes {shapes}")
    return values
