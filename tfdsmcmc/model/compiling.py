"""`compile` of a deep generative model: it chooses the step, the optimizer of φ, and how many chains there are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from tfdsmcmc._common import checks
from tfdsmcmc.model import choices
from tfdsmcmc.model.steps import step_of, triple_of

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import KernelName, LatentsName, ProposalName
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel
    from tfdsmcmc.proposals.base import Proposal
    from tfdsmcmc.training.steps.step import Step
    from tfdsmcmc.training.steps.step_method import StepMethod


def compile(
    self: DeepGenerativeModel, kernel: StochasticGradientKernel | KernelName | None = None,
    latents: Latents | LatentsName | None = None,
    proposal: Proposal | ProposalName | Literal["auto"] | None = "auto", kernel_steps: int = 1,
    proposal_steps: int = 1, steps_per_execution: int | Literal["auto"] = 1, jit_compile: bool = True,
    evaluation_samples: int = 100, num_chains: int | Literal["auto"] | None = None, interleaved: bool = False,
    step: StepMethod | None = None,
) -> None:  # fmt: skip
    """Chooses how the weights are learnt, and begins a new chain at the present weights.

    Without a kernel, latents and a proposal the method is `methods.dsgnht_nais()`, three chains with a warm start
    each, or one where there are many weights or few updates. Where one of the three is given, the others are by
    default the simplest, and there is one chain: without a warm start it may stay near small random weights under a
    prior whose scales are learnt.

    The counts of steps and epochs go on from those of an earlier chain.

    With `num_chains` = C > 1, C chains over θ run in one program, in the time of C runs, compiled in that of one.
    Each has minibatches (of a `tf.data.Dataset` they share them), latent draws and noise of its own, and a
    recognition network with an optimizer of its own: hidden units play other roles in other chains. Metrics are
    means over the chains. The layers' variables are those of chain 0, which `evaluate`, `sample` and the validation
    of `fit` are of; `posterior.Collector` collects all. Chain 0 starts at the present weights, the others at fresh
    draws from the layers' initializers, so that R̂ can tell whether they meet: what an initializer sets to a
    constant starts equal. A chain that an earlier `compile` began goes on from where it stands; a frozen layer has
    the weights of chain 0 in all. Callbacks that set weights, such as `EarlyStopping(restore_best_weights=True)`,
    set those of chain 0.

    Args:
      kernel: transition kernel of θ, or "sgld", "preconditioned_sgld", "sghmc", "sgnht", "map" for one with its
        defaults; its temperature is that of the posterior, 1 unless it is to be tempered. "map" climbs the
        likelihood alone where the model was given no prior.
      latents: `Latents`, how z is drawn, or "nais", "gibbs".
      proposal: `Proposal`, how φ learns, or "wake", "sleep", "wake_sleep", "iwae", "nvil"; None if φ does not
        learn.
      kernel_steps: θ-updates a minibatch; with 0 only φ learns, or with a warning nothing. Above 1 a kernel that
        adapts to gradient noise runs too hot, with a warning.
      proposal_steps: φ-updates a minibatch, or `interleaved` after each θ-update; with 0 only θ learns.
      steps_per_execution: minibatches in one compiled call; "auto" for up to 50 of an epoch.
      jit_compile: whether to compile with XLA.
      evaluation_samples: importance samples a row in `evaluate` and in the validation of `fit`.
      num_chains: C, the Markov chains over θ; by default those of the method, or 1. "auto" is 1 where θ, as far as
        it learns, has more than 100,000 entries or the first `fit` plans fewer than 12,000 updates of θ, 2 below
        18,000, else 3: an update of C chains takes the time of C, and where it takes long, or a chain of so few
        has not climbed yet, more updates of one are worth more. That `fit` settles the number before its first
        step; until then there are as many as in a long run. Saved, loaded, resumed and fitted again, the run keeps
        it. Several chains of an earlier run stay. With a `step`, whose passes are few, "auto" is 3 whatever is
        planned, or 1 by the entries of θ.
      interleaved: whether as many φ-updates follow each θ-update of a minibatch, as published, instead of all of them.
      step: `training.steps.step_method.StepMethod`, a method that is no triple of kernel, latents and proposal, as
        `augmentation.PolyaGammaGibbs`; the arguments of a triple are left out then. φ does not learn:
        `refit_recognition` fits it at the θ that was learnt.

    Raises:
      ValueError: for an argument of another kind or out of range, or a generative network that is all frozen.

    Warns:
      UserWarning: where neither θ nor φ has updates; for several updates a minibatch by a kernel that adapts to the
        noise of the gradient.
    """
    triple = {
        "kernel": kernel, "latents": latents, "proposal": proposal, "kernel_steps": kernel_steps,
        "proposal_steps": proposal_steps, "interleaved": interleaved,
    }  # fmt: skip
    how = {"steps_per_execution": steps_per_execution, "jit_compile": jit_compile, "step": step}
    found = chosen(self, triple, evaluation_samples=evaluation_samples, num_chains=num_chains, **how)
    self._begin_run(*found)


class Chosen(NamedTuple):
    """What a run begins with; see `Learner._begin_run`.

    Attributes:
      step: of one chain.
      optimizer: of φ, or None.
      settings: dict of the arguments of `compile`, its parts made.
      chains_for: function (steps that the first fit plans, or None) → C, where that is open.
    """

    step: Step
    optimizer: keras.Optimizer | None
    settings: dict[str, Any]
    chains_for: Callable[[int | None], int] | None


def chosen(model: DeepGenerativeModel, triple: dict[str, Any], **others: Any) -> Chosen:
    """What the arguments of `compile` make of a model; nothing of it is changed.

    Args:
      model: `DeepGenerativeModel`.
      triple: dict of the arguments of a triple.
      **others: the other arguments of `compile`.

    Raises:
      ValueError: for an argument of another kind or out of range, or a generative network that is all frozen.
    """
    if not model.theta_variables:
        raise ValueError("At least one generative layer must be trainable. Received: no trainable weights")
    method, num_chains = others["step"], others["num_chains"]
    common = {
        "steps_per_execution": checks.positive_or_auto("steps_per_execution", others["steps_per_execution"]),
        "jit_compile": checks.jit_compile(others["jit_compile"]),
        "evaluation_samples": checks.positive_integer("evaluation_samples", others["evaluation_samples"]),
    }
    if num_chains is not None:
        num_chains = choices.check_chains(num_chains)
    if method is not None:
        choices.check_alone(method, triple)
        common["num_chains"] = 1 if num_chains is None else choices.chains_of(num_chains, model.theta_variables)
        step = method.step_for(model.generative, model.recognition, model.prior)
        return Chosen(step, None, {**triple, **choices.SIMPLEST, **common, "step": method}, None)
    parts, num_chains = choices.method_of(triple, num_chains)
    if choices.check_chains(num_chains) == "auto" and _has_chains(model.run):
        num_chains = model.run.num_chains  # none is thrown away by a shorter plan
    made = triple_of(**parts)
    step = step_of(made, model.generative, model.recognition, model.prior, common["jit_compile"])
    optimizer = None if made.proposal is None else made.proposal.optimizer
    settings = {**made._asdict(), **common, "num_chains": num_chains, "step": None}

    def chains_for(steps):
        updates = None if steps is None else steps * max(1, made.kernel_steps)
        return choices.chains_of("auto", model.theta_variables, updates)

    return Chosen(step, optimizer, settings, chains_for)


def _has_chains(run):
    """Whether there is a run of several chains that have moved."""
    return run is not None and int(run.steps) > 0 and run.num_chains > 1
