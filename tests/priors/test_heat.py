"""What the jumps of the scales do to kernels of finite steps, as the documentation of the shrinkage priors says it."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds

NUM_ROWS, ENTRIES, STEPS = 1200.0, 2**14, 10_000
QUARTILES = [0.25, 0.5, 0.75]


def exact_draws(prior, seed):
    rng = np.random.default_rng(seed)
    scale = prior.global_scale * np.abs(rng.standard_cauchy(ENTRIES))
    return (np.sqrt(scale**2 + prior.minimum_scale**2) * rng.normal(size=ENTRIES)).astype(np.float32)


def quartiles_after(kernel):
    """The quartiles of |w| after many steps on the prior alone, relative to those of exact draws, whence it starts."""
    prior = ds.Prior(ds.priors.Horseshoe())
    start = exact_draws(prior.for_weight("w"), seed=0)
    kernel = kernel.copy(temperature=1 / NUM_ROWS)

    @tf.function(jit_compile=True)
    def run(w):
        def step(i, w, results, auxiliary):
            def gradient_fn(w, seed):
                variance = auxiliary[0] + ds.priors.Horseshoe().minimum_scale ** 2
                return [-w / variance / NUM_ROWS], ()

            (w,), results, _ = kernel.integrate(gradient_fn, [w], results, ds.random.fold([3, 0], i))
            return i + 1, w, results, prior.update_auxiliary(["w"], [w], auxiliary, ds.random.fold([4, 0], i))

        state = (0, w, kernel.bootstrap_results([w], seed=1), prior.initial_auxiliary(["w"], [w], 2))
        return tf.while_loop(lambda i, *_: i < STEPS, step, state)[1]

    other = exact_draws(prior.for_weight("w"), seed=1)
    after, before = (np.quantile(np.abs(w), QUARTILES) for w in (run(tf.constant(start)), other))
    return after / before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kernel", "least", "most"),
    [
        (ds.mcmc.SGHMC(learning_rate=0.1), 0.10, 0.35),
        (ds.mcmc.SGHMC(learning_rate=0.01), -0.10, 0.15),
        (ds.mcmc.SGLD(learning_rate=0.1), -0.05, 0.20),
        (ds.mcmc.SGLD(learning_rate=0.01), -0.10, 0.10),
        (ds.mcmc.SGNHT(learning_rate=0.1), -0.10, 0.10),
    ],
)
def test_the_spread_is_what_the_documentation_says(kernel, least, most):
    """A quartile of 16,384 entries has a standard error of up to 2 %, the ratio of two 3 %."""
    excess = quartiles_after(kernel) - 1
    assert np.all(excess > least) and np.all(excess < most), excess
