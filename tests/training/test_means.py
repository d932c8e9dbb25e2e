"""The means of metrics over a million steps: float32 sums of them would drift."""

from fractions import Fraction

import numpy as np
import tensorflow as tf

from tests.training.tenants import ColumnMeans, ColumnSums


def test_a_mean_over_a_million_steps_still_sees_each():
    """Of −99.3, a million times, then 300 times −50.3 by itself: in float32, whose sums are multiples of 8 there, the
    latter add up to −14,400 in place of −15,090."""
    model = ColumnMeans()
    model.compile()
    (mean,) = model.run.means
    many, single = tf.constant(-99.3), tf.constant(-50.3)
    mean.update_state(many, sample_weight=1e6)
    for _ in range(300):
        mean.update_state(single, sample_weight=1.0)
    exact = (Fraction(float(many)) * 10**6 + Fraction(float(single)) * 300) / (10**6 + 300)
    np.testing.assert_allclose(float(mean.result()), float(exact), rtol=1e-12)


def test_the_sum_over_a_block_of_steps_still_sees_each(monkeypatch):
    """10⁸ at the first of eight steps in one program, 1 at the others."""
    step = ColumnSums.step

    def with_metric(self, state, batch, seed):
        state, metrics = step(self, state, batch, seed)
        return state, {"read": tf.where(batch.begins_pass, 1e8, 1.0)}

    monkeypatch.setattr(ColumnSums, "step", with_metric)
    model = ColumnMeans()
    model.compile(steps_per_execution=8)
    history = model.fit(np.eye(3)[[0, 1, 2, 0, 1, 2, 0, 1]], batch_size=1, epochs=1, verbose=0)
    np.testing.assert_allclose(history.history["read"], [(1e8 + 7) / 8], rtol=1e-12)
