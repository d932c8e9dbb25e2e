"""Log-likelihoods that others have published for the same splits, nats a test row.

A figure stands here only if it was read in the source that its row names: a paper's own code repository, or a public
list of results where the paper is listed with it. Figures of lists are those of the paper's best model.
"""

from typing import NamedTuple

_DEEP_NADE = (
    'Uria, Murray and Larochelle, "A deep and tractable density estimator", ICML 2014, as listed at wizwand.com'
)
_MADE = 'Germain et al., "MADE: Masked autoencoder for distribution estimation", ICML 2015, as listed at wizwand.com'
_NADE_K = 'Raiko et al., "Iterative neural autoregressive distribution estimator NADE-k", NIPS 2014'


class Published(NamedTuple):
    """A figure of the literature.

    Attributes:
      model: what was learnt.
      log_likelihood: nats a test row.
      source: where it was read.
    """

    model: str
    log_likelihood: float
    source: str


PUBLISHED = {
    "binarized_mnist": [
        Published("MADE", -86.64, _MADE),
        Published("EoNADE, two hidden layers, 128 orderings", -85.10, f"{_NADE_K}, as listed at paperswithcode.com"),
        Published("NADE-k, one hidden layer, mean of 10 orderings", -89.43, f"{_NADE_K}, github.com/yaoli/nade_k"),
        Published("NADE-k, two hidden layers, mean of 10 orderings", -87.13, f"{_NADE_K}, github.com/yaoli/nade_k"),
    ],
    "connect4": [Published("NADE or EoNADE", -11.99, _DEEP_NADE)],
    "dna": [Published("NADE or EoNADE", -82.31, _DEEP_NADE)],
    "mushrooms": [Published("NADE or EoNADE", -9.68, _DEEP_NADE)],
    "ocr_letters": [Published("NADE or EoNADE", -27.22, _DEEP_NADE)],
}
