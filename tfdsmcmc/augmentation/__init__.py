"""Sigmoid belief networks by Pólya-Gamma augmentation: the posterior of the weights in closed form, given draws.

    PolyaGammaGibbs    Gibbs sampling of weights and units      polya_gamma_gibbs.py
    a layer            as logistic regressions                  regressions.py, layer_shapes.py
    normal laws        of many weights, and their sums          inverses.py, symmetric.py
    a prior            as a mixture of normal laws              normal_mixtures.py
    labels             on which the top layer's biases depend   labels.py

    MeanFieldVB        mean-field variational Bayes             mean_field.py, mean_field_step.py, variational_method.py
    OnlineVB           the same by minibatches                  online.py
    variational_bound  of rows, as the literature reports it    variational_bound.py
    teach_recognition  where the bound of new rows begins       teaching.py
    column_scales      which hidden units the prior has in use  column_scales.py
    a row              its units and Pólya-Gamma variables      local_factors.py
    a unit's weights   with and without covariances             full_covariance.py, diagonal_covariance.py
    their priors       with the factors of their scales         variational_priors.py, weight_factors.py,
                                                                scale_factors.py, grid_scales.py
"""

from tfdsmcmc.augmentation.gibbs.polya_gamma_gibbs import PolyaGammaGibbs
from tfdsmcmc.augmentation.variational.column_scales import column_scales
from tfdsmcmc.augmentation.variational.mean_field import MeanFieldVB
from tfdsmcmc.augmentation.variational.online import OnlineVB
from tfdsmcmc.augmentation.variational.teaching import teach_recognition
from tfdsmcmc.augmentation.variational.variational_bound import variational_bound

__all__ = ["MeanFieldVB", "OnlineVB", "PolyaGammaGibbs", "column_scales", "teach_recognition", "variational_bound"]
