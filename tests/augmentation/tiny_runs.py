"""Runs of mean-field and online variational Bayes on ten rows."""

import numpy as np

from tests.oracles import PUBLISHED_PRIOR, tiny_model
from tfdsmcmc.rows import ArraySource, Rows

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(np.uint8)
SOURCE = ArraySource(Rows(ROWS))


def step_of(method, prior=PUBLISHED_PRIOR, **options):
    model = tiny_model((2,), prior=prior, **options)
    step = method.step_for(model.generative, model.recognition, model.prior)
    step.keep = model
    return step


def fitted(method, epochs, rows=ROWS, batch_size=4, callbacks=None, **options):
    model = tiny_model((2,), prior=options.pop("prior", PUBLISHED_PRIOR), **options)
    model.compile(**method)
    return model, model.fit(rows, batch_size=batch_size, epochs=epochs, verbose=0, callbacks=callbacks).history
