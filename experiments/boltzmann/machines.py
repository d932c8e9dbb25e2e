"""Boltzmann machines as the tables have them: what they are compiled with, and rates by steps."""

import keras
import tensorflow_probability as tfp

import tfdsmcmc as ds

BATCH, RATE, MOMENTUM, DECAY = 100, 0.05, 0.9, 0.0002
FIRST_EPOCHS, FIRST_MOMENTUM = 5, 0.5
GROWN = 25  # the steps that are grown to


def updates(epochs, num_rows):
    return max(1, epochs * -(-num_rows // BATCH))


def rate_of(steps_per_epoch, growth):
    """RATE/T by epochs, and in the first ones smaller by the ratio in which the momentum is larger than it was."""
    grown = range(1, growth.every * GROWN) if growth else ()
    changes = sorted({FIRST_EPOCHS, *(epoch for epoch in grown if epoch % growth.every == 0)})

    def rate(epoch):
        first = (1 - MOMENTUM) / (1 - FIRST_MOMENTUM) if epoch < FIRST_EPOCHS else 1.0
        return RATE * first / (int(growth(epoch)) if growth else 1)

    last_steps = [epoch * steps_per_epoch - 1 for epoch in changes]
    return keras.optimizers.schedules.PiecewiseConstantDecay(last_steps, [rate(epoch) for epoch in (0, *changes)])


def rising(rate, epochs, num_rows):
    """From 0 to a rate in the first epoch, and to 0 as a cosine in those after it."""
    first = updates(1, num_rows)
    falling = max(1, updates(epochs, num_rows) - first)  # counted from the end of the rise
    return keras.optimizers.schedules.CosineDecay(0.0, falling, warmup_target=rate, warmup_steps=first)


def persistent_machine_for(units, num_rows, steps, hidden_units, rate, decay, seed, weights=None, bias=None):
    """A compiled machine that is to learn from so many rows by persistent chains, not yet learnt.

    The rate is a number or a schedule of Keras. Weights W, b, a or the bias b are where it begins, and its chains.
    """
    prior = tfp.distributions.Normal(0.0, (decay * num_rows) ** -0.5)
    rbm = ds.boltzmann.RBM(units, hidden_units, prior={"^kernel": prior, "": None}, seed=seed)
    if weights is not None:
        rbm.set_weights(weights)
    if bias is not None:
        rbm.bias.assign(bias)
    rbm.compile(  # which draws the chains
        kernel=ds.mcmc.MAP(optimizer=keras.optimizers.SGD(rate)),
        estimator=ds.boltzmann.ContrastiveDivergence(steps, persistent=True, num_particles=BATCH),
        steps_per_execution=100,
    )
    return rbm


def machine_for(units, num_rows, steps, hidden_units, every, seed):
    """A compiled machine that is to learn from so many rows by CD with `steps`, not yet learnt."""
    weights = tfp.distributions.Normal(0.0, (DECAY * num_rows) ** -0.5)  # as a decay of W in each update
    rbm = ds.boltzmann.RBM(units, hidden_units, prior={"^kernel": weights, "": None}, seed=seed)
    growth = ds.boltzmann.GrowingSteps(every, GROWN) if steps == GROWN else None
    rate = rate_of(-(-num_rows // BATCH), growth)
    rbm.compile(
        kernel=ds.mcmc.MAP(optimizer=keras.optimizers.SGD(rate, momentum=MOMENTUM)),
        estimator=ds.boltzmann.ContrastiveDivergence(growth or steps),
        steps_per_execution=100,
    )
    return rbm
