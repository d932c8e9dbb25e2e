"""What tasks carry, and what a worker keeps between them."""

import pickle
import threading

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.cluster.models import COLLECTOR, ROWS, make
from tfdsmcmc import programs
from tfdsmcmc.cluster import places, work

FEW = {"num_samples": 7, "seed": 3, "batch_size": 8}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("chains")
    ds.cluster.fit_chains(make, ROWS, folder, 1, 2, collector=COLLECTOR, batch_size=20)
    return folder


@pytest.fixture
def carried(monkeypatch):
    """The sizes in bytes of what travels with each task, which is done of what has travelled."""
    sizes, plain = [], work.run

    def run(task, named, verbose, what, timeout):
        sent = [(name, pickle.dumps(each)) for name, each in named]
        sizes.extend(len(each) for _, each in sent)
        places.forget()  # as a worker that begins
        return plain(task, [(name, pickle.loads(each)) for name, each in sent], verbose, what, timeout=timeout)

    monkeypatch.setattr(work, "run", run)
    return sizes


def test_rows_with_a_name_do_not_travel(tmp_path, folder, carried):
    path = ds.datasets.pack(tmp_path / "rows.npy", np.tile(ROWS, (50, 1)))
    whole = ds.posterior.load(folder).log_likelihood(make(0), np.tile(ROWS, (50, 1)), **FEW)
    for rows in (path, ds.datasets.open(path)):
        carried.clear()
        found = ds.cluster.log_likelihood(folder, make, rows, shard_rows=1000, **FEW)
        np.testing.assert_array_equal(found.value, whole.value)
        assert len(carried) == 3 and max(carried) < 3000


@pytest.mark.slow
def test_rows_to_impute_travel_with_their_task_or_not_at_all(tmp_path, folder, carried):
    path, gaps = ds.datasets.pack(tmp_path / "rows.npy", np.tile(ROWS, (50, 1))), np.where(ROWS, np.nan, ROWS)
    options = {"num_imputations": 1, "burn_in": 1, "num_samples": 2, "posterior_weights": "equal"}
    assert ds.cluster.impute(folder, make, path, shard_rows=1000, **options).x.shape == (1, 3000, 6)
    assert max(carried) < 2000
    carried.clear()  # those without travel with the task that they are of, and no others
    ds.cluster.impute(folder, make, gaps, shard_rows=30, **options)
    assert len(carried) == 2 and max(carried) < gaps[:30].nbytes + 2000


def test_a_worker_makes_one_model_and_traces_once(folder, monkeypatch):
    """Whatever the number of its tasks; a task of another number of rows is another trace."""
    made, traced, run = [], [], programs._run
    monkeypatch.setattr(programs, "_run", lambda *arguments: traced.append(1) or run(*arguments))

    def counted(seed):
        made.append(seed)
        return make(seed)

    for shard_rows in (60, 16):
        made.clear()
        traced.clear()
        ds.cluster.log_likelihood(folder, counted, ROWS[:48], shard_rows=shard_rows, **FEW)
        assert (len(made), len(traced)) == (1, 1)
        assert not vars(places._own)


def test_two_threads_have_two_models(folder):
    call, here = places.called(make, folder, ROWS, lambda model, rows: model.source("x", rows))
    found = []
    thread = threading.Thread(target=lambda: found.append(call.here()))
    thread.start()
    thread.join()
    assert found[0].model is not here.model and call.here() is here
    places.forget()
