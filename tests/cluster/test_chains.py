"""Chains in folders of their own: the same wherever they run, kept, resumed, merged."""

import json

import joblib
import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.cluster.models import COLLECTOR, ROWS, fails_for_one, make, make_of_gaps
from tfdsmcmc.cluster import ChainFailed, chains, fit_chain, fit_chains
from tfdsmcmc.posterior import store
from tfdsmcmc.training.run import Run

SEEN = np.random.default_rng(1).random(ROWS.shape) < 0.9


def fitted(folder, num_chains=2, epochs=4, **options):
    fit_chains(make, ROWS, folder, num_chains, epochs, collector=COLLECTOR, batch_size=20, **options)
    return ds.posterior.load(folder)


def assert_same(one, other):
    for a, b in zip([*one.theta, *one.phi], [*other.theta, *other.phi], strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_chain_is_the_same_alone(tmp_path):
    """And chains differ from each other."""
    posterior = fitted(tmp_path / "all", 2)
    assert posterior.num_chains == 2 and posterior.chain_numbers == [0, 1] * 3
    fit_chain(make, 1, ROWS, tmp_path / "alone", 4, collector=COLLECTOR, fit={"batch_size": 20})
    alone = ds.posterior.load(tmp_path / "alone")
    for one, other in zip(posterior.chain(1).samples, alone.samples, strict=True):
        assert_same(one, other)
        assert (one.chain, other.chain) == (1, 0)
    assert not np.array_equal(posterior.samples[0].theta[2], posterior.samples[1].theta[2])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("maker", "rows", "fit"),
    [
        (make, np.where(SEEN, ROWS, -9.0), {"mask": SEEN}),
        (make_of_gaps, np.where(SEEN, ROWS, np.nan), {}),
        (
            make,
            tf.data.Dataset.from_tensor_slices(np.float32(ROWS)).batch(20).repeat(),
            {"num_rows": 60, "steps_per_epoch": 3},
        ),
    ],
    ids=["a mask", "gaps that are drawn", "a stream without an end"],
)
def test_rows_that_fit_takes_with_its_arguments(tmp_path, maker, rows, fit):
    fit_chain(maker, 0, rows, tmp_path, 4, collector=COLLECTOR, fit=fit)
    (sample, *_) = ds.posterior.load(tmp_path).samples
    assert np.isfinite(np.concatenate([np.ravel(part) for part in sample.theta])).all()


@pytest.mark.slow
def test_a_finished_chain_is_not_run_again(tmp_path):
    fitted(tmp_path)
    before = [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.*"))]
    posterior = fitted(tmp_path)
    assert [path.stat().st_mtime_ns for path in sorted(tmp_path.rglob("*.*"))] == before
    assert fitted(tmp_path, 3).num_chains == posterior.num_chains + 1


@pytest.mark.slow
def test_a_killed_chain_goes_on_bit_for_bit(tmp_path, monkeypatch):
    """Ended by an error in its third epoch, as by a kill between two saves."""
    whole, calls, advance = fitted(tmp_path / "whole", 1), [], Run.advance

    class Killed(Exception):
        pass

    def until_killed(self, block):
        calls.append(block)
        if len(calls) > 7:
            raise Killed("out of memory")
        return advance(self, block)

    with monkeypatch.context() as patch:
        patch.setattr(Run, "advance", until_killed)
        with pytest.raises(Killed):
            fit_chain(make, 0, ROWS, tmp_path / "killed", 4, collector=COLLECTOR, fit={"batch_size": 20})
    with pytest.warns(RuntimeWarning, match="not done yet"):
        assert len(ds.posterior.load(tmp_path / "killed").samples) < len(whole.samples)
    killed = fitted(tmp_path / "killed", 1)
    for one, other in zip(whole.samples, killed.samples, strict=True):
        assert_same(one, other)


@pytest.mark.slow
def test_other_chains_go_on_where_one_fails(tmp_path):
    arguments = (ROWS, tmp_path, 3, 2)
    with pytest.raises(ChainFailed, match="1 of 3 chains failed. Received: chain 1: RuntimeError: no disk"):
        fit_chains(fails_for_one, *arguments, collector=COLLECTOR)
    assert ds.posterior.load(tmp_path).num_chains == 2
    fit_chains(make, *arguments, collector=COLLECTOR)
    assert ds.posterior.load(tmp_path).num_chains == 3


@pytest.mark.slow
def test_a_folder_of_other_chains_is_refused(tmp_path):
    fitted(tmp_path, 1)
    for change in ({"seed": 1}, {"epochs": 5}):
        with pytest.raises(ChainFailed, match=f"chain 0: ValueError.*differs in {next(iter(change))}: "):
            fitted(tmp_path, 1, **change)
    with pytest.raises(ChainFailed, match="differs in rows: "):
        fit_chains(make, 1 - ROWS, tmp_path, 1, 4, collector=COLLECTOR, batch_size=20)
    with pytest.raises(ChainFailed, match="differs in arguments: "):
        fit_chains(make, ROWS, tmp_path, 1, 4, collector=COLLECTOR, batch_size=30)


def test_a_mistake_leaves_no_statement(tmp_path):
    with pytest.raises(ChainFailed, match="sample_weight"):
        fit_chains(make, ROWS, tmp_path, 1, 2, collector=COLLECTOR, sample_weight=np.ones(3))
    assert not list(tmp_path.rglob("chain.json"))


def test_networks_are_told_apart_and_seeds_are_not():
    """An activation shows in no shape. A statement of an older version, which says nothing of it, is not refused."""

    def of(seed, activation, start="zeros"):
        layers = (
            ds.layers.MLPGaussian(2, activation=activation, seed=seed),
            ds.layers.MLPBernoulli(6, seed=seed, bias_initializer=start),
        )
        networks = (
            ds.GenerativeNetwork([ds.layers.MLPGaussian(2, seed=seed), layers[1]]),
            ds.RecognitionNetwork([layers[0]]),
        )
        model = ds.DeepGenerativeModel(*networks, seed=seed)
        model.compile(**ds.methods.dsgnht_nais(num_chains=1), jit_compile=False)
        return chains._learnt_from(model, ROWS)

    assert of(0, "tanh") == of(1, "tanh", keras.initializers.Constant(0.5))  # where a chain begins is its own
    other = of(0, "relu")
    assert {name for name, value in of(0, "tanh").items() if value != other[name]} == {"networks"}


def test_chains_of_another_network_are_refused(tmp_path):
    posteriors = []
    for place, networks in enumerate((None, "one", "one", None, "two")):
        folder = tmp_path / f"chain_{place}" / "samples"
        folder.mkdir(parents=True)
        store.write_draw(folder, [store.Sample([np.zeros(2)], [], 1)])
        said = {"chain": place, "seed": 0, "rows": 1, "weights": 1, "prior": "p", "method": "m"}
        said |= {} if networks is None else {"networks": networks}
        (folder.parent / "chain.json").write_text(json.dumps(said))
        (folder.parent / "model.keras").touch()
        posteriors.append(folder)
    assert ds.posterior.load(posteriors[:4]).num_chains == 4
    with pytest.raises(ValueError, match="differs in networks"):
        ds.posterior.load(posteriors)
    statement = posteriors[3].parent / "chain.json"
    statement.write_text(json.dumps({**json.loads(statement.read_text()), "row_weights": "w"}))
    with pytest.raises(ValueError, match="differs in row_weights"):  # a statement without any is of none
        ds.posterior.load(posteriors[:4])


def test_a_chain_without_a_sample_yet_is_told(tmp_path):
    for place in range(2):
        folder = tmp_path / f"chain_{place}" / "samples"
        folder.mkdir(parents=True)
        said = {"chain": place, "seed": 0, "rows": 1, "weights": 1, "prior": "p", "method": "m"}
        (folder.parent / "chain.json").write_text(json.dumps(said))
    store.write_draw(tmp_path / "chain_0" / "samples", [store.Sample([np.zeros(2)], [], 1)])
    (tmp_path / "chain_0" / "model.keras").touch()
    with pytest.warns(RuntimeWarning, match="no sample yet, and does not count: .*chain_1") as told:
        assert ds.posterior.load(tmp_path).num_chains == 1
    assert len(told) == 1 and told[0].filename == __file__
    with pytest.warns(RuntimeWarning, match="no sample yet, and does not count: .*chain_1") as told:
        ds.posterior.load([tmp_path])
    assert len(told) == 1 and told[0].filename == __file__


@pytest.mark.slow
def test_chains_of_several_folders_are_one_posterior(tmp_path):
    one, two = fitted(tmp_path / "one", 1), fitted(tmp_path / "two", 2, seed=5)
    both = ds.posterior.load([tmp_path / "one", tmp_path / "two"])
    assert both.num_chains == 3 and len(both.samples) == len(one.samples) + len(two.samples)
    model = make(0)
    parts = [ds.posterior.load(path) for path in sorted(tmp_path.glob("*/chain_*/samples"))]
    found = both.log_likelihood(model, ROWS, 2000)
    each = [ds.likelihood.exact(part.apply_mean(model), ROWS).value for part in parts]
    exact = np.logaddexp.reduce(each, 0) - np.log(3)
    assert (np.abs(found.value - exact) < 6 * found.standard_error + 1e-3).all()
    assert both.mean()[0][0].shape == one.samples[0].theta[0].shape
    assert ds.diagnostics.trace(both, model, ROWS[:5], num_samples=5)
    statement = tmp_path / "two" / "chain_0001" / "chain.json"
    statement.write_text(json.dumps({**json.loads(statement.read_text()), "prior": "another"}))
    with pytest.raises(ValueError, match="differs in prior"):
        ds.posterior.load([tmp_path / "one", tmp_path / "two"])
    with pytest.raises(ValueError, match="Received: an empty list"):
        ds.posterior.load([])
    with pytest.raises(ValueError, match="counts once. Received: "):
        ds.posterior.load([tmp_path / "one", tmp_path / "one"])
    (tmp_path / "one" / "chain_0000" / "model.keras").unlink()
    with pytest.warns(RuntimeWarning, match="not done yet"):
        ds.posterior.load(tmp_path / "one")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"num_chains": 0}, "num_chains must be"),
        ({"epochs": 0}, "epochs must be"),
        ({"seed": -1}, "seed must be"),
        ({"make_model": None}, "a function of a seed"),
        ({"callbacks": []}, "callbacks and rows of its own"),
        ({"collector": {"path": "here"}}, "collector is a dict with names of"),
        ({"collector": {"burnin": 2}}, "collector is a dict with names of"),
        ({"collector": ["a"]}, "collector is a dict with names of"),
        ({"rows": "digitz"}, "The known datasets are"),
        ({"collector": {"num_samples": 0}}, "num_samples must be"),
    ],
)
def test_bad_arguments_are_refused_before_anything_is_run(tmp_path, change, message):
    with pytest.raises(ValueError, match=f"{message}.*Received: "):
        fit_chains(**{"make_model": make, "rows": ROWS, "folder": tmp_path, "num_chains": 1, "epochs": 1, **change})
    assert not any(tmp_path.iterdir())
    of_one = {name: value for name, value in change.items() if name not in ("num_chains", "callbacks")}
    if of_one:
        with pytest.raises(ValueError, match=f"{message}.*Received: "):
            fit_chain(**{"make_model": make, "chain": 0, "rows": ROWS, "folder": tmp_path, "epochs": 1, **of_one})
        assert not any(tmp_path.iterdir())


def test_a_model_of_several_chains_is_refused(tmp_path):
    def several(seed):
        model = make(seed)
        model.compile(**ds.methods.dsgnht_nais())
        return model

    for wrong in (several, lambda seed: ds.models.from_name("SBN/SBN 2", units=6)):
        with pytest.raises(ChainFailed, match="compiled with num_chains=1.*Received: "):
            fit_chains(wrong, ROWS, tmp_path, 1, 1)


def test_rows_by_name(tmp_path):
    data = ds.datasets.load("digits")
    np.testing.assert_array_equal(ds.cluster.opened("digits"), data.train)
    np.testing.assert_array_equal(ds.cluster.opened("digits:test"), data.test)
    np.testing.assert_array_equal(ds.cluster.opened("digits", "valid"), data.valid)
    path = ds.datasets.pack(tmp_path / "rows.npy", ROWS)
    np.testing.assert_array_equal(np.asarray(ds.cluster.opened(str(path)).take(np.arange(60))), ROWS)
    assert ds.cluster.opened(ROWS) is ROWS
    with pytest.raises(ValueError, match="Received: rows='digits:late'"):
        ds.cluster.opened("digits:late")


def test_a_folder_of_a_datasets_name_hides_no_validation_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "digits").mkdir()
    data = ds.datasets.load("digits")
    for found, want in zip(chains._rows("digits"), (data.train, data.valid), strict=True):
        np.testing.assert_array_equal(found, want)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["loky", "dask"])
def test_engines(tmp_path, engine):
    """Processes of this machine and those of a cluster learn what this process learns."""
    here = fitted(tmp_path / "here", 2)
    if engine == "dask":
        distributed = pytest.importorskip("distributed")
        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster), joblib.parallel_config("dask"):
                there = fitted(tmp_path / "there", 2)
    else:
        with joblib.parallel_config("loky", n_jobs=2, inner_max_num_threads=1):
            there = fitted(tmp_path / "there", 2)
    for one, other in zip(here.samples, there.samples, strict=True):
        for a, b in zip(one.theta, other.theta):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(("fit", "held"), [({}, [("validation_data", 20)]), ({"validation_split": 0.5}, [])])
def test_validation_rows_that_fit_was_given_come_first(tmp_path, monkeypatch, fit, held):
    monkeypatch.setattr(chains, "_rows", lambda rows: (ROWS[:40], ROWS[40:]))
    seen = {}

    def fitted(model, rows, **options):
        seen.update(options)
        raise InterruptedError

    monkeypatch.setattr(ds.DeepGenerativeModel, "fit", fitted)
    with pytest.raises(InterruptedError):
        fit_chain(make, 0, "digits", tmp_path, 1, fit=fit)
    assert [(name, len(value)) for name, value in seen.items() if name == "validation_data"] == held
    assert seen.get("validation_split") == fit.get("validation_split")
