"""Sigmoid belief networks by Pólya-Gamma augmentation: the posterior of the weights in closed form, given draws.

    PolyaGammaGibbs    Gibbs sampling of weights and units      polya_gamma_gibbs.py
    a layer            as logistic regressions                  regressions.py, normal_draws.py
    a prior            as a mixture of normal laws              normal_mixtures.py
    labels             on which the top layer's biases depend   labels.py
"""

from tfdsmcmc.augmentation.polya_gamma_gibbs import PolyaGammaGibbs

__all__ = ["PolyaGammaGibbs"]
