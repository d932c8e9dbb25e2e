"""What a trace says of each draw, and where."""

import numpy as np
import pytest
import scipy.integrate
import scipy.stats

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, tiny_model
from tests.posterior.support import at, unfitted, written
from tfdsmcmc import random
from tfdsmcmc.diagnostics.draws import LogPrior, arrangement

pytestmark = pytest.mark.filterwarnings("ignore:The importance weights")

X = binary_states(4)[[1, 2, 5, 7, 12]]
CHAINS = (0, 1, 1, 0, 0, 1, 0)
PLACES = [[0, 3, 4], [1, 2, 5]]  # the fourth draw of chain 0 has no fellow


def test_every_quantity_meets_its_oracle_at_its_chain_and_draw(tmp_path):
    """The mean over five rows of log p(x given θ) by enumeration, z-tests at 10⁻⁶ with the exact error of the
    importance weights; log p(θ) by SciPy; weights as they are.

    Draws of another chain or step, a sum over the rows, a scale of the prior: all would be far off."""
    model, posterior = unfitted(), written(tmp_path, CHAINS)
    samples, count = list(posterior.samples), 4000
    kernel, bias = (name for name, _ in model.generative.named_weights[-2:])
    trace = ds.diagnostics.trace(posterior, model, X, [f"{kernel}[1, 2]", f"^{bias}"], num_samples=count)
    assert list(trace) == ["log_likelihood", "log_prior", f"{kernel}[1, 2]", *(f"{bias}[{j}]" for j in range(4))]
    np.testing.assert_array_equal(arrangement(posterior), PLACES)
    for cell, place in np.ndenumerate(PLACES):
        theta = samples[place].theta
        oracle = Oracle(at(unfitted(), samples[place][:2]))
        relative, _ = oracle.relative_weights(X)
        error = np.sqrt(np.sum(relative**2 / count)) / len(X)
        expected = np.mean(oracle.log_likelihood(X) - relative**2 / (2 * count))  # the logarithm's bias
        assert error < 0.05
        assert_near(trace["log_likelihood"][cell], expected, error, level=1e-6 / 6)
        prior = sum(scipy.stats.t.logpdf(w.astype(np.float64), 2.2, scale=0.09).sum() for w in theta)
        assert trace["log_prior"][cell] == pytest.approx(prior, rel=1e-4)
        assert trace[f"{kernel}[1, 2]"][cell] == theta[-2][1, 2]
        assert [trace[f"{bias}[{j}]"][cell] for j in range(4)] == list(theta[-1])
    assert np.ptp(trace["log_likelihood"]) > 0.5  # the samples do differ


def test_a_prior_alone_needs_no_data(tmp_path):
    trace = ds.diagnostics.trace(written(tmp_path), unfitted())
    assert {name: array.shape for name, array in trace.items()} == {"log_prior": (1, 3)}


def test_a_flat_prior_has_no_trace(tmp_path):
    """A constant trace would never be seen to converge."""
    model = ds.DeepGenerativeModel(unfitted().generative, unfitted().recognition, prior=ds.Prior({"": None}))
    bias = model.named_weights[-1][0]  # of the data layer
    assert list(ds.diagnostics.trace(written(tmp_path), model, weights=f"{bias}[0]")) == [f"{bias}[0]"]
    assert "log_prior" not in ds.diagnostics.inference_data(written(tmp_path), model).sample_stats


def test_shrinkage_scales_are_drawn_given_the_weights():
    """2,000 equal weights w have 2,000 independent draws of log p(w given ζ), ζ given w: their mean by quadrature.

    A z-test at 10⁻⁶ with the exact deviation. Scales of the prior instead of the posterior, or a single sweep from the
    start, are more than ten errors off."""
    prior, w, floor, scale, n = ds.priors.Horseshoe(0.1, 0.05), 0.8, 0.05**2, 0.1, 2000
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(1, name="top"), ds.layers.SBN(n, name="data")]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(1)]),
        prior={"data/bias": prior, "": None},
    )
    model.compile(kernel="sgld", proposal=None, jit_compile=False)
    theta = [v.numpy() * 0 for v in model.generative.trainable_variables[:-1]] + [np.full(n, w, np.float32)]

    def moment(function):
        """∫ function(log N(w; 0, ζ + m²)) p(w given ζ) p(ζ) dζ over log ζ, ζ/τ² half-Cauchy squared."""

        def integrand(log_variance):
            variance = np.exp(log_variance)
            log_density = scipy.stats.norm.logpdf(w, scale=np.sqrt(variance + floor))
            root = variance**0.5 / scale
            return function(log_density) * np.exp(log_density) * root / (np.pi * (1 + root**2))

        return scipy.integrate.quad(integrand, -25, 25, limit=500)[0]

    normaliser = moment(lambda v: 1.0)
    mean = moment(lambda v: v) / normaliser
    deviation = np.sqrt(moment(lambda v: (v - mean) ** 2) / normaliser)
    found = LogPrior(model)(theta, random.as_seed(5)) / n
    assert_near(found, mean, deviation / np.sqrt(n))
    names = [name for name, _ in model.generative.named_weights]
    start = float(model.prior.log_prob(names, theta, model.prior.initial_auxiliary(names, theta, 5))) / n
    assert abs(start - mean) > 10 * deviation / np.sqrt(n)
    assert LogPrior(model)(theta, random.as_seed(6)) / n != found


def test_what_does_not_fit_is_refused(tmp_path):
    model, posterior = unfitted(), written(tmp_path)
    for arguments in ({"weights": "nothing"}, {"x": X[:, :2]}, {"x": X, "num_samples": 0}):
        with pytest.raises(ValueError, match=f"{list(arguments)[-1].rstrip('s')}.*Received: "):
            ds.diagnostics.trace(posterior, model, **arguments)
    with pytest.raises(ValueError, match="weights of the shapes.*Received: a model with"):
        ds.diagnostics.trace(posterior, tiny_model((3,), units=4))


def test_traces_of_two_layers_never_share_a_name():
    """Layers of one name are refused; the names that layers have by default differ, and copies keep theirs."""
    layers = ds.layers.SBN(2, name="a"), ds.layers.SBN(3, name="a")
    for network in (ds.GenerativeNetwork, ds.RecognitionNetwork):
        with pytest.raises(ValueError, match=r"different names.*Received: \['a', 'a'\]"):
            network(list(layers))
    network = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(3), ds.layers.DARN(3), ds.layers.SBN(2)])
    copy = ds.GenerativeNetwork.from_config(network.get_config())
    assert len({name for name, _ in copy.named_weights}) == len(network.named_weights)
