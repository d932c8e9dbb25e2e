"""A run says where importance samples are too few to learn from, and what to call instead."""

import types
import warnings

import pytest

import tfdsmcmc as ds
from tests.oracles import tiny_model
from tests.posterior.support import X
from tfdsmcmc.model.few_effective_samples import EffectiveSamples, FewEffectiveSamples


def told(sizes, sampled=True):
    """The warnings at the end of epochs with these sizes."""
    callback = EffectiveSamples(25)
    callback.set_model(types.SimpleNamespace(run=types.SimpleNamespace(sampled=sampled)))
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        for epoch, size in enumerate(sizes):
            callback.on_epoch_end(epoch, {} if size is None else {"effective_sample_size": size})
        callback.on_train_end()
    return [str(warning.message) for warning in found if warning.category is FewEffectiveSamples]


def test_it_goes_by_the_last_epochs_of_sampling():
    (message,) = told([9.0, 9.0, 1.4, 1.6, 1.5, 1.5, 1.5])
    assert message.startswith("1.5 of 25 ") and "methods.dsgnht_gibbs()" in message
    assert not told([1.2, 1.2, 2.4, 2.4, 2.4, 2.4, 2.4])
    assert not told([1.2] * 9, sampled=False)  # an optimizer climbs
    assert not told([]) and not told([None])


@pytest.mark.parametrize(
    ("method", "watched"),
    [
        (ds.methods.dsgnht_nais, 1),
        (lambda: {"kernel": "sgnht", "latents": ds.latents.NAIS(10)}, 1),
        (ds.methods.rws, 0),  # climbs
        (lambda: {"kernel": "sgnht", "latents": ds.latents.NAIS(10), "kernel_steps": 0}, 0),  # φ alone learns
        (ds.methods.dsgnht_gibbs, 0),
        (lambda: {"kernel": "sgnht", "latents": ds.latents.NAIS(5)}, 0),  # is few on purpose
        (lambda: {"kernel": "sgnht", "latents": ds.latents.NAIS(10, "uniform"), "proposal": "nvil"}, 0),
    ],
)
def test_who_is_watched(method, watched):
    model = tiny_model((2,), units=4)
    model.compile(**method(), jit_compile=False)
    assert len(model.watchers()) == watched


def test_fit_has_the_watcher(monkeypatch):
    model, seen = tiny_model((2,), units=4), []
    model.compile(kernel="sgnht", latents=ds.latents.NAIS(10), proposal=None, jit_compile=False)
    monkeypatch.setattr(EffectiveSamples, "on_train_end", lambda self, logs=None: seen.extend(self._sizes))
    model.fit(X, batch_size=4, epochs=2, verbose=0)
    assert len(seen) == 2 and all(1 <= size <= 10 for size in seen)
