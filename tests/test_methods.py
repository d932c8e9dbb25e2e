"""The methods: what each is made of."""

import re

import keras
import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model

PARTS = ("kernel", "latents", "proposal")

SGLD = (ds.mcmc.SGLD, {"learning_rate": 0.01, "temperature": 1.0, "integrator": "euler"})
SGHMC = (ds.mcmc.SGHMC, {"learning_rate": 0.01, "friction": 0.1, "temperature": 1.0, "integrator": "euler"})
SGNHT = (ds.mcmc.SGNHT, {**SGHMC[1], "thermostat_mass": 1.0})
MAP = (ds.mcmc.MAP, {"temperature": 0.0, "optimizer": 3e-3})
UNIFORM = (ds.latents.NAIS, {"num_samples": 1, "weights": "uniform"})
WEIGHTED = (ds.latents.NAIS, {"num_samples": 5, "weights": "importance", "warm_up": 0})
GIBBS = (ds.latents.Gibbs, {"num_samples": 5, "burn_in": 5, "initial": "recognition", "persistent": False})
CHAINS = (ds.latents.Gibbs, {"num_samples": 1, "burn_in": 0, "initial": "recognition", "persistent": True})
WAKE = (ds.proposals.Wake, {"optimizer": 3e-4, "redraw": True})
WARM_SGLD = (ds.mcmc.SGLD, {**SGLD[1], "learning_rate": 0.5})
WARM_SGHMC = (ds.mcmc.SGHMC, {**SGHMC[1], "learning_rate": 0.3, "integrator": "splitting"})
WARM_SGNHT = (ds.mcmc.SGNHT, {**WARM_SGHMC[1], "thermostat_mass": "auto"})
MORE = (ds.latents.NAIS, {"num_samples": 25, "weights": "importance", "climbing_samples": 10, "warm_up": "auto"})
WAKE_SLEEP = (ds.proposals.WakeSleep, {"optimizer": 1e-2, "redraw": False, "sleep_weight": 0.5})
NAIS = ("dsgld_nais", "dsghmc_nais", "dsgnht_nais")
WARM = (*NAIS, "dsghmc_gibbs", "dsgnht_gibbs")  # whose kernel has a warm start, and whose chains may be several

DEFAULTS = {  # the classes and configs of kernel, latents and proposal; of an optimizer, Adam, the learning rate
    "dsgld_nais": (WARM_SGLD, MORE, WAKE_SLEEP),
    "dsghmc_nais": (WARM_SGHMC, MORE, WAKE_SLEEP),
    "dsgnht_nais": (WARM_SGNHT, MORE, WAKE_SLEEP),
    "dsghmc_gibbs": (WARM_SGHMC, CHAINS, None),
    "dsgnht_gibbs": (WARM_SGNHT, CHAINS, None),
    "rws": (
        MAP,
        (WEIGHTED[0], {**WEIGHTED[1], "warm_up": "auto"}),
        (ds.proposals.WakeSleep, {**WAKE_SLEEP[1], "optimizer": 3e-3}),
    ),
    "wake_sleep": (MAP, UNIFORM, (ds.proposals.Sleep, {"optimizer": 3e-3})),
    "nvil": (MAP, UNIFORM, (ds.proposals.NVIL, {"optimizer": 3e-3, "baseline_units": 100, "decay": 0.8})),
    "vae": (MAP, UNIFORM, (ds.proposals.IWAE, {"optimizer": 3e-3, "bound": "elbo"})),
    "iwae": (MAP, WEIGHTED, (ds.proposals.IWAE, {"optimizer": 3e-3, "bound": "importance"})),
}
PUBLISHED = {
    "dsgld_nais": (SGLD, WEIGHTED, WAKE),
    "dsghmc_nais": (SGHMC, WEIGHTED, WAKE),
    "dsgnht_nais": (SGNHT, WEIGHTED, WAKE),
    "dsghmc_gibbs": (SGHMC, GIBBS, None),
    "dsgnht_gibbs": (SGNHT, GIBBS, None),
}
OPTIMIZERS = {  # as published, of θ and of φ
    "rws": [(keras.optimizers.SGD, {"learning_rate": rate, "momentum": 0.95}) for rate in (1e-3, 2e-3)],
    "wake_sleep": [(keras.optimizers.SGD, {"learning_rate": rate, "momentum": 0.0}) for rate in (2e-3, 4e-4)],
    "nvil": [(keras.optimizers.SGD, {"learning_rate": rate, "momentum": 0.0}) for rate in (2e-3, 4e-4)],
    "vae": 2 * [(keras.optimizers.Adagrad, {"learning_rate": 0.01})],
    "iwae": 2 * [(keras.optimizers.Adam, {"learning_rate": 1e-3, "epsilon": 1e-4})],
}
STEPS = {  # of their own
    "polya_gamma_gibbs": (ds.augmentation.PolyaGammaGibbs, {"sweeps": 1, "initial": "prior", "burn_in": 0}),
    "vb": (ds.augmentation.MeanFieldVB, {"covariance": "full", "rounds": 1}),
    "online_vb": (ds.augmentation.OnlineVB, {"rate": 0.1, "covariance": "full", "rounds": 4}),
}
CONTINUOUS = ("vae", "iwae")
SAMPLERS = [name for name, (kernel, *_) in DEFAULTS.items() if kernel is not MAP]
CHANGES = [  # methods, arguments, and what they change: (part, its config)
    ([name for name in DEFAULTS if name not in NAIS], {"num_samples": 3}, {"latents": {"num_samples": 3}}),
    (NAIS, {"num_samples": 3}, {"latents": {"num_samples": 3, "climbing_samples": 3}}),
    (NAIS, {"num_samples": 30}, {"latents": {"num_samples": 30, "climbing_samples": 10}}),
    (SAMPLERS, {"learning_rate": 0.2}, {"kernel": {"learning_rate": 0.2}}),
    (SAMPLERS[1:], {"friction": 0.3}, {"kernel": {"friction": 0.3}}),
    (SAMPLERS[1:], {"integrator": "splitting"}, {"kernel": {"integrator": "splitting"}}),
    (SAMPLERS[1:], {"integrator": "euler"}, {"kernel": {"integrator": "euler"}}),
    (["dsgnht_nais", "dsgnht_gibbs"], {"thermostat_mass": 2.0}, {"kernel": {"thermostat_mass": 2.0}}),
    (
        ["dsghmc_gibbs", "dsgnht_gibbs"],
        {"burn_in": 7},
        {"latents": {"burn_in": 7}},
    ),
    (
        ["dsghmc_gibbs", "dsgnht_gibbs"],
        {"persistent": False},
        {"latents": {"burn_in": 5, "persistent": False}},
    ),
    (
        [name for name in DEFAULTS if name not in SAMPLERS],
        {"learning_rate": 0.2},
        {"kernel": {"optimizer": 0.2}, "proposal": {"optimizer": 0.2}},
    ),
    (
        ["nvil"],
        {"baseline_units": 4, "decay": 0.5},
        {"proposal": {"baseline_units": 4, "decay": 0.5}},
    ),
]


def config_of(part):
    """(class, config) of a part, of an optimizer the learning rate; the class is checked to be Adam."""
    if part is None:
        return None
    config = dict(part.get_config())
    if "optimizer" in config:
        assert type(part.optimizer) is keras.optimizers.Adam
        config["optimizer"] = round(float(part.optimizer.learning_rate.numpy()), 7)
    return type(part), config


def rates_of_climb(method):
    rate = method["kernel"].optimizer.get_config()["learning_rate"]
    rate = keras.saving.deserialize_keras_object(rate) if isinstance(rate, dict) else lambda _, constant=rate: constant
    return [round(float(rate(step)), 7) for step in (0, 1999, 2000, 6000)]


def assert_parts(method, expected, warm=False):
    """The parts of a method; with a warm start, of the kernel that samples."""
    if warm:
        assert type(method["kernel"]) is ds.mcmc.WarmStart and method.pop("num_chains") == "auto"
        rates = [0.003] * 4 if method["proposal"] is None else [1.5e-05, 0.0150038, 0.015, 0.0075]
        assert rates_of_climb(method) == rates
        assert method["kernel"].get_config()["updates"] is None
        method["kernel"] = method["kernel"].kernel
    assert set(method) == set(PARTS)
    for name, want in zip(PARTS, expected):
        got = config_of(method[name])
        if want is None or got is None:
            assert got is want
        else:
            assert got[0] is want[0] and {key: got[1][key] for key in want[1]} == want[1]


def test_every_method_is_here():
    public = {name: value for name, value in vars(ds.methods).items() if callable(value) and not name.startswith("_")}
    own = {name for name, value in public.items() if value.__module__.startswith(ds.methods.__name__)}
    assert own == {*DEFAULTS, *STEPS}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_their_own(name):
    kind, config = STEPS[name]
    method = getattr(ds.methods, name)()
    assert set(method) == {"step"} and type(method["step"]) is kind
    assert config.items() <= method["step"].get_config().items()


@pytest.mark.parametrize("name", DEFAULTS)
def test_the_parts_are_the_ones_that_the_documentation_names(name):
    assert_parts(getattr(ds.methods, name)(), DEFAULTS[name], name in WARM)


@pytest.mark.parametrize("name", NAIS)
def test_as_published(name):
    """Nested updates and fresh draws included; what is given goes before."""
    method = getattr(ds.methods, name)(as_published=True)
    assert [method.pop(part) for part in ("kernel_steps", "interleaved", "num_chains")] == [10, True, 1]
    assert_parts(method, PUBLISHED[name])
    method = getattr(ds.methods, name)(learning_rate=0.2, num_samples=3, num_chains=2, as_published=True)
    assert method["kernel"].learning_rate == 0.2 and method["latents"].num_samples == 3 and method["num_chains"] == 2
    with pytest.raises(ValueError, match="Received: as_published=1"):
        getattr(ds.methods, name)(as_published=1)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers_as_published(name):
    """All else is as by default, but for the warm-up; what is given goes before."""
    method, default = getattr(ds.methods, name)(as_published=True), getattr(ds.methods, name)()
    assert set(method) == set(PARTS) and method["latents"].warm_up == 0
    assert method["latents"].get_config() == {**default["latents"].get_config(), "warm_up": 0}
    for part, (kind, settings) in zip((method["kernel"], method["proposal"]), OPTIMIZERS[name]):
        assert type(part.optimizer) is kind
        got = {key: part.optimizer.get_config()[key] for key in settings}
        assert {key: round(float(value), 7) for key, value in got.items()} == settings
    given = keras.optimizers.Adam(0.5)
    method = getattr(ds.methods, name)(0.3, optimizer=given, num_samples=7, as_published=True)
    assert method["proposal"].optimizer is given and method["latents"].num_samples == 7
    assert float(method["kernel"].optimizer.learning_rate) == pytest.approx(0.3)
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    if name in CONTINUOUS:
        method = getattr(ds.methods, name)(schedule, as_published=True)
        assert float(method["proposal"].optimizer.learning_rate) == pytest.approx(0.1)
    else:  # whose φ has a multiple of the rate
        with pytest.raises(ValueError, match="Received: "):
            getattr(ds.methods, name)(schedule, as_published=True)
    for wrong in ({"as_published": 1}, {"as_published": True, "learning_rate": 0}):
        with pytest.raises(ValueError, match=f"Received: {list(wrong)[-1]}={list(wrong.values())[-1]}"):
            getattr(ds.methods, name)(**wrong)


@pytest.mark.parametrize("name", ["dsghmc_gibbs", "dsgnht_gibbs"])
def test_gibbs_as_published(name):
    method = getattr(ds.methods, name)(as_published=True)
    assert (method.pop("kernel_steps"), method.pop("num_chains")) == (10, 1)
    assert_parts(method, PUBLISHED[name])
    with pytest.raises(ValueError, match="Received: as_published=1"):
        getattr(ds.methods, name)(as_published=1)


@pytest.mark.parametrize("name", STEPS)
def test_steps_as_published(name):
    """Diagonal covariances where none are given, and else the defaults."""
    method = getattr(ds.methods, name)
    published, default = (method(as_published=value)["step"].get_config() for value in (True, False))
    assert default == method()["step"].get_config()
    changed = {} if name == "polya_gamma_gibbs" else {"covariance": "diagonal"}
    assert published == {**default, **changed}
    if changed:
        assert method(covariance="full", as_published=True)["step"].get_config() == default
    with pytest.raises(ValueError, match="Received: as_published=1"):
        method(as_published=1)


@pytest.mark.parametrize(("names", "arguments", "changes"), CHANGES, ids=lambda part: str(list(part)[:1]))
def test_arguments_reach_their_parts(names, arguments, changes):
    """And nothing but their parts."""
    for name in names:
        expected = [part and (part[0], {**part[1], **changes.get(key, {})}) for key, part in zip(PARTS, DEFAULTS[name])]
        assert_parts(getattr(ds.methods, name)(**arguments), expected, name in WARM)


@pytest.mark.parametrize("name", DEFAULTS)
def test_an_optimizer_is_that_of_phi_alone(name):
    """With Gibbs sampling it makes φ learn at all, from the states of the chains."""
    optimizer = keras.optimizers.SGD(0.5)
    method = getattr(ds.methods, name)(optimizer=optimizer)
    assert method["proposal"].optimizer is optimizer
    assert getattr(method["kernel"], "optimizer", None) is not optimizer
    if DEFAULTS[name][2] is None:
        assert type(method["proposal"]) is ds.proposals.Wake and not method["proposal"].redraw


@pytest.mark.parametrize("name", DEFAULTS)
def test_calls_share_nothing(name):
    """A Keras optimizer serves one model."""
    one, other = getattr(ds.methods, name)(), getattr(ds.methods, name)()
    for part in PARTS:
        assert one[part] is None or one[part] is not other[part]
        assert getattr(one[part], "optimizer", 1) is not getattr(other[part], "optimizer", 2)


def test_a_schedule_is_a_learning_rate_too():
    schedule = keras.optimizers.schedules.ExponentialDecay(0.1, 10, 0.5)
    for name in SAMPLERS:
        assert getattr(ds.methods, name)(learning_rate=schedule)["kernel"].learning_rate is schedule


def test_a_number_of_chains():
    assert ds.methods.dsgnht_nais(num_chains=1)["num_chains"] == 1


@pytest.mark.parametrize("name", DEFAULTS)
def test_unknown_and_bad_arguments_are_refused(name):
    method = getattr(ds.methods, name)
    with pytest.raises(TypeError, match="colour"):
        method(colour="red")
    with pytest.raises(ValueError, match="Received: num_samples="):
        method(num_samples=0)
    if name in SAMPLERS:
        with pytest.raises(ValueError, match="Received: learning_rate="):
            method(learning_rate=-0.1)
        with pytest.raises(ValueError, match="Received: num_chains="):
            method(num_chains=0)


@pytest.mark.parametrize("name", ["dsghmc_gibbs", "dsgnht_gibbs"])
def test_with_gibbs_sampling_phi_learns_where_it_has_an_optimizer(name):
    model = tiny_model((2,))
    model.compile(**getattr(ds.methods, name)(num_chains=1), jit_compile=False)
    assert model.run.step.learning is None and model.optimizer is None
    model.compile(**getattr(ds.methods, name)(num_chains=1, optimizer="sgd"), jit_compile=False)
    assert model.run.step.learning is not None and isinstance(model.optimizer, keras.optimizers.SGD)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_the_autoencoders_need_continuous_latents(name):
    with pytest.raises(ValueError, match="every latent layer must be continuous.*Received: .*sbn"):
        tiny_model((2,)).compile(**getattr(ds.methods, name)(), jit_compile=False)


def settings_of(model):
    """What `compile` was told, as text; Keras numbers the names of optimizers."""
    return re.sub(r"'adam(_\d+)?'", "'adam'", repr(model.get_compile_config()))


def test_compile_alone_is_the_default_method():
    """Parts, chains and all; with a part given the others are the simplest, and with None φ does not learn."""
    model = tiny_model((2,), units=4)
    model.compile(jit_compile=False)
    kept = settings_of(model)
    model.compile(**ds.methods.dsgnht_nais(), jit_compile=False)
    assert kept == settings_of(model) and model.run.num_chains == 3
    model.compile(num_chains=2, jit_compile=False)
    assert kept.replace("'num_chains': 'auto'", "'num_chains': 2") == settings_of(model) != kept
    for given in ({"kernel": "sgnht"}, {"latents": "nais"}, {"proposal": "wake"}):
        model.compile(**given, jit_compile=False)
        assert config_of(model.fitting.settings["kernel"])[0] is ds.mcmc.SGNHT and model.run.num_chains == 1
        assert config_of(model.fitting.settings["latents"]) == config_of(ds.latents.NAIS())
        assert type(model.fitting.settings["proposal"]) is ds.proposals.Wake
    model.compile(proposal=None, jit_compile=False)
    assert model.fitting.settings["proposal"] is None and type(model.fitting.settings["kernel"]) is ds.mcmc.SGNHT
