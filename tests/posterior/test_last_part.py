"""The epochs that end with a posterior sample: M of them, in the last part, evenly."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.posterior.support import fit, model_to_fit
from tfdsmcmc.posterior.last_part import last_epochs
from tfdsmcmc.posterior.timing import Timing


def epochs_of(burn_in, every, epochs, num_samples):
    """The epochs, counted from 1, after which a collector with these arguments takes its samples."""
    return list(range(burn_in + 1, epochs + 1, every))[:num_samples]


@pytest.mark.parametrize("epochs", [1, 2, 3, 10, 25, 500])
@pytest.mark.parametrize("num_samples", [1, 2, 3, 7, 50])
@pytest.mark.parametrize("share", [0, 0.1, 0.5, 1])
def test_there_are_as_many_samples_as_asked_for(epochs, num_samples, share):
    if num_samples > epochs:
        with pytest.raises(ValueError, match="num_samples.*Received: "):
            ds.posterior.last_part(epochs, num_samples, share)
        return
    spread = ds.posterior.last_part(epochs, num_samples, share)
    found = epochs_of(**spread, epochs=epochs, num_samples=num_samples)
    assert len(found) == num_samples and epochs - found[-1] < spread["every"]
    assert spread["burn_in"] >= epochs - max(share * epochs, num_samples), "before the last part"
    assert spread["burn_in"] - num_samples < epochs - share * epochs or spread["every"] == 1, "crowded at the end"


def test_a_share_of_epochs_is_free_of_rounding():
    """0.57 · 100 is below 57 in floating point, and ⅓ of 300 is 100 though the float ⅓ is below ⅓."""
    assert ds.posterior.last_part(100, 19, share=0.57) == {"burn_in": 43, "every": 3}
    assert ds.posterior.last_part(300, 50, share=1 / 3) == {"burn_in": 200, "every": 2}


def test_after_a_burn_in():
    """The samples begin with the epoch after it; what they leave over is at the end."""
    assert ds.posterior.last_part(24, 4, burn_in=12) == {"burn_in": 12, "every": 3}
    assert ds.posterior.last_part(27, 4, burn_in=12) == {"burn_in": 12, "every": 3}
    assert ds.posterior.last_part(13, 4, burn_in=12) == {"burn_in": 12, "every": 1}


def test_a_collector_takes_them(tmp_path):
    epochs, count = 9, 2
    collector = ds.posterior.Collector(tmp_path, num_samples=count, **ds.posterior.last_part(epochs, count))
    fit(model_to_fit(), collector, epochs, validation_data=None)
    steps = [sample.step for sample in ds.posterior.load(tmp_path).samples]
    assert steps == [2 * 6, 2 * 8]  # two minibatches an epoch; burn-in 5, every 2


def test_the_epochs_of_a_run_in_one_call():
    for epochs in (1, 2, 7, 50, 101):
        for count in range((epochs + 1) // 2 + 1):
            found = last_epochs(epochs, count)
            assert len(set(found)) == len(found) == count
            if count:
                assert found[0] == epochs - 1 and found[-1] >= epochs // 2
                assert np.ptp(np.diff([*found, epochs - 1 - (epochs + 1) // 2])) <= 1


@pytest.mark.parametrize(
    "bad",
    [
        {"epochs": 0},
        {"epochs": 2.5},
        {"num_samples": 0},
        {"num_samples": 11},
        {"share": -0.1},
        {"share": 1.5},
        {"share": "half"},
        {"burn_in": -1},
    ],
    ids=str,
)
def test_bad_arguments_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))}.*Received: "):
        ds.posterior.last_part(**{"epochs": 10, "num_samples": 2, **bad})


@pytest.mark.parametrize(("bad", "name"), [((0, 1), "epochs"), ((5, 4), "num_samples"), ((5, -1), "num_samples")])
def test_bad_counts_of_epochs_are_refused(bad, name):
    with pytest.raises(ValueError, match=f"^{name} must be .*Received: {name}="):
        last_epochs(*bad)


@pytest.mark.parametrize(
    ("last_epoch", "num_samples", "due"),
    [
        (0, 50, [20, 50, 70, 100, 120, 150, 170]),
        (19, 50, [20, 50, 70, 100, 120, 150, 170]),
        (42, 8, [20, 70, 120, 170]),
        (10**6, 50, [20]),
    ],
)
def test_where_nothing_is_said_samples_are_spread_over_the_rest(last_epoch, num_samples, due):
    """Epochs of ten updates: the first end of an epoch in each 25 from the start on, however the steps fall; in each 50
    where eight samples share the 400 updates after the start; in each thousand at most."""
    timing, records, found = Timing(num_samples, patience=1000, burn_in=1, every=None), [], []
    timing.last_epoch = last_epoch
    for epoch in range(1, 20):
        records.append([10 * epoch, epoch, None, True])
        if timing.is_due(records):
            found.append(10 * epoch)
    assert found == due


def test_samples_are_spread_by_the_epochs_of_their_own_fit():
    """Twenty of 20 updates, after ten of 100 in a fit of before: a sample in each 95 of the 380 after the start."""
    timing, records, found = Timing(4, patience=1000, burn_in=10, every=None), [], []
    timing.last_epoch = 30
    for epoch in range(11, 31):
        records.append([1000 + 20 * (epoch - 10), epoch, None, True])
        if timing.is_due(records):
            found.append(records[-1][0])
    assert found == [1020, 1120, 1220, 1320, 1400]
    assert timing.epochs_to_go(records[:3], 5) == 6  # the second sample; then at 1080, 1100, 1120, 1160 and 1180


@pytest.mark.parametrize(
    ("every", "due"), [(1, [3, 4, 7, 8, 11, 12]), (2, [3, 7, 11]), (3, [3, 7, 11, 12]), (None, [3, 4, 7, 8, 11, 12])]
)
def test_a_sample_waits_where_weights_are_none(every, due):
    """Cycles of four epochs of 400 updates, whose first two climb: what falls due in these waits for the third."""
    timing, records, found = Timing(50, patience=1000, burn_in=1, every=every), [], []
    timing.last_epoch = 12
    for epoch in range(1, 13):
        records.append([400 * epoch, epoch, None, (epoch - 1) % 4 >= 2])
        if timing.is_due(records):
            found.append(epoch)
    assert found == due
