"""What the tests of steps, estimators and runs share."""

import keras
import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.rows import ArraySource, Rows
from tfdsmcmc.training.feeding.batch import Batch, Block
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity
from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning

X = np.array([[1, 0, 0], [0, 1, 1]], np.float32)
SEED = tf.constant([3, 4])


def estimator_of(model, num_samples=5, latents=None):
    latents = ds.latents.NAIS(num_samples) if latents is None else latents
    return FisherIdentity(model.generative, model.recognition, model.prior, latents)


def step_of(model, kernel=None, num_samples=5, proposal=None, kernel_steps=1, proposal_steps=1, **options):
    """A doubly stochastic step on the weights of a model."""
    proposal = ds.proposals.Wake(keras.optimizers.SGD(0.1)) if proposal is None else proposal
    estimator = estimator_of(model, num_samples)
    learning = RecognitionLearning(estimator, proposal, proposal_steps)
    options = {"jit_compile": False, **options}
    return DoublyStochasticStep(model.generative, model.prior, estimator, kernel, kernel_steps, learning, **options)


def batch_of(x, num_rows=10.0):
    """A minibatch that is no part of anything."""
    rows = Rows(tf.convert_to_tensor(x, tf.float32))
    counted = tf.ones(tf.shape(rows.values)[:-1], tf.bool)
    return Batch(rows, None, counted, tf.constant(False), tf.constant(False), tf.constant(float(num_rows)))


def block_of(x, index, count=1):
    """A block of minibatches x[index[0]], x[index[1]], … of rows x."""
    index = np.asarray(index, np.int32)
    place = np.zeros(len(index), bool)
    return Block(Rows(x), index, index, np.ones(index.shape, bool), place, place, np.int32(count))


def begin(model, x, num_rows=None):
    """Lets the run of a compiled model begin with rows x."""
    source = ArraySource(Rows(np.asarray(x, np.uint8)))
    model.run.begin(source, source.num_rows if num_rows is None else num_rows)


def theta_of(model):
    return [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]


def phi_of(model):
    return [variable.numpy() for variable in model.recognition.trainable_variables]
