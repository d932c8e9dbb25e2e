"""Shards: the values of one machine, whatever their size and order; what is there is not computed again."""

import itertools

import joblib
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.cluster.models import COLLECTOR, ROWS, make
from tests.slow_cases import mostly_slow
from tfdsmcmc.cluster import estimates, places
from tfdsmcmc.cluster import work as cluster_work

FEW = {"num_samples": 7, "seed": 3, "batch_size": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    ds.cluster.fit_chains(make, ROWS, folder, 2, 4, collector=COLLECTOR, batch_size=20)
    return folder


def assert_equal(one, other):
    for a, b in zip(one, other, strict=True):
        assert (a is None) == (b is None)
        if a is not None:
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("shard_rows", "average"),
    mostly_slow([(8, "weights"), (30, "units")], itertools.product([8, 30, 1000], ["units", "draws", "weights"])),
)
def test_shards_are_parts_of_one_machines_rows(folder, average, shard_rows):
    posterior = ds.posterior.load(folder)
    whole = posterior.log_likelihood(make(0), ROWS, average=average, **FEW)
    found = ds.cluster.log_likelihood(folder, make, ROWS, average=average, shard_rows=shard_rows, **FEW)
    assert_equal(found[:3], whole[:3])


@pytest.mark.parametrize("options", [{}, {"schedule": "adaptive"}])
def test_annealing(folder, options):
    annealing = {"num_steps": 6, "num_runs": 3, "seed": 2, "batch_size": 16, **options}
    whole = ds.posterior.load(folder).annealed_log_likelihood(make(0), ROWS, **annealing)
    found = ds.cluster.annealed_log_likelihood(folder, make, ROWS, shard_rows=16, **annealing)
    assert_equal(found[:3], whole[:3])


@pytest.mark.parametrize(
    "options",
    [{"direction": "reverse"}, {"z": [np.zeros((60, 3)), np.zeros((60, 2))]}, {"weights": None}, {"num_samples": 5}],
    ids=["reverse", "z", "weights", "unknown"],
)
def test_what_an_average_cannot_heed_is_refused_before_any_task(folder, options, monkeypatch):
    """As `posterior.annealed_log_likelihood` does."""
    monkeypatch.setattr(cluster_work, "run", None)
    for call in (
        lambda: ds.cluster.annealed_log_likelihood(folder, make, ROWS, num_steps=2, **options),
        lambda: ds.posterior.load(folder).annealed_log_likelihood(make(0), ROWS, num_steps=2, **options),
    ):
        with pytest.raises(ValueError, match="Received: "):
            call()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"make_model": make(0)}, "make_model is a function of a seed. Received: make_model=<"),
        ({"make_model": lambda: make(0)}, "make_model is a function of a seed. Received: make_model=<"),
        ({"make_model": lambda seed: None}, "make_model returns a model. Received: NoneType"),
        ({"folder": 3}, "folder is a path. Received: folder=3"),
    ],
)
def test_bad_arguments(folder, monkeypatch, change, reason):
    monkeypatch.setattr(cluster_work, "run", None)
    with pytest.raises(ValueError, match=reason):
        ds.cluster.log_likelihood(**{"posterior": folder, "make_model": make, "rows": ROWS, **change, **FEW})


def test_a_damaged_result_is_named(folder, tmp_path):
    ds.cluster.log_likelihood(folder, make, ROWS, folder=tmp_path, **FEW)
    file = next(tmp_path.rglob("*.npz"))
    file.write_bytes(file.read_bytes()[:50])
    with pytest.raises(ValueError, match=f"delete it, and call again. Received: .*{file.name}"):
        ds.cluster.log_likelihood(folder, make, ROWS, folder=tmp_path, **FEW)


def test_other_frozen_weights_are_other_results(tmp_path):
    """They are in no sample, and in the estimates all the same."""

    def frozen(value):
        def made(seed):
            model = ds.models.from_name("SBN/SBN 3-2", units=6, seed=0)
            model.generative.layers[-1].trainable = False
            for variable in model.generative.layers[-1].weights:
                variable.assign(np.full(variable.shape, value))
            model.compile(ds.mcmc.SGLD(learning_rate=0.05), ds.latents.NAIS(2), num_chains=1, jit_compile=False)
            return model

        return made

    learnt = frozen(0.5)(0)
    learnt.fit(ROWS, batch_size=20, epochs=1, verbose=0)
    posterior = ds.posterior.Posterior(None, ds.posterior.store.draw_of(learnt), "draws")
    for value in (0.5, 2.0):
        want = posterior.log_likelihood(frozen(value)(0), ROWS, **FEW)
        for _ in range(2):
            found = ds.cluster.log_likelihood(posterior, frozen(value), ROWS, folder=tmp_path, **FEW)
            assert_equal(found[:3], want[:3])
    assert len(list(tmp_path.iterdir())) == 2


def test_other_starts_are_other_results(folder, tmp_path):
    """Half of each estimate is the start's, of the samples' own weights here, then of others."""
    posterior = ds.posterior.load(folder)
    found = []
    for place in (0, -1):
        posterior.starts = [posterior.chain(chain).samples[place] for chain in range(2)]
        options = {"average": "weights_and_start", "shard_rows": 30, **FEW}
        found.append(ds.cluster.log_likelihood(posterior, make, ROWS, folder=tmp_path, **options))
        assert_equal(found[-1][:3], posterior.log_likelihood(make(0), ROWS, average="weights_and_start", **FEW)[:3])
    assert np.abs(found[0].value - found[1].value).max() > 1e-3


def test_what_is_there_is_kept(folder, tmp_path, monkeypatch):
    """A second call computes nothing, a third what has been lost; other rows are other results."""
    options = {"shard_rows": 16, "folder": tmp_path, **FEW}
    first, made = ds.cluster.log_likelihood(folder, make, ROWS, **options), []
    plain = estimates._importance
    monkeypatch.setattr(estimates, "_importance", lambda *arguments: made.append(1) or plain(*arguments))
    assert_equal(ds.cluster.log_likelihood(folder, make, ROWS, **options), first)
    assert not made
    files = sorted(tmp_path.rglob("*.npz"))
    files[1].unlink()
    assert_equal(ds.cluster.log_likelihood(folder, make, ROWS, **options), first)
    assert len(made) == 1 and len(files) == len(sorted(tmp_path.rglob("*.npz")))
    ds.cluster.log_likelihood(folder, make, 1 - ROWS, **options)
    assert len(made) == 1 + len(files)


def test_errors_of_the_wrong_model_and_rows(folder):
    with pytest.raises(ValueError, match="Received: "):
        ds.cluster.log_likelihood(folder, lambda seed: ds.models.from_name("SBN/SBN 4", units=6), ROWS)
    with pytest.raises(ValueError, match="Received: "):
        ds.cluster.log_likelihood(folder, make, ROWS[:, :4])
    for posterior, made in ((None, make), (folder, "make")):  # None: a model that has learnt nothing would answer
        with pytest.raises(ValueError, match="Received: (posterior=None|make_model='make')"):
            ds.cluster.log_likelihood(posterior, made, ROWS)
        with pytest.raises(ValueError, match="Received: (posterior=None|make_model='make')"):
            ds.cluster.impute(posterior, made, ROWS)
    for bad in ({"num_samples": 0}, {"batch_size": 0}, {"shard_rows": 0}):
        with pytest.raises(ValueError, match="Received: "):
            ds.cluster.log_likelihood(folder, make, ROWS, **bad)


@pytest.mark.parametrize("name", ["RBM", "DARN"])
def test_exact_likelihoods_have_no_number_of_draws(name, tmp_path):
    """Of a machine whose log Z is a sum over states, and of a network without latent units: nothing warns of draws."""

    def made(seed):
        model = ds.boltzmann.RBM(6, 2, seed=seed) if name == "RBM" else ds.models.from_name("DARN", units=6, seed=seed)
        model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), jit_compile=False)
        return model

    model = made(0)
    collector = ds.posterior.Collector(tmp_path / "samples", **COLLECTOR)
    model.fit(ROWS, epochs=3, batch_size=20, callbacks=[collector], verbose=0)
    whole = ds.posterior.load(tmp_path / "samples").log_likelihood(model, ROWS)
    found = ds.cluster.log_likelihood(tmp_path / "samples", made, ROWS, shard_rows=16)
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-5)


def test_progress(capsys):
    assert cluster_work.run(divmod, [("a", (7, 2)), ("b", (9, 4))], True, "tasks") == [(3, 1), (2, 1)]
    assert capsys.readouterr().err.endswith("2 of 2 tasks\n")


@pytest.mark.slow
def test_processes(folder):
    whole = ds.posterior.load(folder).log_likelihood(make(0), ROWS, **FEW)
    with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
        found = ds.cluster.log_likelihood(folder, make, ROWS, shard_rows=16, **FEW)
    np.testing.assert_allclose(found.value, whole.value, rtol=1e-5)


def test_other_rows_and_models_are_not_mistaken(folder):
    """Of arrays that are gone, whose addresses are used again, and of another model with weights of the same shapes."""
    posterior, options = ds.posterior.load(folder), {"num_samples": 5, "batch_size": 10}
    for first in (0, 10, 20):
        found = ds.cluster.log_likelihood(folder, make, ROWS[first : first + 10], **options)
        whole = posterior.log_likelihood(make(0), ROWS[first : first + 10], **options)
        np.testing.assert_array_equal(found.value, whole.value)
    assert not vars(places._own)
