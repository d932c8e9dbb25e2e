"""TensorBoard: what the chain does, beside the metrics."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc.training.steps.chains import of_chain

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath, Logs


class TensorBoard(keras.callbacks.TensorBoard):
    """Keras' TensorBoard callback, with the state of the chain at the end of each epoch.

    Scalars "epoch_NAME" beside the metrics, among which is the kinetic temperature:

        log_prior              log p(θ), given the chain's own scales λ where weights have shrinkage priors; of
                               several chains log_prior_chain_0, log_prior_chain_1, …
        kernel_learning_rate   ℓ of the kernel at the chain's step, by its schedule where it has one
        learning_rate          of φ's optimizer, where φ learns

    Of several chains the metrics are means and the histograms are chain 0's.

    Args:
      log_dir: folder of the event files; training and validation have one each in it.
      histogram_freq: epochs from one histogram of every weight to the next; 0 for none.
      **kwargs: of `keras.callbacks.TensorBoard`; write_graph is False by default, as the model is no function of its
        inputs.

    Raises:
      ValueError: when training starts, for write_steps_per_second where φ does not learn: Keras counts its steps.

    Example:

    >>> import numpy as np, pathlib, tempfile, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.01), jit_compile=False)
    >>> board = ds.diagnostics.TensorBoard(tempfile.mkdtemp(), histogram_freq=5)
    >>> history = model.fit(np.eye(4), batch_size=2, epochs=1, verbose=0, callbacks=[board])
    >>> len(list(pathlib.Path(board.log_dir).glob("train/*tfevents*")))
    1
    """

    def __init__(self, log_dir: FilePath = "logs", histogram_freq: int = 0, **kwargs: Any):
        super().__init__(str(log_dir), histogram_freq, **{"write_graph": False, **kwargs})

    def on_train_begin(self, logs: Logs | None = None) -> None:
        if self.write_steps_per_second and self.model.optimizer is None:
            raise ValueError("Keras counts the steps of φ, which does not learn. Received: write_steps_per_second=True")
        super().on_train_begin(logs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        # a new dict: the history and other callbacks see the metrics alone
        super().on_epoch_end(epoch, {**(logs or {}), **_state_of(self.model)})


def _state_of(model):
    """The scalars of the run; none of methods without a kernel, such as those of augmentation."""
    run, names = model.run, [name for name, _ in model.named_weights]
    state = run.state
    if getattr(state, "kernel_results", None) is None:
        return {}
    results = state.kernel_results if run.num_chains == 1 else of_chain(state.kernel_results, 0)
    step = getattr(run.step, "one", run.step)
    values = {}
    with contextlib.suppress(KeyError):  # a kernel of one's own may have no rate
        values["kernel_learning_rate"] = float(step.kernel.learning_rate_of(results))
    for c, (theta, _) in enumerate(model.chain_weights()):
        own = state.auxiliary if run.num_chains == 1 else [part[c] for part in state.auxiliary]
        name = "log_prior" if run.num_chains == 1 else f"log_prior_chain_{c}"
        values[name] = float(step.prior.log_prob(names, [tf.convert_to_tensor(w) for w in theta], own))
    return values
