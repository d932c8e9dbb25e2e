"""How a model learns: steps, the run that makes many of them as one program, and the rows that feed it.

    step              what one minibatch does to a state                    steps/step.py, steps/doubly_stochastic.py
    updates           of θ and φ from one minibatch                         steps/updates.py
    estimator         the gradient of the log posterior from a minibatch    steps/gradient_estimator.py
    run               the state kept, counted, saved, advanced              run.py
    feed              rows in blocks of minibatches                         feeding/feed.py
    fitting           from a user's rows to the steps of a run              fitting/fitting.py
    learner           Keras around all of it                                fitting/learner.py
"""
