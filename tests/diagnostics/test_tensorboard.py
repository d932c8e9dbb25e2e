"""Event files, read back."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import patterns
from tests.oracles import tiny_model
from tfdsmcmc.diagnostics import tensorboard


def scalars_and_histograms(folder):
    """{tag: {epoch: value}} of the scalars and {tag: [epochs]} of the histograms in a folder of event files."""
    scalars, histograms = {}, {}
    for file in sorted(str(path) for path in folder.glob("*tfevents*")):
        for record in tf.data.TFRecordDataset(file):
            event = tf.compat.v1.Event.FromString(record.numpy())
            for value in event.summary.value:
                array = tf.make_ndarray(value.tensor)
                if array.shape == ():
                    scalars.setdefault(value.tag, {})[event.step] = float(array)
                else:
                    histograms.setdefault(value.tag, []).append(event.step)
    return scalars, histograms


class Remember(keras.callbacks.Callback):
    """log p(θ) by SciPy at the end of each epoch."""

    def on_train_begin(self, logs=None):
        self.log_priors = []

    def on_epoch_end(self, epoch, logs=None):
        theta = [v.numpy().astype(np.float64) for v in self.model.generative.trainable_variables]
        self.log_priors.append(sum(scipy.stats.t.logpdf(w, 2.2, scale=0.09).sum() for w in theta))


@pytest.mark.slow
def test_what_the_chain_does_is_written(tmp_path):
    """The kernel's rate by its schedule at the step of each epoch's end, φ's by its optimizer's."""
    schedule = ds.mcmc.PolynomialDecay(0.1, offset=2.0, power=1.0)
    rate = keras.optimizers.schedules.ExponentialDecay(0.01, 3, 0.5)
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    proposal = ds.proposals.Wake(keras.optimizers.Adam(rate))
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=schedule), proposal=proposal, jit_compile=False)
    board, remember = ds.diagnostics.TensorBoard(tmp_path, histogram_freq=2), Remember()
    x = patterns(60)
    fitted = model.fit(x, batch_size=20, epochs=3, verbose=0, validation_data=x, callbacks=[board, remember])
    scalars, histograms = scalars_and_histograms(tmp_path / "train")
    metrics = {"log_likelihood", "effective_sample_size", "kinetic_temperature"}
    added = {"log_prior", "kernel_learning_rate", "learning_rate"}
    assert {f"epoch_{name}" for name in metrics | added} <= set(scalars)
    for name in metrics:
        np.testing.assert_allclose(list(scalars[f"epoch_{name}"].values()), fitted.history[name], rtol=1e-5)
    assert not added & set(fitted.history)
    np.testing.assert_allclose(list(scalars["epoch_log_prior"].values()), remember.log_priors, rtol=1e-4)
    expected = [0.1 / (1 + 3 * epoch / 2) for epoch in (1, 2, 3)]
    np.testing.assert_allclose(list(scalars["epoch_kernel_learning_rate"].values()), expected, rtol=1e-5)
    expected = [0.01 * 0.5**epoch for epoch in (1, 2, 3)]
    np.testing.assert_allclose(list(scalars["epoch_learning_rate"].values()), expected, rtol=1e-4)
    names = [v.path for v in model.trainable_variables]
    assert len(names) == 6 and all(histograms[f"{name}/histogram"] == [0, 2] for name in names)
    validation, _ = scalars_and_histograms(tmp_path / "validation")
    np.testing.assert_allclose(
        list(validation["epoch_log_likelihood"].values()), fitted.history["val_log_likelihood"], rtol=1e-5
    )


@pytest.mark.slow
def test_shrinkage_priors_kernels_without_a_rate_and_a_fixed_recognition_network(tmp_path):
    """log p(θ given λ) with the chain's own λ; the rate of an optimizer; no rate of φ where it does not learn."""
    model = tiny_model((2,), units=4, prior={"kernel": ds.priors.Horseshoe(), "": None})
    kernel = ds.mcmc.MAP(optimizer=keras.optimizers.Adam(0.02))
    model.compile(kernel=kernel, proposal=None, jit_compile=False)
    model.fit(patterns(40), batch_size=20, verbose=0, callbacks=[ds.diagnostics.TensorBoard(tmp_path)])
    scalars, histograms = scalars_and_histograms(tmp_path / "train")
    assert scalars["epoch_kernel_learning_rate"] == {0: pytest.approx(0.02)}
    assert "epoch_learning_rate" not in scalars and not histograms
    scales = [v.numpy() for name, v in model.run.saved.items() if name.startswith("auxiliary")]
    kernels = [v.numpy() for name, v in model.generative.named_weights if "kernel" in name]
    expected = sum(
        scipy.stats.norm.logpdf(w, scale=np.sqrt(z + 0.01**2)).sum() for w, z in zip(kernels, scales, strict=True)
    )
    assert scalars["epoch_log_prior"] == {0: pytest.approx(expected, rel=1e-4)}


@pytest.mark.slow
@pytest.mark.parametrize("method", [ds.methods.polya_gamma_gibbs, ds.methods.vb, ds.methods.online_vb])
def test_methods_without_a_kernel_have_metrics_alone(tmp_path, method):
    model = tiny_model((2,), units=4)
    model.compile(**method(), jit_compile=False)
    model.fit(patterns(40), batch_size=20, verbose=0, callbacks=[ds.diagnostics.TensorBoard(tmp_path)])
    scalars, _ = scalars_and_histograms(tmp_path / "train")
    assert scalars and "epoch_log_prior" not in scalars


def test_a_kernel_of_ones_own_may_have_no_rate():
    model = tiny_model((2,), units=4)
    model.compile(kernel=ds.mcmc.SGLD(), jit_compile=False)
    del model.run.step.kernel.parameters["learning_rate"]
    assert set(tensorboard._state_of(model)) == {"log_prior"}


@pytest.mark.slow
def test_each_of_several_chains_has_its_log_prior(tmp_path):
    """By SciPy, with the chain's own weights and scales."""
    model = tiny_model((2,), units=4, prior={"kernel": ds.priors.Horseshoe(), "": None})
    model.compile(kernel="sgld", proposal=None, jit_compile=False, num_chains=2)
    model.fit(patterns(40), batch_size=20, verbose=0, callbacks=[ds.diagnostics.TensorBoard(tmp_path)])
    scalars, _ = scalars_and_histograms(tmp_path / "train")
    scales = [v.numpy() for name, v in model.run.saved.items() if name.startswith("auxiliary")]
    found = [scalars[f"epoch_log_prior_chain_{c}"][0] for c in range(2)]
    for c, (theta, _) in enumerate(model.chain_weights()):
        deviations = [np.sqrt(part[c] + 0.01**2) for part in scales]
        expected = sum(scipy.stats.norm.logpdf(w, scale=s).sum() for w, s in zip(theta[::2], deviations, strict=True))
        assert found[c] == pytest.approx(expected, rel=1e-4)
    assert found[0] != found[1] and "epoch_log_prior" not in scalars


def test_steps_of_a_recognition_network_that_does_not_learn_are_refused(tmp_path):
    model = tiny_model((2,), units=4)
    model.compile(kernel="sgld", proposal=None, jit_compile=False)
    board = ds.diagnostics.TensorBoard(tmp_path, write_steps_per_second=True)
    with pytest.raises(ValueError, match="Received: write_steps_per_second"):
        model.fit(patterns(40), verbose=0, callbacks=[board])
