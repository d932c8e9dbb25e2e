"""`Imputer` of this package, with its defaults."""

import numpy as np

import tfdsmcmc as ds
from experiments.imputation.coded import coded
from experiments.imputation.completion import of_draws

# what is no default: draws of the weights' posterior
OPTIONS = {
    "VAE sampled": {"architecture": "VAE 10", "method": "dsgnht_nais", "method_options": {"num_chains": 1}},
    "SBN sampled": {"architecture": "SBN/SBN 10", "method": "dsgnht_nais", "method_options": {"num_chains": 1}},
}


def ours(frame, m, seed, **options):
    """`Imputer(random_state=seed)` and its m imputations."""
    frames = ds.Imputer(random_state=seed, **options).fit(frame).impute(frame, m)
    return of_draws(np.stack([coded(each).values for each in frames]), coded(frame))
