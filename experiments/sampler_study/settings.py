"""The settings of the study by name, and the priors of those that have not the default one."""

import tensorflow_probability as tfp

import tfdsmcmc as ds

tfd = tfp.distributions
OPTIMIZERS = ("rws", "rws_fast", "rws_falling", "rws_learnt")
SAMPLERS = ("sampler", "unit_scales", "cold", "temperature_0", "scale_0.09", "scale_1")
WITHOUT_RECOGNITION = ("gibbs", "augmentation")
SETTINGS = (*OPTIMIZERS, *SAMPLERS, *WITHOUT_RECOGNITION)


def _scales(group):
    return ds.priors.Horseshoe(1.0, minimum_scale=0.015, learn_global_scale=True, group=group)


PRIORS = {
    # the default of earlier versions: a scale for the weights that leave each parent unit
    "unit_scales": {
        "bias": tfd.StudentT(df=4.0, loc=0.0, scale=2.5),
        "lateral": _scales("entry"),
        "decoder": _scales("unit"),
        "": _scales("parent"),
    },
    "rws": {"": None},
    "rws_learnt": ds.Prior().patterns,  # an optimizer has it only where it is given
    "rws_fast": {"": None},
    "rws_falling": {"": None},
    "scale_0.09": tfd.StudentT(df=2.2, loc=0.0, scale=0.09),
    "scale_1": tfd.StudentT(df=2.2, loc=0.0, scale=1.0),
}
