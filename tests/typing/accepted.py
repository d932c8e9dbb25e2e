"""A program with nothing for a type checker to report: the annotations take all that users write."""

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds

tfd = tfp.distributions


def networks() -> ds.DeepGenerativeModel:
    layers = [ds.layers.SBN(3), ds.layers.DARN(4, ordering=[3, 2, 1, 0])]
    priors = {"kernel": ds.priors.Horseshoe(global_scale=0.1), "bias": tfd.Normal(0.0, 1.0), "": None}
    recognition = ds.RecognitionNetwork([ds.layers.SBN(3, kernel_initializer=keras.initializers.Zeros())])
    return ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), recognition, prior=priors, seed=1)


def learnt(model: ds.DeepGenerativeModel, x: np.ndarray) -> dict[str, list[float]]:
    kernel = ds.mcmc.SGHMC(learning_rate=ds.mcmc.schedules.PolynomialDecay(0.1), integrator="euler")
    model.compile(kernel=kernel, latents="nais", proposal=ds.proposals.Wake("adam"), num_chains="auto")
    model.compile("sgnht", ds.latents.Gibbs(persistent=True), proposal=None, steps_per_execution=12)
    model.compile(**ds.methods.dsgnht_nais(learning_rate=0.3), jit_compile=False)
    collector = ds.posterior.Collector("samples", 5, **ds.posterior.last_part(10, 5), average="auto")
    source = tf.data.Dataset.from_tensor_slices(x).batch(10)
    history = model.fit(x, batch_size=10, epochs=10, callbacks=[collector], validation_data=source, verbose=0)
    model.fit(ds.datasets.open("digits", split="train"), num_rows=100)
    return history.history


def estimated(model: ds.DeepGenerativeModel, x: list[list[float]]) -> tuple[float, float]:
    estimates = model.log_likelihood(x, num_samples=100, seed=[1, 2], standard_error=0.1)
    mean = estimates.mean()
    annealed = ds.likelihood.annealed_importance_sampling(model, np.array(x), schedule="linear", path="recognition")
    both = ds.likelihood.sandwich(model, num_rows=3, transition=ds.likelihood.HMC(step_size="auto"))
    worth = float(mean) + mean.standard_error + mean.effective_sample_size + both.lower.mean().value
    return worth, float(annealed.value[0])


def averaged(model: ds.DeepGenerativeModel, x: np.ndarray) -> np.ndarray:
    posterior = ds.posterior.load("samples")
    worth = posterior.chain(0).thin(2)[-10:].log_likelihood(model, x, average="units").mean()
    first = posterior.samples[0]
    shapes = [weight.shape for weight in first.theta]
    same: ds.DeepGenerativeModel = posterior.apply_mean(model)
    ds.diagnostics.summary(ds.diagnostics.trace(posterior, model, x, weights=["kernel"]))
    filled = same.impute(x, posterior=posterior, average="draws", method="gibbs", num_imputations=2)
    return filled + worth.standard_error + len(shapes)


def shown(model: ds.DeepGenerativeModel, history: dict[str, list[float]]) -> str:
    ds.plots.save(ds.plots.learning_curves(history), "learning.png")
    return ds.plots.save(ds.plots.samples(model.sample(9, probabilities=True), (2, 2)), "samples.png")


def undirected(x: np.ndarray) -> float:
    rbm = ds.boltzmann.RBM(4, hidden_units=3)
    estimator = ds.boltzmann.ContrastiveDivergence(steps=ds.boltzmann.GrowingSteps(20, 25))
    rbm.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), estimator)
    rbm.fit(x, epochs=2)
    log_z = ds.boltzmann.log_partition(rbm, num_runs=10, num_steps=100, base=x, schedule="adaptive")
    deep = ds.boltzmann.DBN([rbm, ds.boltzmann.RBM(3, 2)])
    deep.fit(x, epochs=[1, 2])
    posterior = ds.posterior.load("samples")
    worth = posterior.log_likelihood(rbm, x, log_partition=log_z).mean()
    known = deep.density(log_partition=ds.boltzmann.exact_log_partition).known_partition()
    return rbm.log_likelihood(x, log_z).mean().standard_error + worth + log_z.interval[0] + known.value


def pretrained(x: np.ndarray) -> float:
    posterior = ds.pretrained.load("digits", source="dist/pretrained")
    model: ds.DeepGenerativeModel = posterior.chain(0).model
    rbm: ds.boltzmann.RBM = ds.pretrained.load("rbm", cache="cache")
    worth = posterior[-5:].log_likelihood(model, x).mean() + rbm.log_likelihood(x).mean()
    return worth + len(ds.pretrained.card(ds.pretrained.names()[0]))


def of_kinds(x: np.ndarray) -> float:
    mixed = ds.boltzmann.RBM(4, 3, visible=ds.boltzmann.units.Gaussian(learnt=True), hidden="spin")
    ising = ds.boltzmann.rbm_from_arrays([[0.5, -1.0]], visible="spin", hidden="spin")
    exact = ds.boltzmann.exact_log_partition(ising)
    return mixed.impute(x, steps=3).mean() + exact + ising.machine.energy(x, x).shape[0]


def filled(x: np.ndarray) -> np.ndarray:
    imputer = ds.Imputer("SBN 2", method="dsgnht_nais", strategy="mode", random_state=0)
    return imputer.fit(x).transform(x)


def served(model: ds.DeepGenerativeModel, path: str) -> np.ndarray:
    ds.serving.export(model, path, data_shape=(2, 2), overwrite=True)
    server = ds.serving.make_server(path, port=0)
    print(server.url, server.predictions.version)
    with ds.serving.Client("http://localhost:8501", "model") as client:
        return client.sample(num_samples=3)


class Cyclical(keras.optimizers.schedules.LearningRateSchedule):
    def __call__(self, step):
        return 0.1


class Prior(ds.priors.WeightPrior):
    def log_prob(self, value, auxiliary):
        return -tf.reduce_sum(tf.abs(value))


MODEL = ds.DeepGenerativeModel(
    generative=ds.models.from_name("SBN/NADE 20-10", units=64).generative,
    recognition=ds.RecognitionNetwork([]),
    prior=Prior(),
)
KERNEL = ds.mcmc.SGLD(Cyclical())
