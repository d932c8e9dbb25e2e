"""Many chains as one posterior: memory is that of a sample or two, of units that of a chain's draws."""

import json
import os
import tracemalloc

import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc.posterior import store

CHAINS, DRAWS = 30, 8


@pytest.fixture(scope="module")
def model():
    return ds.models.from_name("SBN/SBN 250", units=300, seed=0)


@pytest.fixture(scope="module")
def folder(tmp_path_factory, model):
    """Chains whose files are those of the first, under other names."""
    folder, rng = tmp_path_factory.mktemp("runs"), np.random.default_rng(0)
    for chain in range(CHAINS):
        samples = folder / f"chain_{chain:04d}" / "samples"
        samples.mkdir(parents=True)
        for step in range(1, DRAWS + 1):
            theta, phi = (
                [rng.normal(0, 0.1, variable.shape).astype(np.float32) for variable in group]
                for group in (model.theta_variables, model.phi_variables)
            )
            if chain:
                name = f"sample_{step:09d}.h5"
                os.link(folder / "chain_0000" / "samples" / name, samples / name)
            else:
                store.write_draw(samples, [store.Sample(theta, phi, step)])
        said = {"chain": chain, "seed": 0, "rows": 1, "weights": 1, "prior": "p", "method": "m"}
        (samples.parent / "chain.json").write_text(json.dumps(said))
        (samples.parent / "model.keras").write_text("")
    return folder


def peak_of(work):
    """(its result, the most memory of Python and NumPy that it has beyond what was there)."""
    tracemalloc.start()
    try:
        return work(), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::tfdsmcmc.likelihood.UnreliableImportanceWeights")
def test_samples_are_read_one_at_a_time(folder, model):
    """A sample has 0.6 MB, all of them 144 MB, and those of a chain 4.8 MB."""
    posterior, peak = peak_of(lambda: ds.posterior.load(folder))
    size = sum(part.nbytes for part in posterior.samples[0].arrays)
    assert (posterior.num_chains, len(posterior.samples)) == (CHAINS, CHAINS * DRAWS) and size > 6e5
    assert peak < 6 * size
    x = (np.random.default_rng(1).random((10, 300)) < 0.4).astype(np.uint8)
    chain = posterior.chain(0)
    for average, most in (("weights", 12), ("units", 6 * DRAWS)):
        one = chain.log_likelihood(model, x, 5, average=average)  # its programs are traced before memory is measured
        many, peak = peak_of(lambda average=average: posterior.log_likelihood(model, x, 5, average=average))
        assert peak < most * size and many.value.shape == one.value.shape
    with pytest.warns(ds.posterior.MeanOverChains):
        (theta, _), peak = peak_of(posterior.mean)
    assert peak < 12 * size
    for found, wanted in zip(theta, chain.mean()[0], strict=True):
        np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_parts_have_what_a_component_is_made_of():
    samples = [store.Sample([np.full(2, i)], [np.zeros(1)], i // 2, i % 2) for i in range(6)]
    starts = [store.Sample([np.full(2, 10 + i)], [np.zeros(1)], 0, i) for i in range(2)]
    posterior = ds.posterior.Posterior(None, samples, "weights", starts)
    for average in ("weights", "units"):
        assert [[s.theta[0][0] for s in part.samples] for part in posterior.parts(average)] == [[0, 2, 4], [1, 3, 5]]
        assert all(part.average == average and part.starts == [] for part in posterior.parts(average))
    assert [part.samples for part in posterior.parts("draws")] == [[sample] for sample in samples]
    assert [part.starts for part in posterior.parts("start")] == [[start] for start in starts]
    with pytest.raises(ValueError, match="Received: average='all'"):
        posterior.parts("all")
