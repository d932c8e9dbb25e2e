"""How a method of learning a directed network, a triple of kernel, latents and proposal, becomes a step."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc._common import checks
from tfdsmcmc.mcmc.by_name import kernel_of
from tfdsmcmc.model import choices
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity
from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning

if TYPE_CHECKING:
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.proposals.base import Proposal


class Triple(NamedTuple):
    """A method; the fields are arguments of `DeepGenerativeModel.compile`, which describes them."""

    kernel: StochasticGradientKernel
    latents: Latents
    proposal: Proposal | None
    kernel_steps: int
    proposal_steps: int
    interleaved: bool


def triple_of(**given: Any) -> Triple:
    """The triple of arguments of `compile`, where parts may be names, checked.

    Raises:
      ValueError: for an argument of another kind or out of range.

    Warns:
      UserWarning: for more than one update a minibatch by a kernel that adapts to gradient noise.
    """
    proposal = given["proposal"]
    triple = Triple(
        kernel_of(given["kernel"]),
        choices.latents_of(given["latents"]),
        None if proposal is None else choices.proposal_of(proposal),
        checks.nonnegative_integer("kernel_steps", given["kernel_steps"]),
        checks.nonnegative_integer("proposal_steps", given["proposal_steps"]),
        checks.boolean("interleaved", given["interleaved"]),
    )
    kernel, kernel_steps = triple.kernel, triple.kernel_steps
    if kernel_steps > 1 and kernel.adapts_to_gradient_noise:
        warnings.warn(
            f"{type(kernel).__name__} goes by gradient noise that is drawn anew at each step. With "
            f"kernel_steps={kernel_steps} these share a minibatch, whose noise it cannot see: the chain is too "
            "wide, and a thermostat's kinetic temperature is 1 all the same. "
            "diagnostics.configurational_temperature shows it.",
            stacklevel=5,
        )
    return triple


def step_of(
    triple: Triple, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior, jit_compile: bool
) -> DoublyStochasticStep:
    """The step by which a triple learns two networks.

    Args:
      triple: `Triple`.
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      prior: of θ; left out where none was given and the kernel climbs to one θ.
      jit_compile: whether its programs are compiled with XLA.

    Raises:
      ValueError: for networks that the latents or the proposal do not suit.

    Warns:
      UserWarning: where neither θ nor φ has updates.
    """
    kernel, latents, proposal, kernel_steps, proposal_steps, interleaved = triple
    latents.check(generative)
    if proposal is not None:
        proposal.check(generative, recognition, latents)
    _check_learns(triple, recognition)
    prior = choices.prior_of(prior, kernel)
    estimator = FisherIdentity(generative, recognition, prior, latents)
    learning = None if proposal is None else RecognitionLearning(estimator, proposal, proposal_steps)

    def step_by(estimator, learning, climb=None, climbs=False):
        how = (kernel_steps, learning, interleaved, jit_compile, climb, climbs)
        return DoublyStochasticStep(generative, prior, estimator, kernel, *how)

    climb = None
    if latents.climbing is not None and kernel.climbs_first and kernel_steps:
        if proposal is not None:
            proposal.check(generative, recognition, latents.climbing)
        climber = FisherIdentity(generative, recognition, prior, latents.climbing)
        climb = step_by(climber, learning and learning.by(climber), climbs=True)
    return step_by(estimator, learning, climb)


def _check_learns(triple, recognition):
    phi = len(recognition.trainable_variables)
    if triple.kernel_steps or (triple.proposal is not None and triple.proposal_steps and phi):
        return
    proposal = None if triple.proposal is None else type(triple.proposal).__name__
    warnings.warn(
        "Nothing will learn: θ needs kernel_steps, and φ trainable weights, a proposal and proposal_steps. "
        f"Received: kernel_steps={triple.kernel_steps}, proposal={proposal}, "
        f"proposal_steps={triple.proposal_steps}, {phi} trainable weights of φ",
        stacklevel=6,
    )
