"""Loops of the package go on one iteration at a time: see `tfdsmcmc._common.loops`."""

import pathlib
import re

import numpy as np
import pandas as pd
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc._common import loops

LOOPS = re.compile(r"\btf\.(while_loop|map_fn|vectorized_map|scan|foldl|foldr)\(|\bin tf\.range\(")


def test_no_module_has_loops_of_another_kind():
    root = pathlib.Path(ds.__file__).parent
    found = {str(file.relative_to(root)) for file in root.rglob("*.py") if LOOPS.search(file.read_text())}
    assert found == {"_common/loops.py"}


def test_a_loop_is_told_to_begin_one_iteration_at_a_time():
    def looped():
        _, x = loops.while_loop(lambda i, _: i < 3, lambda i, x: (i + 1, 2.0 * x), (0, 1.0), maximum_iterations=5)
        return x, loops.map_fn(tf.exp, tf.zeros([2]), fn_output_signature=tf.float32)

    function = tf.function(looped, autograph=False).get_concrete_function()
    nodes = [node for node in function.graph.as_graph_def().node if node.op in ("While", "StatelessWhile")]
    assert [node.attr["parallel_iterations"].i for node in nodes] == [1, 1]
    assert [part.numpy().tolist() for part in function()] == [8.0, [1.0, 1.0]]


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_chains_of_thousands_of_sweeps_without_xla_keep_their_results(seed):
    table = mixed_table()
    chains = {"burn_in": 5, "num_samples": 4000}
    imputer = ds.Imputer(
        updates=4, posterior_samples=1, random_state=seed, jit_compile=False, imputation_options=chains
    )
    completed = imputer.fit(table).transform(table[:8])
    assert completed.shape == (8, 5) and not completed.isna().any().any()


def mixed_table():
    """Sixty rows of columns of five types, a fifth of the entries missing."""
    rng = np.random.default_rng(0)
    columns = {
        "truth": pd.array(rng.random(60) < 0.5, dtype="boolean"),
        "kind": pd.Categorical(rng.choice(list("abc"), 60)),
        "size": pd.Categorical(rng.choice(["low", "mid", "high"], 60), ["low", "mid", "high"], ordered=True),
        "count": pd.array(rng.poisson(3, 60), dtype="Int64"),
        "real": rng.normal(size=60),
    }
    table = pd.DataFrame(columns)
    return table.mask(pd.DataFrame(rng.random(table.shape) < 0.2, columns=table.columns))
