"""`Imputer` of this package, with its defaults."""

import numpy as np

import tfdsmcmc as ds
from experiments.imputation.coded import coded
from experiments.imputation.completion import of_draws
from tfdsmcmc.imputer.kinds_of_columns import word_of

# what is no default: draws of the weights' posterior, and skewed numbers told to be such
OPTIONS = {
    "VAE sampled": {"architecture": "VAE 10", "method": "dsgnht_nais", "method_options": {"num_chains": 1}},
    "skewed": {"skewed": True},
    "SBN sampled": {"architecture": "SBN/SBN 10", "method": "dsgnht_nais", "method_options": {"num_chains": 1}},
}


def ours(frame, m, seed, skewed=False, **options):
    """`Imputer(random_state=seed)` and its m imputations; `skewed` tells it of real columns of a skewness beyond ±1."""
    if skewed:
        real = [name for name in frame if word_of(name, frame[name]) == "real"]
        options["kinds"] = {name: "skewed" for name in real if abs(frame[name].skew()) > 1}
    frames = ds.Imputer(random_state=seed, **options).fit(frame).impute(frame, m)
    return of_draws(np.stack([coded(each).values for each in frames]), coded(frame))
