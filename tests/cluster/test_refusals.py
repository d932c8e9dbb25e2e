"""What chains of several seeds must have in common, and what is refused before anything is run."""

import json
import pathlib

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.cluster.models import (
    COLLECTOR,
    ROWS,
    forgets_its_seed,
    make,
    with_frozen_weights,
    with_frozen_weights_of_its_own,
    with_frozen_weights_of_the_seed,
)
from tfdsmcmc.cluster import chains, checking, fit_chain, fit_chains, impute
from tfdsmcmc.cluster.digest import digest_of
from tfdsmcmc.posterior import store

tfd = tfp.distributions
OTHER_ROWS = 1 - ROWS


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"folder": None}, "folder is a path. Received: folder=None"),
        ({"folder": ""}, "folder is a path. Received: folder=''"),
        ({"seed": 2**64}, "An integer seed lies in"),
        ({"batchsize": 3}, "fit has no such arguments. Received: batchsize"),
        ({"folder": "a\0b"}, "folder is a path. Received: folder="),
        ({"folder": "a" * 300}, r"folder is a path \(.*\). Received: folder='a"),
        ({"folder": b"a"}, "folder is a path. Received: folder=b'a'"),
        ({"rows": pathlib.Path("missing.npy")}, "Received: "),
        ({"rows": None}, "Received: rows=None"),
        ({"batch_size": 0}, "batch_size must be a positive integer"),
        ({"validation_freq": 0}, "validation_freq must be a positive integer"),
        ({"steps_per_epoch": -1}, "steps_per_epoch must be a positive integer"),
        ({"make_model": lambda: None}, "make_model is a function of a seed. Received: "),
    ],
)
def test_bad_arguments_of_chains(tmp_path, monkeypatch, change, reason):
    monkeypatch.chdir(tmp_path)
    arguments = {"make_model": make, "rows": ROWS, "folder": "chains", "num_chains": 1, "epochs": 1, **change}
    with pytest.raises(ValueError, match=reason):
        fit_chains(**arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (forgets_its_seed, "a make_model whose models all have one seed"),
        (with_frozen_weights_of_its_own, "a make_model that draws them anew"),
        (with_frozen_weights_of_the_seed, "a make_model that draws them anew"),
    ],
)
def test_models_that_chains_cannot_share(tmp_path, made, reason):
    with pytest.raises(ValueError, match=f"Received: {reason}"):
        fit_chain(made, 0, ROWS, tmp_path, 1, collector=COLLECTOR)
    assert not list(tmp_path.rglob("*.json"))


def test_frozen_weights_are_told_apart():
    def learnt_from(value):
        model = with_frozen_weights(0)
        model.generative.layers[1].bias.assign(np.full(6, value))
        return chains._learnt_from(model, ROWS)

    one, other = learnt_from(0.5), learnt_from(0.25)
    assert {name for name, value in one.items() if value != other[name]} == {"frozen"}


def test_the_order_of_patterns_is_part_of_a_prior():
    def learnt_from(*patterns):
        laws = {"kernel": tfd.Normal(0.0, 1.0), "": tfd.Normal(0.0, 9.0)}
        model = ds.models.from_name("SBN 3", units=6, prior={pattern: laws[pattern] for pattern in patterns})
        model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.05), latents=ds.latents.NAIS(2), num_chains=1)
        return chains._learnt_from(model, ROWS)

    one, other = learnt_from("kernel", ""), learnt_from("", "kernel")
    assert {name for name, value in one.items() if value != other[name]} == {"patterns"}


@pytest.mark.parametrize("name", ["frozen", "patterns"])
def test_chains_that_differ_in_these_are_not_merged(tmp_path, name):
    folders = [tmp_path / f"chain_{place}" / "samples" for place in range(3)]
    for place, (folder, value) in enumerate(zip(folders, ("one", "one", "two"))):
        folder.mkdir(parents=True)
        store.write_draw(folder, [store.Sample([np.zeros(2)], [], 1)])
        said = {"chain": place, "seed": 0, "rows": 1, "weights": 1, "prior": "p", "method": "m", name: value}
        (folder.parent / "chain.json").write_text(json.dumps(said))
        (folder.parent / "model.keras").touch()
    assert ds.posterior.load(folders[:2]).num_chains == 2
    with pytest.raises(ValueError, match=f"differs in {name}"):
        ds.posterior.load(folders)


def test_a_default_prior_is_known_by_the_word_that_earlier_versions_wrote():
    assert chains._learnt_from(make(0), ROWS)["prior"] == "ec91dd0d919586f8"


def test_integers_of_numpy(tmp_path):
    fit_chain(make, 0, ROWS, tmp_path, np.int64(1), np.int64(3), collector={**COLLECTOR, "burn_in": 0})
    assert json.loads((tmp_path / "chain_0000" / "chain.json").read_text())["seed"] == 3


def test_statements_of_older_versions_are_not_refused(tmp_path):
    file, said = tmp_path / "chain.json", chains._learnt_from(make(0), ROWS)
    file.write_text(json.dumps({name: said[name] for name in said if name not in ("networks", "frozen", "patterns")}))
    chains._check_same(file, said)
    with pytest.raises(ValueError, match="differs in rows: "):
        chains._check_same(file, {**said, "rows": 0})


def test_arguments_are_told_apart_by_what_they_are():
    source, twin, other = (ds.rows.ArraySource(ds.Rows(x)) for x in (ROWS, ROWS, OTHER_ROWS))
    assert digest_of({"validation_data": source}) == digest_of({"validation_data": twin})
    assert digest_of({"validation_data": source}) != digest_of({"validation_data": other})
    assert digest_of({"batch_size": np.int64(20)}) == digest_of({"batch_size": 20})
    streams = [keras.utils.PyDataset() for _ in range(2)]  # whose rows are not known
    assert digest_of(streams[0]) != digest_of(streams[1])
    assert digest_of(tf.float32) != digest_of(tf.float64)


@pytest.mark.parametrize("fit", [[1], "batch"])
def test_arguments_of_fit_are_a_dict(tmp_path, fit):
    with pytest.raises(ValueError, match="fit is a dict of other arguments of fit. Received: fit="):
        fit_chain(make, 0, ROWS, tmp_path / "chains", 1, fit=fit)
    assert not list(tmp_path.iterdir())


def test_a_file_in_the_way_of_the_folder(tmp_path):
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match="folder is a path of folders. Received: folder=.*file is a file"):
            fit_chains(make, ROWS, folder, 1, 1)


def test_a_function_without_a_signature_is_called():
    with pytest.raises(ValueError, match="make_model returns a model. Received: int"):
        checking.made(int, 0)


@pytest.mark.parametrize("text", ["", "{", "[]"])
def test_a_damaged_statement_is_named(tmp_path, text):
    (tmp_path / "chain_0000").mkdir()
    (tmp_path / "chain_0000" / "chain.json").write_text(text)
    with pytest.raises(ValueError, match="delete all of .*chain_0000, and the chain is learnt anew. Received: .*.json"):
        fit_chain(make, 0, ROWS, tmp_path, 1, collector=COLLECTOR)


def test_what_cannot_be_read_now_is_not_called_damaged():
    for error in (PermissionError(13, "denied"), MemoryError()):
        with pytest.raises(type(error)), checking.reading(pathlib.Path("file"), "delete it"):
            raise error


@pytest.mark.parametrize("option", ["mask", "burnin"])
def test_options_that_shards_cannot_have(option):
    with pytest.raises(ValueError, match=f"^Options are of .* Received: {option}"):
        impute("nowhere", make, ROWS, **{option: np.ones(ROWS.shape, bool)})
