"""How a model learns: steps, the run that makes many of them as one program, and the rows that feed it.

    step              what one minibatch does to a state                    step.py, doubly_stochastic.py
    estimator         the gradient of the log posterior from a minibatch    gradient_estimator.py, fisher_identity.py
    run               the state kept, counted, saved, advanced              run.py
    feed              rows in blocks of minibatches                         feed.py, batch.py
    learner           Keras' compile, fit and save around a run             learner.py, saving.py
"""
