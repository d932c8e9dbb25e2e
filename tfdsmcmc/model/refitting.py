"""How a recognition network is fitted to a generative one that stays as it is."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.priors.patterns import without_others

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Verbose
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel
    from tfdsmcmc.proposals.base import Proposal
    from tfdsmcmc.rows.from_users import RowsLike


def refit_recognition(
    self: DeepGenerativeModel, x: RowsLike, epochs: int, batch_size: int = 100, verbose: Verbose = 0,
    latents: Latents | None = None, proposal: Proposal | None = None, num_chains: int | None = None,
) -> keras.callbacks.History:  # fmt: skip
    """Fits φ of each chain at its fixed θ with a fresh optimizer; no chain over θ moves.

    Args:
      x: what `fit` takes.
      epochs: passes over it.
      batch_size: B.
      verbose: as in Keras.
      latents: how z is drawn meanwhile; by default as compiled.
      proposal: how φ learns meanwhile; by default as compiled, or `proposals.Wake()` where it did not learn.
      num_chains: of how many chains, the first of which is the layers'; by default of all.

    Returns:
      `keras.callbacks.History`, as of `fit`.

    Raises:
      ValueError: before `compile`, or for more chains than there are.

    Warns:
      UserWarning: for φ without trainable weights.
    """
    self.fitting.check_compiled("refit_recognition")
    there = self.run.num_chains
    num_chains = checks.positive_integer("num_chains", there if num_chains is None else num_chains)
    if num_chains > there:
        raise ValueError(f"There are {there} chains over θ. Received: num_chains={num_chains}")
    settings = {**self.fitting.settings, "kernel_steps": 0, "num_chains": num_chains, "step": None}
    settings["proposal_steps"] = max(1, settings["proposal_steps"])
    settings["latents"] = settings["latents"] if latents is None else latents
    proposal = proposal or settings["proposal"] or "wake"
    if not isinstance(proposal, str):  # its optimizer belongs to the run: take a fresh one of the kind
        proposal = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(proposal))
    prior = without_others(self.prior, [name for name, _ in self.generative.named_weights])
    twin = type(self)(self.generative, self.recognition, prior, seed=self.seed)
    twin.fitting.stream = f"refit {int(self.run.refits)} after step {int(self.run.steps)}"
    epochs = checks.nonnegative_integer("epochs", epochs)
    learns = bool(self.recognition.trainable_variables)
    if not learns:
        told = "There is nothing to refit. Received: a recognition network without trainable weights"
        warnings.warn(told, stacklevel=3)
    with warnings.catch_warnings():
        if not learns:
            warnings.simplefilter("ignore")  # compile would say it of arguments that are not the caller's
        twin.compile(**{**settings, "proposal": proposal})
    source = self.source("x", x, gaps_are_filled=twin.run.step.fills_gaps)
    self.run.refits.assign_add(1)
    twin.run.move_to(self.run.weights[:num_chains])
    history = twin.fit(source, batch_size=batch_size, epochs=epochs, verbose=verbose)
    if num_chains > 1:
        self.run.move_to([*twin.run.weights, *self.run.weights[num_chains:]])
    return history
