"""Networks that learn by variational Bayes, and which of their units are in use."""

import keras
import numpy as np
import tensorflow_probability as tfp

import tfdsmcmc as ds

IN_USE = 0.1  # of the root mean square of a unit's outgoing weights


def model_for(units, args):
    keras.utils.set_random_seed(args.seed)
    prior = {"bias": tfp.distributions.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal()}
    return ds.models.from_name(args.model, units, prior=prior, seed=args.seed)


def units_in_use(model, threshold=IN_USE):
    """How many units of each latent layer have outgoing weights that count, nearest to the data first."""
    kernels = [layer.kernel.numpy().astype(np.float64) for layer in model.generative.layers[:0:-1]]
    return [int((np.sqrt((kernel**2).mean(1)) > threshold).sum()) for kernel in kernels]
