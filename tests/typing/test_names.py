"""Names that annotations list are those that the package knows."""

import typing

import pytest

from tfdsmcmc import methods
from tfdsmcmc._common import types
from tfdsmcmc.annealing import latent_paths, schedules
from tfdsmcmc.augmentation.variational import mean_field_step
from tfdsmcmc.boltzmann import units
from tfdsmcmc.boltzmann.partition import schedules as boltzmann_schedules
from tfdsmcmc.cli import arguments
from tfdsmcmc.datasets import packed
from tfdsmcmc.mcmc import by_name
from tfdsmcmc.model import choices
from tfdsmcmc.posterior import averages as components
from tfdsmcmc.pretrained import catalogue, loading
from tfdsmcmc.priors import shrinkage


@pytest.mark.parametrize(
    ("annotated", "known"),
    [
        (types.Average, components.AVERAGES),
        (types.KernelName, by_name._KERNELS),
        (types.LatentsName, choices._LATENTS),
        (types.MethodName, methods.__all__),
        (types.ProposalName, choices._PROPOSALS),
        (boltzmann_schedules.BoltzmannScheduleName, boltzmann_schedules.NAMES),
        (latent_paths.PathName, latent_paths.PATHS),
        (mean_field_step.Covariance, mean_field_step.KINDS),
        (packed.Split, packed.SPLITS),
        (schedules.ScheduleName, schedules.NAMES),
        (shrinkage.Group, shrinkage.GROUPS),
        (units.UnitName, units._NAMED),
    ],
)
def test_names_are_those_known(annotated, known):
    assert sorted(typing.get_args(annotated)) == sorted(known)


def test_averages_that_a_command_takes_are_those_known():
    words = ["export", "--average", "weights_and_start", "model.keras", "folder"]
    for average in components.AVERAGES:
        words[2] = average
        assert arguments.parser().parse_args(words).average == average


def test_names_of_pretrained_models_are_those_known():
    annotated = (*typing.get_args(loading.PosteriorName), *typing.get_args(loading.MachineName))
    assert sorted(annotated) == catalogue.names()
