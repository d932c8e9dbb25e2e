"""How a deep generative model learns: `compile` of Keras, for Markov chains over the weights."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Literal

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.latents import NAIS
from tfdsmcmc.mcmc import MAP, StochasticGradientKernel
from tfdsmcmc.mcmc.by_name import kernel_of
from tfdsmcmc.model import choices
from tfdsmcmc.model.few_effective_samples import EffectiveSamples
from tfdsmcmc.training.fitting.learner import Learner
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity
from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning
from tfdsmcmc.training.steps.several_chains import SeveralChains

if TYPE_CHECKING:
    from tfdsmcmc._common.types import KernelName, LatentsName, ProposalName, Verbose
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.proposals.base import Proposal
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.steps.step_method import StepMethod


class Learning(Learner):
    """The part of `DeepGenerativeModel` that learns; it needs `generative`, `recognition`, `prior` and `seed`."""

    generative: GenerativeNetwork
    recognition: RecognitionNetwork
    prior: Prior

    @property
    def units(self) -> int:
        return self.generative.units

    @property
    def context(self) -> Context | None:
        return self.generative.context

    @property
    def support(self) -> Support:
        return self.generative.support

    @property
    def theta_variables(self) -> list[keras.Variable]:
        return self.generative.trainable_variables

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        return self.generative.named_weights

    @property
    def phi_variables(self) -> list[keras.Variable]:
        return self.recognition.trainable_variables

    @property
    def takes_gaps(self) -> bool:
        return self.generative.layers[-1].factorised

    def check_rows(self, rows: Rows | Source) -> None:
        self.generative.check_gaps(rows)

    def watchers(self) -> list[keras.callbacks.Callback]:
        latents, kernel = self._settings.get("latents"), self._settings.get("kernel")
        binary = bool(self.generative.latent_units) and all(layer.binary for layer in self.generative.layers)
        samples = isinstance(kernel, StochasticGradientKernel) and not isinstance(kernel, MAP)
        samples = samples and self._settings["kernel_steps"] > 0
        weighed = isinstance(latents, NAIS) and not latents.weights_all_alike and latents.num_samples >= 10
        return [EffectiveSamples(latents.num_samples)] if binary and samples and weighed else []

    def compile(
        self,
        kernel: StochasticGradientKernel | KernelName | None = None,
        latents: Latents | LatentsName | None = None,
        proposal: Proposal | ProposalName | Literal["auto"] | None = "auto",
        kernel_steps: int = 1,
        proposal_steps: int = 1,
        steps_per_execution: int | Literal["auto"] = 1,
        jit_compile: bool = True,
        evaluation_samples: int = 100,
        num_chains: int | Literal["auto"] | None = None,
        interleaved: bool = False,
        step: StepMethod | None = None,
    ) -> None:
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
          kernel_steps: θ-updates a minibatch; with 0 only φ learns. Above 1 a kernel that adapts to gradient noise runs
            too hot, with a warning.
          proposal_steps: φ-updates a minibatch; with 0 only θ learns.
          steps_per_execution: minibatches in one compiled call; "auto" for up to 50 of an epoch.
          jit_compile: whether to compile with XLA.
          evaluation_samples: importance samples a row in `evaluate` and in the validation of `fit`.
          num_chains: C, the Markov chains over θ; by default those of the method, or 1. "auto" is 3 where θ, as far as
            it learns, has up to 100,000 entries and the first `fit` plans 12,000 updates of θ or more, else 1: an
            update of C chains takes the time of C, and where it takes long, or a chain of so few has not climbed yet,
            more updates of one are worth more. That `fit` settles the number before its first step; until then there
            are as many as in a long run. Saved, loaded, resumed and fitted again, the run keeps it. Several chains of
            an earlier run stay.
          interleaved: whether φ-updates follow each θ-update of a minibatch, as published, instead of all of them.
          step: `training.steps.step_method.StepMethod`, a method that is no triple of kernel, latents and proposal, as
            `augmentation.PolyaGammaGibbs`; the arguments of a triple are left out then. φ does not learn:
            `refit_recognition` fits it at the θ that was learnt.

        Raises:
          ValueError: for an argument of another kind or out of range, or a generative network that is all frozen.
        """
        if not self.generative.trainable_variables:
            raise ValueError("At least one generative layer must be trainable. Received: no trainable weights")
        triple = {
            "kernel": kernel, "latents": latents, "proposal": proposal, "kernel_steps": kernel_steps,
            "proposal_steps": proposal_steps, "interleaved": interleaved,
        }  # fmt: skip
        common = {
            "steps_per_execution": checks.steps_at_once(steps_per_execution),
            "jit_compile": bool(jit_compile),
            "evaluation_samples": checks.positive_integer("evaluation_samples", evaluation_samples),
        }
        if num_chains is not None:
            num_chains = choices.check_chains(num_chains)
        if step is not None:
            choices.check_alone(step, triple)
            common["num_chains"] = 1 if num_chains is None else choices.chains_of(num_chains, self.theta_variables)
            made = step.step_for(self.generative, self.recognition, self.prior)
            self._begin(made, None, {**triple, **choices.SIMPLEST, **common, "step": step})
            return
        triple, num_chains = choices.method_of(triple, num_chains)
        several = self.run is not None and int(self.run.steps) > 0 and self.run.num_chains > 1
        if choices.check_chains(num_chains) == "auto" and several:
            num_chains = self.run.num_chains  # none is thrown away by a shorter plan
        common["num_chains"] = num_chains
        made, triple = self._step_of_triple(**triple, jit_compile=common["jit_compile"])
        optimizer = None if triple["proposal"] is None else triple["proposal"].optimizer
        self._begin(made, optimizer, {**triple, **common, "step": None})

    def _begin(self, step, optimizer, settings):
        """A run of the chains that there are; until "auto" is settled, of those that a long run would have."""
        chains = choices.chains_of(settings["num_chains"], self.theta_variables)
        self._begin_run(step if chains == 1 else SeveralChains(step, chains), optimizer, settings)

    def _settle_chains(self, steps, stored=None):
        if self._settings.get("num_chains") != "auto":
            return
        updates = None if steps is None else steps * max(1, self._settings["kernel_steps"])
        chains = stored or choices.chains_of("auto", self.theta_variables, updates)
        settings = {**self._settings, "num_chains": chains}
        if chains != self.run.num_chains:
            self._begin(getattr(self.run.step, "one", self.run.step), self.optimizer, settings)
        self._settings = settings

    def _step_of_triple(self, kernel, latents, proposal, kernel_steps, proposal_steps, interleaved, jit_compile):
        """(the step, the checked arguments as they are kept)."""
        kernel = kernel_of(kernel)
        latents = choices.latents_of(latents)
        proposal = None if proposal is None else choices.proposal_of(proposal)
        kernel_steps = checks.nonnegative_integer("kernel_steps", kernel_steps)
        proposal_steps = checks.nonnegative_integer("proposal_steps", proposal_steps)
        if not isinstance(interleaved, bool):
            raise ValueError(f"interleaved must be True or False. Received: interleaved={interleaved!r}")
        if kernel_steps > 1 and kernel.adapts_to_gradient_noise:
            warnings.warn(
                f"{type(kernel).__name__} goes by gradient noise that is drawn anew at each step. With "
                f"kernel_steps={kernel_steps} these share a minibatch, whose noise it cannot see: the chain is too "
                "wide, and a thermostat's kinetic temperature is 1 all the same. "
                "diagnostics.configurational_temperature shows it.",
                stacklevel=3,
            )
        latents.check(self.generative)
        if proposal is not None:
            proposal.check(self.generative, self.recognition, latents)
        prior = choices.prior_of(self.prior, kernel)
        estimator = FisherIdentity(self.generative, self.recognition, prior, latents)
        learning = None if proposal is None else RecognitionLearning(estimator, proposal, proposal_steps)

        def step_by(estimator, learning, climb=None):
            how = (kernel_steps, learning, interleaved, jit_compile, climb)
            return DoublyStochasticStep(self.generative, prior, estimator, kernel, *how)

        climb = None
        if latents.climbing is not None and kernel.climbs_first and kernel_steps:
            climber = FisherIdentity(self.generative, self.recognition, prior, latents.climbing)
            climb = step_by(climber, learning and learning.by(climber))
        settings = {
            "kernel": kernel,
            "latents": latents,
            "proposal": proposal,
            "kernel_steps": kernel_steps,
            "proposal_steps": proposal_steps,
            "interleaved": interleaved,
        }
        return step_by(estimator, learning, climb), settings

    def refit_recognition(
        self,
        x: RowsLike,
        epochs: int,
        batch_size: int = 100,
        verbose: Verbose = 0,
        latents: Latents | None = None,
        proposal: Proposal | None = None,
        num_chains: int | None = None,
    ) -> keras.callbacks.History:
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
        """
        self._assert_compiled("refit_recognition")
        there = self.run.num_chains
        num_chains = checks.positive_integer("num_chains", there if num_chains is None else num_chains)
        if num_chains > there:
            raise ValueError(f"There are {there} chains over θ. Received: num_chains={num_chains}")
        settings = {**self._settings, "kernel_steps": 0, "num_chains": num_chains, "step": None}
        settings["proposal_steps"] = max(1, settings["proposal_steps"])
        settings["latents"] = settings["latents"] if latents is None else latents
        proposal = proposal or settings["proposal"] or "wake"
        if not isinstance(proposal, str):  # its optimizer belongs to the run: take a fresh one of the kind
            proposal = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(proposal))
        twin = type(self)(self.generative, self.recognition, self.prior, seed=self.seed)
        twin._stream = f"refit {int(self.run.refits)} after step {int(self.run.steps)}"
        epochs = checks.nonnegative_integer("epochs", epochs)
        twin.compile(**{**settings, "proposal": proposal})
        source = self.source("x", x, gaps_are_filled=twin.run.step.fills_gaps)
        self.run.refits.assign_add(1)
        twin.run.move_to(self.run.weights[:num_chains])
        history = twin.fit(source, batch_size=batch_size, epochs=epochs, verbose=verbose)
        if num_chains > 1:
            self.run.move_to([*twin.run.weights, *self.run.weights[num_chains:]])
        return history
