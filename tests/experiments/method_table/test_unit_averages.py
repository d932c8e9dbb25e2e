"""The average unit by unit over the samples of a row: by enumeration, annealed where validation rows prefer it."""

import numpy as np
import pytest

import tfdsmcmc as ds
from experiments.method_table import evaluation, methods
from experiments.method_table import row as table_row
from tests.oracles import binary_states, log_bernoulli, log_sum, sigmoid
from tests.posterior.support import write_sample
from tfdsmcmc.posterior import store

EVALUATED = "--unit-samples 20000 --annealing-rows 10 --annealing-steps 20 --annealing-runs 50 --drawn-rows 20".split()


def enumerated(thetas, x):
    """log p̄ of rows under an SBN with two latent layers, (n,), from lists [_, b, W, b, W, b] of weights."""

    def logits(parents, kernel, bias):
        """Those of the average over sets of weights, (states, units)."""
        probability = np.mean([sigmoid(parents @ theta[kernel] + theta[bias]) for theta in thetas], 0)
        return np.log(probability) - np.log1p(-probability)

    top, middle = binary_states(2), binary_states(3)
    of_top = log_bernoulli(top, logits(np.zeros((1, 0)), 0, 1))
    of_middle = log_bernoulli(middle[:, None], logits(top, 2, 3)) + of_top
    of_rows = log_bernoulli(x[:, None], logits(middle, 4, 5))
    return log_sum((of_rows[:, :, None] + of_middle).reshape(len(x), -1), -1)


@pytest.mark.slow
@pytest.mark.parametrize("preferred", [True, False])
def test_the_average_unit_by_unit_against_enumeration(tmp_path, monkeypatch, tiny, settings, preferred):
    """False failures at most 1e-6. Catches samples mixed outside the product, a figure of the mean of weights under
    the name of the average, and φ of the average left in a model that has the mean."""
    chosen = settings("dsgnht_nais", *EVALUATED)
    data = ds.datasets.load("tiny", tmp_path)
    model = table_row.build("dsgnht_nais", "SBN/SBN 3-2", chosen, data.train)
    (arguments,) = methods.phases("dsgnht_nais", 0.1, chosen)
    model.compile(**arguments, jit_compile=False)
    x = data.test[np.random.default_rng(0).permutation(30)[:10]]
    rng = np.random.default_rng(1)
    (tmp_path / "posterior").mkdir()
    thetas = []
    for step in (1, 2):
        parts = (1.5, model.generative), (0.3, model.recognition)
        drawn = [[rng.normal(0, scale, v.shape) for v in part.trainable_variables] for scale, part in parts]
        write_sample(tmp_path / "posterior", store.Sample(*drawn, step))
        thetas.append(drawn[0])

    def look(network):
        is_average = isinstance(network.generative.layers[-1], ds.layers.UnitAverage)
        return {"valid": -1.0 if is_average == preferred else -2.0}

    monkeypatch.setattr(evaluation, "look_of", lambda *_: look)
    results = evaluation.evaluate(model, "dsgnht_nais", chosen, data, tmp_path)
    exact = enumerated(thetas, x).mean()
    found, annealed = results["log_likelihood"]["units"], results["annealed"]
    assert abs(found["value"] - exact) < 5 * found["standard_error"] < 0.05
    assert results["valid"] == {"mean": -2.0 + (not preferred), "units": -2.0 + preferred}
    assert annealed["of"] == ("units" if preferred else "mean")
    assert abs(results["log_likelihood"]["mean"]["value"] - exact) > 0.3, "nothing to tell: choose another seed"
    if preferred:
        assert abs(annealed["value"] - exact) < 5 * annealed["standard_error"] < 0.3
        assert -0.2 < results["both_sides"]["gap"]["value"] < 0.5
    (of_mean,) = tmp_path.glob("*/mean_weights.npz")  # which the model has in the end, φ included
    with np.load(of_mean) as arrays:
        for i, weight in enumerate(model.get_weights()):
            np.testing.assert_array_equal(weight, arrays[str(i)])
