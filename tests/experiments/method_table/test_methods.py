"""What the methods of a table are: the prior of their models, and the phases of their learning."""

import numpy as np
import tensorflow_probability as tfp

import tfdsmcmc as ds
from experiments.method_table import methods
from experiments.method_table import row as table_row


def test_models_start_at_the_mean_of_the_data_with_the_prior_of_their_method(tiny, tmp_path, settings):
    x = ds.datasets.load("tiny", tmp_path).train
    flat = table_row.build("rws", "SBN 2", settings("rws"), x)
    bias = flat.generative.layers[-1].bias.numpy()
    np.testing.assert_allclose(1 / (1 + np.exp(-bias)), (x.sum(0) + 1) / (len(x) + 2), rtol=1e-5)
    assert float(flat.prior.log_prob(["kernel"], [[3.0]])) == 0.0
    sampler = table_row.build("dsgnht_nais", "SBN 2", settings("dsgnht_nais"), x)
    assert sampler.prior.get_config() == ds.Prior().get_config()
    exact = tfp.distributions.StudentT(df=2.2, loc=0.0, scale=0.09).log_prob(3.0)
    for option in ("--as-published", "--published-prior"):
        published = table_row.build("dsgnht_nais", "SBN 2", settings("dsgnht_nais", option), x)
        np.testing.assert_allclose(published.prior.log_prob(["kernel"], [[3.0]], []), exact, rtol=1e-5)
    deep = table_row.build("vae", "VAE 2", settings("vae", "--hidden-units", "4", "5"), x)
    assert deep.recognition.layers[0].hidden_units == [4, 5]


def test_methods_are_what_their_names_say(settings):
    """Phases of `compile`: the published schedule of reweighted wake-sleep, what teaches φ, and DSGNHT with IWAE."""
    first, second = methods.phases("rws_published", 0.003, settings("rws_published"))
    assert (first["latents"].num_samples, second["latents"].num_samples) == (5, 25)
    for phase, rate in ((first, 0.003), (second, 0.001)):
        theta, phi = phase["kernel"].optimizer, phase["proposal"].optimizer
        np.testing.assert_allclose([float(theta.learning_rate), float(phi.learning_rate)], [rate, 2 * rate], rtol=1e-6)
        assert theta.momentum == phi.momentum == 0.95 and phase["proposal"].sleep_weight == 0.5
    teachers = {"rws_sleep": ds.proposals.Sleep, "rws_wake": ds.proposals.Wake, "rws_untaught": type(None)}
    for name, kind in teachers.items():
        (phase,) = methods.phases(name, 0.1, settings(name))
        assert type(phase["proposal"]) is kind and type(phase["kernel"]) is ds.mcmc.MAP
    (phase,) = methods.phases("dsgnht_iwae", 0.2, settings("dsgnht_iwae"))
    assert type(phase["kernel"].kernel) is ds.mcmc.SGNHT and type(phase["proposal"]) is ds.proposals.IWAE
    assert phase["kernel"].learning_rate == 0.2 and phase["num_chains"] == 1
    (phase,) = methods.phases("dsgnht_gibbs", 0.2, settings("dsgnht_gibbs"))
    assert phase["kernel"].learning_rate == 0.2 and phase["latents"].persistent and phase["num_chains"] == 1
    assert phase["proposal"] is None and float(phase["kernel"].optimizer.learning_rate) == np.float32(3e-3)
    told = "--proposal-learning-rate 0.5 --patience 7 --climbing-rate 0.2".split()
    for method in ("dsgnht_gibbs", "dsgnht_nais"):
        (phase,) = methods.phases(method, 0.1, settings(method, *told))
        kernel, schedule = phase["kernel"], phase["kernel"].optimizer.get_config()["learning_rate"]["config"]
        assert kernel.patience == 7 and schedule["initial_learning_rate"] == 0.2
        assert kernel.learning_rate == 0.1 and float(phase["proposal"].optimizer.learning_rate) == 0.5
    (phase,) = methods.phases("dsgnht_nais", 0.1, settings("dsgnht_nais", *told, "--climbing-offset", "9"))
    schedule = ds.mcmc.schedules.RiseAndFall(0.2, offset=9.0)
    assert phase["kernel"].optimizer.get_config()["learning_rate"]["config"] == schedule.get_config()
    for method in methods.METHODS:
        for phase in methods.phases(method, 0.1, settings(method)):
            assert {"kernel", "latents", "proposal"} <= set(phase)
