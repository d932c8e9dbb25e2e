"""Mistakes that a type checker reports, one in each line that ends in a comment "refused".

It knows not all base classes of Keras, and so takes an object of a Keras class for any other.
"""

import numpy as np

import tfdsmcmc as ds

model = ds.models.from_name("SBN 2", units=4)
posterior = ds.posterior.load("samples")
rbm = ds.boltzmann.RBM(4, hidden_units=3)
x = np.eye(4)

model.compile(kernel="sgnth")  # refused
model.compile(kernel=ds.latents.NAIS())  # refused
model.compile(latents="gibs")  # refused
model.compile(proposal="wake-sleep")  # refused
model.compile(num_chains="three")  # refused
model.fit(x, y=x)  # refused
model.fit(x, batch_sizes=10)  # refused
model.fit(x, callbacks=["collector"])  # refused
model.log_likelihood(x).means()  # refused
print(model.log_likelihood(x).mean().standard_eror)  # refused
model.sample(3, seed="one")  # refused
model.impute(x, mask=object())  # refused

ds.methods.dsghmc_nais(integrator="leapfrog")  # refused
ds.methods.dsgnht_niso()  # refused
ds.mcmc.SGHMC(gradient_noise="guess")  # refused
ds.mcmc.SGNHT(thermostat="one")  # refused
ds.mcmc.WarmStart(kernel="sgnht")  # refused
ds.layers.SBN("3")  # refused
ds.GenerativeNetwork([3, 4])  # refused
ds.priors.Horseshoe(group="row")  # refused
ds.Prior({"kernel": 0.1})  # refused

posterior.log_likelihood(model, x, average="unit")  # refused
posterior.log_likelihood(x, model)  # refused
print(posterior.samples[0].weights)  # refused
ds.posterior.Collector("samples", average="mean")  # refused
ds.likelihood.sandwich(model, path="posterior")  # refused
ds.likelihood.annealed_importance_sampling(model, x, direction="backward")  # refused
ds.imputation.impute(model, x, method="gibs")  # refused
ds.Imputer(strategy="mean")  # refused
ds.Imputer(method="dsgnht_nias")  # refused
ds.datasets.load("digits", binarization="round")  # refused
print(ds.datasets.load("digits").training)  # refused
ds.datasets.open("digits", split="validation")  # refused
ds.boltzmann.log_partition(rbm, schedule="log")  # refused
ds.boltzmann.RBM(4, hidden_units=3, visible="ising")  # refused
ds.boltzmann.units.Gaussian(learned=True)  # refused
rbm.compile(estimator="cd")  # refused
ds.serving.export(model, "served", average="mean")  # refused
ds.serving.Client("http://localhost:8501", retry=3)  # refused
ds.pretrain(model, x, epochs=1, method="vb")  # refused
ds.plots.samples(x)  # refused
ds.postrior.load("samples")  # refused
