"""What is released: on which rows each model learns, how long, and how its figures are estimated."""

from typing import NamedTuple


class Directed(NamedTuple):
    """A `DeepGenerativeModel` and samples of its weights, by `methods.dsgnht_nais`.

    Attributes:
      name: of the release.
      dataset: that it learns from, its rows for training alone.
      architecture: as in `models.from_name`.
      epochs: of the run, in minibatches of 100 rows.
      num_chains: over the weights.
      num_draws: of each chain, evenly over the last part of the run.
      share: of the epochs that are the last part.
      valid_rows: at most, that end the climb and choose the average.
      seed: of the initial weights, the chains and the estimates.
      samples: of importance sampling, for each test row and chain; where an average has more components, they share
        them.
      test_rows: at most, in random order, whose likelihood is estimated.
      annealed_rows: the first of them, whose likelihood is annealed; as many are drawn by the model.
      steps: of annealing.
      runs: of annealing, for each row.
    """

    name: str
    dataset: str
    architecture: str
    epochs: int
    num_chains: int = 2
    num_draws: int = 15
    share: float = 0.25
    valid_rows: int = 1000
    seed: int = 0
    samples: int = 2000
    test_rows: int = 2000
    annealed_rows: int = 100
    steps: int = 500
    runs: int = 8


class Machine(NamedTuple):
    """A Boltzmann machine, by contrastive divergence, small enough for its log Z to be enumerated too.

    Attributes:
      name: of the release.
      dataset: that it learns from, its rows for training alone.
      hidden_units: at most 25.
      epochs: of the run, in minibatches of 100 rows.
      learning_rate: at the beginning; it falls to a hundredth of it along a cosine.
      momentum: of the optimizer.
      cd_steps: of the chains, at most; they grow by one in equal parts of the run.
      seed: of the initial weights, the chains and the estimates.
      steps: of annealing.
      runs: of annealing, in each direction.
    """

    name: str
    dataset: str
    hidden_units: int
    epochs: int
    learning_rate: float = 0.05
    momentum: float = 0.9
    cd_steps: int = 25
    seed: int = 0
    steps: int = 10_000
    runs: int = 200


ESTIMATES = ("samples", "test_rows", "annealed_rows", "steps", "runs")  # the settings that no learning depends on

RELEASES = (
    Directed("digits", "digits", "SBN/SBN 100-50", epochs=800),
    Directed(
        "letters",
        "ocr_letters",
        "DARN/DARN 50",
        epochs=40,
        samples=500,
        test_rows=1000,
        annealed_rows=50,
        steps=100,
        runs=4,
    ),
    Machine("rbm", "digits", hidden_units=25, epochs=1000),
)


def of_learning(settings):
    """The settings that a run depends on, a dict."""
    return {name: value for name, value in settings._asdict().items() if name not in ESTIMATES}


def of_estimates(settings):
    """The others, as a name of a folder."""
    return "_".join(f"{name}{getattr(settings, name)}" for name in ESTIMATES if hasattr(settings, name))


def quick(settings):
    """The same, so small that it is there to be run through, not to be used."""
    few = settings._replace(epochs=3, steps=5, runs=2)
    if isinstance(settings, Machine):
        return few._replace(hidden_units=4, cd_steps=2)
    return few._replace(architecture="SBN/SBN 4", num_draws=2, share=0.7, valid_rows=20, samples=5, annealed_rows=4)
