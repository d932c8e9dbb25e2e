"""Deep belief networks: Boltzmann machines on top of each other, learnt one after the other."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, random
from tfdsmcmc.boltzmann import deep, sampling
from tfdsmcmc.boltzmann.deep_sweeps import directed, swept, widths_of
from tfdsmcmc.boltzmann.estimates import known_partition
from tfdsmcmc.boltzmann.exact import machine_of
from tfdsmcmc.boltzmann.lift import Lift
from tfdsmcmc.boltzmann.rbm import RBM
from tfdsmcmc.boltzmann.sampling import program
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.programs import batches
from tfdsmcmc.rows import rows_in_memory, source_of
from tfdsmcmc.streams import WeightSums

_AT_ONCE = 2000  # rows times draws in one call
_CHAINS = 200  # of imputations in one call


@keras.saving.register_keras_serializable("tfdsmcmc")
class DBN(keras.Model):
    """A deep belief network, see `boltzmann.deep` for its equations.

    Args:
      rbms: list of `RBM`, bottom first; each as wide as the one below has hidden units. They learn as they were
        compiled, with the defaults of `RBM.compile` where they were not. Those above the first learn from here on from
        rows of the data, drawn upwards anew in each step; a run that one was compiled for begins anew.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: for no machines, machines that do not fit on each other, or one machine twice.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(6, 4), ds.boltzmann.RBM(4, 3)])
    >>> histories = dbn.fit(np.eye(6), epochs=1, batch_size=3, verbose=0)
    >>> dbn.log_likelihood_bound(np.eye(6), num_samples=5).value.shape
    (6,)
    """

    binary_data = True

    def __init__(self, rbms, **kwargs):
        _check(rbms)
        super().__init__(**kwargs)
        self.rbms = list(rbms)
        for level, rbm in enumerate(self.rbms):
            rbm.learn_above(Lift(self.rbms[:level]) if level else None)
        self.built = True

    @property
    def units(self):
        """D."""
        return self.rbms[0].units

    @property
    def machines(self):
        """The present weights, a list of `Machine`, bottom first."""
        return [machine_of(rbm) for rbm in self.rbms]

    def tie(self, level):
        """Lets a machine start where the network stays as it was without it: W = W_below', b = a_below, a = b_below.

        With it the bound of the network is the log-likelihood of the one below, and what the machine learns raises it.

        Args:
          level: its place in `rbms`, at least 1; it has as many hidden units as the one below has visible ones.

        Raises:
          ValueError: for a place that there is not, or other widths.
        """
        if not 0 < checks.positive_integer("level", level) < len(self.rbms):
            raise ValueError(f"level is a place above the first machine. Received: level={level}")
        self._check_tie(level)
        below, rbm = self.rbms[level - 1 : level + 1]
        rbm.kernel.assign(tf.transpose(below.kernel.value))
        rbm.bias.assign(below.hidden_bias.value)
        rbm.hidden_bias.assign(below.bias.value)
        if rbm.run is not None and rbm.run.num_chains > 1:  # the variables are those of chain 0
            rbm.run.move_to([rbm.run.weights[0]] * rbm.run.num_chains)

    def _check_tie(self, level):
        below, rbm = self.rbms[level - 1 : level + 1]
        if rbm.hidden_units != below.units:
            raise ValueError(
                f"A tied machine has as many hidden units as the one below has visible ones, {below.units}. "
                f"Received: {rbm.hidden_units}"
            )

    def fit(self, x, *, epochs=1, callbacks=None, tied=False, **arguments):
        """Learns the machines one after the other, from below.

        Args:
          x: what `RBM.fit` takes.
          epochs: of each machine: an integer, or a list of them, one for each.
          callbacks: a list of lists of Keras callbacks, one for each machine, so that each has folders of its own. With
            `BackupAndRestore` in each an interrupted fit goes on bit for bit.
          tied: whether machines begin as `tie` has it, those that have learnt nothing so far.
          **arguments: of `RBM.fit`, for all machines.

        Returns:
          A list of `keras.callbacks.History`.

        Raises:
          ValueError: for data or counts that do not fit; nothing is changed then.
        """
        count = len(self.rbms)
        epochs = _one_each("epochs", epochs, count)
        callbacks = [None] * count if callbacks is None else _one_each("callbacks", callbacks, count)
        for number in epochs:
            checks.nonnegative_integer("epochs", number)
        for each in callbacks:
            if not (each is None or isinstance(each, (list, tuple, keras.callbacks.CallbackList))):
                raise ValueError(f"callbacks must be a list for each machine. Received: {type(each).__name__} for one")
        for level, rbm in enumerate(self.rbms):
            if rbm.lift != (Lift(self.rbms[:level]) if level else None):
                raise ValueError(
                    "A machine learns in one network, the last that it was put into. "
                    f"Received: the machine at place {level}, which is in another one"
                )
            if tied and level and (rbm.run is None or int(rbm.run.steps) == 0):
                self._check_tie(level)
        source = source_of("x", x, self.units, True, arguments.pop("mask", None), missing=False)
        self.rbms[0].check_rows(source)
        histories = []
        for level, rbm in enumerate(self.rbms):
            if rbm.run is None:
                rbm.compile(jit_compile=rbm.uses_xla)
            if tied and level and int(rbm.run.steps) == 0:
                self.tie(level)
            histories.append(rbm.fit(source, epochs=epochs[level], callbacks=callbacks[level], **arguments))
        return histories

    def log_likelihood_bound(self, x, num_samples=5, log_partition=None, seed=0, batch_size=100):
        """The variational lower bound of log p(x), of each row.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_samples: M, draws from Q for each row.
          log_partition: `LogPartition` of the topmost machine, or log Z as a number; by default exact, where one of its
            layers has at most 25 units.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`, with the error of log Z in that of each row and, undiminished, of the mean. An estimate of
          log Z that is too low makes the bound too high.

        Raises:
          ValueError: for data that do not fit, or where log Z is needed and not given.
        """
        num_samples, source, known = self._prepared(x, num_samples, log_partition)
        run, machines, parts = program(deep.bound_terms, self._uses_xla), self.machines, []
        size = self._rows_at_once(source, batch_size, num_samples)
        for rows, each in batches(source, size, random.stream(seed, "bound")):
            terms = run(machines, _floats(rows, size), num_samples, each).numpy()[:, : len(rows.values)]
            terms = terms.astype(np.float64)
            spread = terms.std(0, ddof=1) if num_samples > 1 else np.full(terms.shape[1], np.nan)
            if len(machines) == 1:
                spread = np.zeros(terms.shape[1])
            parts.append([terms.mean(0), spread / np.sqrt(num_samples)])
        value, error = (np.concatenate(part) for part in zip(*parts))
        return _normalised(value, error, np.full(len(value), float(num_samples)), known)

    def log_likelihood(self, x, num_samples=1000, log_partition=None, seed=0, batch_size=100):
        """Importance-sampling estimates of log p(x) with draws from Q: at least the bound in expectation.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_samples: K, draws for each row.
          log_partition: see `log_likelihood_bound`.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`; the effective sample size is that of the draws.

        Raises:
          ValueError: for data that do not fit, or where log Z is needed and not given.
        """
        num_samples, source, known = self._prepared(x, num_samples, log_partition)
        run, machines, parts = program(deep.log_weights, self._uses_xla), self.machines, []
        size = self._rows_at_once(source, batch_size, 1)
        for rows, each in batches(source, size, random.stream(seed, "log likelihood")):
            sums, values, left = WeightSums.of_nothing([size], tf.float32), _floats(rows, size), num_samples
            while left:
                count = min(left, max(1, _AT_ONCE // size))
                sums, _ = sums.add(run(machines, values, count, random.fold(each, left)))
                left -= count
            parts.append([part.numpy()[: len(rows.values)].astype(np.float64) for part in sums.estimate(num_samples)])
        value, error, ess = (np.concatenate(part) for part in zip(*parts))
        return _normalised(value, np.where(len(machines) == 1, 0.0, error), ess, known)

    def sample(self, num_samples, seed=0, steps=1000, probabilities=False):
        """Gibbs chains of the topmost machine, and one pass down from their ends.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,).
          steps: full Gibbs steps of each chain, from random bits.
          probabilities: True for p(v given h^1) in place of the bits.

        Returns:
          float32 array (n, D).

        Raises:
          ValueError: for arguments out of range, or weights that are not finite.
        """
        top_seed, down_seed = tf.unstack(random.split(random.stream(seed, "sample of a network")))
        if len(self.rbms) == 1:
            return self.rbms[0].sample(num_samples, top_seed, steps, probabilities)
        h = self.rbms[-1].sample(num_samples, top_seed, steps)
        v, means = program(deep.descended, self._uses_xla)(self.machines, h, down_seed)
        return (means if probabilities else v).numpy()

    def impute(self, x, mask=None, num_imputations=1, seed=0, steps=100):
        """Draws missing entries by Gibbs sweeps over all hidden units, observed entries held fixed.

        A sweep draws each unit of the lower hidden layers given all else, one after the other, as directed connections
        make them depend on each other; the topmost layer and the missing entries at once.

        Args:
          x: (n, D), missing entries NaN or, under a mask, anything.
          mask: (n, D) or (D,), True where an entry is observed.
          num_imputations: chains for each row.
          seed: integer, or int32 tensor of shape (2,).
          steps: sweeps of each chain, from random bits.

        Returns:
          float32 array (num_imputations, n, D); what is observed is as it was.

        Raises:
          ValueError: for data or arguments that do not fit.
        """
        num_imputations = checks.positive_integer("num_imputations", num_imputations)
        steps = checks.positive_integer("steps", steps)
        if len(self.rbms) == 1:
            return self.rbms[0].impute(x, mask, num_imputations, seed, steps)
        rows = rows_in_memory("x", x, self.units, True, mask)
        machines = self.machines
        directed(widths_of(machines))
        run, size = program(swept, self._uses_xla), max(1, _CHAINS // num_imputations)
        return sampling.imputed(run, machines, rows, num_imputations, seed, steps, size)

    def call(self, inputs):
        """A network is no function of its inputs: a ValueError names what there is instead."""
        raise ValueError(
            "Use log_likelihood_bound, log_likelihood or sample: a deep belief network is no function of its inputs. "
            f"Received: a call with {type(inputs).__name__}"
        )

    def get_config(self):
        return {"name": self.name, "rbms": [keras.saving.serialize_keras_object(rbm) for rbm in self.rbms]}

    @classmethod
    def from_config(cls, config):
        return cls(**{**config, "rbms": [keras.saving.deserialize_keras_object(rbm) for rbm in config["rbms"]]})

    @property
    def _uses_xla(self):
        return self.rbms[-1].uses_xla

    def _prepared(self, x, num_samples, log_partition):
        """(M, the source of x, `LogPartition`), checked."""
        num_samples = checks.positive_integer("num_samples", num_samples)
        source = source_of("x", x, self.units, True, missing=False)
        self.rbms[0].check_rows(source)
        return num_samples, source, known_partition(self.rbms[-1], log_partition)

    @staticmethod
    def _rows_at_once(source, batch_size, num_samples):
        batch_size = checks.positive_integer("batch_size", batch_size)
        return min(batch_size, source.num_rows, max(1, _AT_ONCE // num_samples))


def _floats(rows, size):
    return rows.padded(size).values.astype(np.float32)


def _normalised(value, error, effective, known):
    return LogLikelihood(
        value - known.value,
        np.hypot(error, known.standard_error),
        effective,
        shared_standard_error=known.standard_error,
    )


def _one_each(name, values, count):
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        return [values] * count
    if not isinstance(values, (list, tuple)) or len(values) != count:
        raise ValueError(f"{name} must be one for each of the {count} machines. Received: {name}={values!r}")
    return list(values)


def _check(rbms):
    kinds = [type(rbm).__name__ for rbm in rbms] if isinstance(rbms, (list, tuple)) else type(rbms).__name__
    if not isinstance(rbms, (list, tuple)) or not rbms or not all(isinstance(rbm, RBM) for rbm in rbms):
        raise ValueError(f"rbms must be a list of one RBM or more, bottom first. Received: {kinds}")
    if len({id(rbm) for rbm in rbms}) < len(rbms):
        raise ValueError("Each machine stands in one place. Received: one of them twice")
    for below, above in zip(rbms, rbms[1:]):
        if above.units != below.hidden_units:
            raise ValueError(
                "Each machine must be as wide as the one below has hidden units. "
                f"Received: {above.units} above {below.hidden_units}"
            )
