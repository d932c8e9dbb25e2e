"""The methods of the literature, each as the arguments of `compile`.

A method is a triple (kernel, latents, proposal). Those that sample θ from its posterior:

    dsgld_nais, dsghmc_nais, dsgnht_nais    SGLD, SGHMC, SGNHT with importance samples from the recognition network
    dsghmc_gibbs, dsgnht_gibbs              SGHMC, SGNHT with Gibbs sampling; the recognition network learns if told

and those that climb to one θ. With importance weights they climb log p(θ) + log p(X given θ), with a bias of order 1/K,
with uniform ones log p(θ) + the evidence lower bound. Without a prior of the model's own log p(θ) is 0 with them; under
a prior whose scales are drawn the height that is climbed moves with them:

    rws           reweighted wake-sleep         importance weights, wake and sleep updates of φ
    wake_sleep    wake-sleep                    one draw from q, sleep updates of φ
    nvil          neural variational inference  uniform weights, score-function gradient of φ
    vae           variational autoencoder       uniform weights, reparametrised gradient of φ (continuous z)
    iwae          importance weighted autoencoder    importance weights, reparametrised gradient of φ (continuous z)

Methods that are a step of their own, with no kernel, latents and proposal:

    polya_gamma_gibbs    Gibbs sampling of θ and z by Pólya-Gamma augmentation
    vb                   mean-field variational Bayes by the same augmentation
    online_vb            online variational Bayes: natural gradients from minibatches

    model.compile(**tfdsmcmc.methods.rws(), steps_per_execution=20)

The samplers with importance samples are what `docs/study.md` found best, without a look at the data: a warm start by
Adam with K = 10, whose rate and patience go by the updates that are planned, then the splitting scheme with K = 25 and
a learning rate of each weight's own, as fast as the noise of its gradient permits (`mcmc.WarmStart`), reweighted
wake-sleep updates of φ by Adam, and three chains, each with a warm start and a recognition network of its own. The
rate of φ was 1e-2 there, mostly with 50 or 150 latent units. It is for 5,000 updates and falls then, as a network of
wide layers stays coarse at that rate; with more units on rows of as wide a spread, or a wider one, it is lower
(`mcmc.schedules.ByUnits`). With more than 150 latent units a climb warms up (`latents.NAIS`).
There are two chains where fewer than 18,000 updates are planned, and one below 12,000 or of more than 100,000 weights
(`compile`).
`as_published=True` gives what the paper has but for the prior, which is the model's
(there `prior=StudentT(df=2.2, loc=0.0, scale=0.09)`): no warm start, the Euler scheme, a thermostat of mass 1, K = 5,
wake updates of φ by Adam(3e-4) with fresh draws, ten θ-updates on each minibatch and a φ-update after each of them, one
chain. Arguments that are given go before either. Those with Gibbs sampling have a warm start too, of Adam(3e-3) for
half of a run, and one sweep an update of a Gibbs chain that each row keeps; as published there are the Euler scheme
from the start, ten θ-updates on each minibatch, five sweeps of burn-in from the recognition network and five states
that are kept. `as_published=True` makes the covariances of `vb` and `online_vb` diagonal; to `polya_gamma_gibbs`, which
is as published but for the order of its draws, it does nothing.

The methods that climb have Adam(3e-3) for θ and φ. As published are, of minibatches of 25 rows, steps with momentum
0.95 (`rws`); of 20, plain steps, with a fifth of the rate for φ (`wake_sleep`, `nvil`: rates from the program with
which Bornschein and Bengio repeat them); of 100, Adagrad, and a normal prior of scale 1 (`vae`); of 20, Adam with
ε = 1e-4 (`iwae`). Prior and minibatches are the model's and the caller's.

Sources: Du, Zhu and Zhang, "Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions on
Neural Networks and Learning Systems 29 (2018); Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015; Hinton,
Dayan, Frey and Neal, "The wake-sleep algorithm for unsupervised neural networks", Science 268 (1995); Mnih and
Gregor, "Neural variational inference and learning in belief networks", ICML 2014; Kingma and Welling, "Auto-encoding
variational Bayes", ICLR 2014; Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016; Gan,
Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015.
"""

from __future__ import annotations

from tfdsmcmc.methods.augmentation import online_vb, polya_gamma_gibbs, vb
from tfdsmcmc.methods.optimizers import iwae, nvil, rws, vae, wake_sleep
from tfdsmcmc.methods.samplers import dsghmc_gibbs, dsghmc_nais, dsgld_nais, dsgnht_gibbs, dsgnht_nais

__all__ = [
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
