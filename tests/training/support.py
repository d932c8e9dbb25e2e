"""What the tests of the step and of its θ-gradient share."""

import keras
import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.training.step import Method

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
SEED = tf.constant([3, 4])


def method_of(model, kernel=None, num_samples=5, proposal=None, kernel_steps=1, proposal_steps=1):
    proposal = ds.proposals.Wake(keras.optimizers.SGD(0.1)) if proposal is None else proposal
    proposal.optimizer.build(model.recognition.trainable_variables)
    latents = ds.latents.NAIS(num_samples)
    parts = model.generative, model.recognition, model.prior
    return Method(*parts, kernel, latents, proposal, kernel_steps, proposal_steps)


def theta_of(model):
    return [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]


def phi_of(model):
    return [variable.numpy() for variable in model.recognition.trainable_variables]
