"""Prior densities of named weights.

    log p(θ) = Σ over weights w of Σᵢ log p_w(wᵢ)

Default: each weight has a scale of its own, drawn along with it, under a scale τ of the weights that leave its parent
unit, drawn too (`ThreeParameterBetaNormal(0.5, 1.5, 1.0, 0.015, True, global_scale_group="parent")`): the spike of a
horseshoe, tails of Student-t with 3 degrees of freedom, and units that are switched off by a small τ. Biases have a
Student-t prior with 4 degrees of freedom and scale 2.5. No fixed scale serves all data: where columns are many and rows
few a wide prior overfits, and a narrow one leaves hidden units unused. Nor does one scale for all the weights that
leave a unit: what the unit says of a few columns keeps its weights to all others wide (docs/study_appendix.md).
Connections within a DARN layer have a horseshoe, τ that of the layer. Published is `StudentT(2.2, 0.0, 0.09)` for all.

It is the default of what samples: with a kernel that climbs to one θ, `mcmc.MAP`, a model without a prior of its own
climbs the likelihood, as published methods do. Small random weights would draw small scales, and stay where they are.

Gaussian, Laplace and Student-t priors are `Normal`, `Laplace` and `StudentT` of `tfp.distributions`. A shrinkage prior,
such as `tfdsmcmc.priors.Horseshoe`, has auxiliary scales λ: log p(θ given λ) stands in the place of log p(θ), and draws
of λ given θ alternate with the steps of θ, so that θ follows the prior with λ integrated out. That is so for samplers
of the posterior itself: a kernel at another temperature than 1 tempers the law of θ given λ and not that of λ, and an
optimizer climbs beside draws of λ.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.priors import sweeps_together
from tfdsmcmc.priors.base import FlatPrior, IndependentPrior, WeightPrior
from tfdsmcmc.priors.horseshoe import Horseshoe
from tfdsmcmc.priors.shrinkage import ThreeParameterBetaNormal
from tfdsmcmc.priors.student_t import StudentTPrior

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Distribution, Seed, TensorLike

tfd = tfp.distributions

PriorLike: TypeAlias = "Distribution | WeightPrior | Mapping[str, Distribution | WeightPrior | None]"


def default_prior() -> dict[str, Distribution | WeightPrior]:
    """A scale for each weight, under one for those that leave a parent unit; Student-t biases."""

    def scales(group):  # by a + b = b + ½ = 2 a sweep draws sums of two exponential numbers, and rejects few
        return ThreeParameterBetaNormal(0.5, 1.5, 1.0, 0.015, learn_global_scale=True, global_scale_group=group)

    # lateral weights are many and few count; half of them have no effect and should not tell the scale of a row
    lateral = Horseshoe(1.0, minimum_scale=0.015, learn_global_scale=True)
    # a decoder's parents are its columns; a layer may have any name
    weights = {"lateral$": lateral, "decoder$": scales("unit"), "": scales("parent")}
    return {"bias$": tfd.StudentT(df=4.0, loc=0.0, scale=2.5), **weights}


@keras.saving.register_keras_serializable("tfdsmcmc")
class Prior:
    """Independent priors of the entries of named weights.

    Args:
      distribution: a scalar TFP distribution or a `WeightPrior`, such as a shrinkage prior, for every weight; or a dict
        from regular expressions to such or None (a flat prior). A weight takes the first pattern that is found in its
        name, such as "top/kernel" of a layer called "top". By default the module's.

    Attributes:
      is_default: whether none was given.

    Raises:
      ValueError: if `distribution` is neither, or a distribution is no scalar one, or its support is not all of ℝ.

    Example:

    >>> import tfdsmcmc as ds, tensorflow_probability as tfp
    >>> tfd = tfp.distributions
    >>> prior = ds.Prior({"kernel": tfd.Laplace(0.0, 0.1), "bias": None})
    >>> round(float(prior.log_prob(["top/kernel"], [[0.0, 0.0]])), 4)
    3.2189
    """

    patterns: dict[str, Distribution | WeightPrior | None]

    def __init__(self, distribution: PriorLike | None = None):
        self.is_default: bool = distribution is None
        spec = default_prior() if self.is_default else distribution
        self.patterns = dict(spec) if isinstance(spec, dict) else {"": spec}
        for pattern, member in self.patterns.items():
            _check(pattern, member)
        self._members = {pattern: _weight_prior(member) for pattern, member in self.patterns.items()}

    def log_prob(
        self,
        names: Sequence[str],
        values: Sequence[TensorLike],
        auxiliary: Sequence[TensorLike] = (),
    ) -> tf.Tensor:
        """log p(θ), or log p(θ given the auxiliary tensors) where weights have shrinkage priors; a scalar.

        Args:
          names: names of the weights.
          values: their tensors.
          auxiliary: flat list from `initial_auxiliary` or `update_auxiliary`.

        Raises:
          ValueError: if no pattern is found in a name, or `auxiliary` has another number of tensors than needed.
        """
        total = tf.zeros([])
        for member, value, own in self._with_auxiliary(names, values, auxiliary):
            total += tf.cast(member.log_prob(value, own), total.dtype)
        return total

    def initial_auxiliary(self, names: Sequence[str], values: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors to start from.

        Args:
          names: names of the weights.
          values: their tensors.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          Flat list of tensors; empty where no weight has a shrinkage prior.

        Raises:
          ValueError: if no pattern is found in a name.
        """
        return self._started("initial_auxiliary", names, values, seed)

    def draw_auxiliary(self, names: Sequence[str], values: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        """Auxiliary tensors all but drawn given the weights, to sweep on from; else as `initial_auxiliary`."""
        return self._started("draw_auxiliary", names, values, seed)

    def update_auxiliary(
        self,
        names: Sequence[str],
        values: Sequence[TensorLike],
        auxiliary: Sequence[TensorLike],
        seed: Seed,
    ) -> list[tf.Tensor]:
        """Draws auxiliary tensors by a Gibbs sweep that leaves their law given the weights invariant.

        Args:
          names: names of the weights.
          values: their tensors.
          auxiliary: flat list of the tensors so far.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          Flat list of tensors of the same shapes and types.

        Raises:
          ValueError: if no pattern is found in a name, or `auxiliary` has another number of tensors than needed.
        """
        triples = [triple for triple in self._with_auxiliary(names, values, auxiliary) if triple[2]]
        if not triples:
            return []
        together = [triple for triple in triples if sweeps_together.takes_numbers(triple[0])]
        seed, *seeds = tf.unstack(random.split(seed, 1 + len(triples) - len(together)))
        swept, seeds = iter(sweeps_together.updated(together, seed) if together else []), iter(seeds)
        found = []
        for member, value, own in triples:
            joint = sweeps_together.takes_numbers(member)
            found += next(swept) if joint else member.update_auxiliary(value, own, next(seeds))
        return found

    def check_gradients(self, names: Sequence[str]) -> None:
        """Raises a ValueError for a weight whose prior has no gradient that a kernel can follow."""
        for name in names:
            self._members[self.pattern_of(name)].check_gradient(name)

    def for_weight(self, name: str) -> Distribution | WeightPrior | None:
        """The distribution or shrinkage prior of the weight, or None where the prior is flat."""
        return self.patterns[self.pattern_of(name)]

    def _started(self, how, names, values, seed):
        """A flat list of auxiliary tensors, by the method of each weight's prior that is called `how`."""
        members = self._of(names, values)
        pairs = [(m, value) for m, value in zip(members, values) if m.auxiliary_count]
        seeds = random.split(seed, len(pairs)) if pairs else []
        return [part for i, (m, value) in enumerate(pairs) for part in getattr(m, how)(value, seeds[i])]

    def _of(self, names, values):
        checks.as_many("names", names, "values", values)
        return [self._members[self.pattern_of(name)] for name in names]

    def pattern_of(self, name: str) -> str:
        """The first pattern that is found in a name."""
        for pattern in self.patterns:
            if re.search(pattern, name):
                return pattern
        raise ValueError(f"No pattern of the prior is found in {name!r}. Received: patterns {list(self.patterns)}")

    def get_config(self) -> Config:
        patterns = {k: _to_config(d) for k, d in self.patterns.items()}
        return {"distribution": patterns, "is_default": self.is_default}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        prior = cls({k: _from_config(d) for k, d in config["distribution"].items()})
        prior.is_default = config.get("is_default", False)  # of earlier files it is not known
        return prior

    def _with_auxiliary(self, names, values, auxiliary):
        """Triples (prior of the weight, weight, list of the weight's auxiliary tensors)."""
        members = self._of(names, values)
        counts = [member.auxiliary_count for member in members]
        if len(auxiliary) != sum(counts):
            raise ValueError(
                f"These weights need {sum(counts)} auxiliary tensors of their shrinkage priors, as initial_auxiliary "
                f"and update_auxiliary give them. Received: {len(auxiliary)}"
            )
        ends = np.cumsum(counts)
        return [(m, v, list(auxiliary[end - n : end])) for m, v, n, end in zip(members, values, counts, ends)]


def _check(pattern, distribution):
    if not isinstance(pattern, str):
        raise ValueError(f"A prior's patterns are strings. Received: {pattern!r}")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"A prior's patterns are regular expressions ({error}). Received: {pattern!r}") from None
    if distribution is None or isinstance(distribution, WeightPrior):
        return
    if not isinstance(distribution, tfd.Distribution):
        raise ValueError(
            "A prior is a TFP distribution or a shrinkage prior, or a dict from name patterns to such. "
            f"Received: {type(distribution).__name__}" + (f" for the pattern {pattern!r}" if pattern else "")
        )
    if distribution.event_shape.rank != 0 or distribution.batch_shape.rank != 0:
        raise ValueError(f"A prior's distributions are scalar. Received: {distribution}")
    if not _is_of_all_reals(distribution):
        raise ValueError(f"A prior's distributions have a density on all real numbers. Received: {distribution}")


def _is_of_all_reals(distribution):
    """Whether a scalar distribution has a density on all of ℝ, by the map from ℝ onto its support where it has one."""
    if not distribution.dtype.is_floating or len(np.unique(distribution.sample(9, seed=random.as_seed(0)))) < 9:
        return False  # a discrete law repeats its values
    try:
        onto = distribution.experimental_default_event_space_bijector()
    except (NotImplementedError, TypeError):
        onto = None
    try:
        log_prob = distribution.log_prob(tf.constant([-1e4, -1.0, -1e-3, 1e-3, 1.0, 1e4], distribution.dtype))
    except (tf.errors.InvalidArgumentError, ValueError):  # with validate_args=True, of a part of ℝ
        return False
    if onto is None or np.isnan(log_prob[1:-1]).any():  # a mixture, or such as a scale below 0, which TFP takes
        return bool(tf.reduce_all(log_prob > -np.inf))
    low, below, centre, above, high = tf.unstack(onto.forward(tf.constant([-1e4, -1.0, 0.0, 1.0, 1e4], onto.dtype)))
    # an end of the support, where there is one, is nearly reached after a step of 1; the map may decrease
    steps = [tf.abs(value - centre) for value in (low, below, above, high)]
    return bool((steps[0] > 5 * steps[1]) & (steps[3] > 5 * steps[2]))


def _weight_prior(member):
    if isinstance(member, WeightPrior):
        return member
    return FlatPrior() if member is None else StudentTPrior.of(member) or IndependentPrior(member)


def _to_config(value):
    """Distributions and their parameters as plain data."""
    if isinstance(value, WeightPrior):
        return {"shrinkage": keras.saving.serialize_keras_object(value)}
    if isinstance(value, tfd.Distribution):
        name = type(value).__name__
        if getattr(tfd, name, None) is not type(value):
            raise ValueError(f"Only distributions of tfp.distributions can be saved. Received: {value}")
        return {"tfd": name, "parameters": {k: _to_config(v) for k, v in value.parameters.items()}}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_to_config(part) for part in value]
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, (np.ndarray, np.generic)) or tf.is_tensor(value) or isinstance(value, tf.Variable):
        array = np.asarray(value)
        return {"array": array.tolist(), "dtype": array.dtype.name}
    raise ValueError(f"A prior's parameters must be numbers or distributions to be saved. Received: {value!r}")


def _from_config(config):
    if isinstance(config, dict) and "shrinkage" in config:
        return keras.saving.deserialize_keras_object(config["shrinkage"])
    if isinstance(config, dict) and "tfd" in config:
        return getattr(tfd, config["tfd"])(**{k: _from_config(v) for k, v in config["parameters"].items()})
    if isinstance(config, dict):
        dtype = tf.as_dtype(config["dtype"])
        return tf.constant(config["array"], dtype) if "array" in config else dtype
    if isinstance(config, list):
        return [_from_config(part) for part in config]
    return config
