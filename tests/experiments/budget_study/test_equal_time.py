"""Sampler and optimizer in equal time, where seeds ran on processors of different speed."""

from experiments.budget_study.table import tables
from tests.experiments.budget_study.test_budget_study import line


def test_a_seed_on_a_faster_processor_is_beside_its_own_optimizer():
    """Both seeds are ahead there; beside the optimizer of the faster one the mean over seeds is behind."""
    runs = [line(0, rws=[-14.0, -14.0], units=[-12.0, -12.0]), line(1, rws=[-9.0, -9.0], units=[-8.0, -8.0])]
    found = tables(runs)
    assert "| digits | SBN 5 | 2 | 2 | importance samples | −10.00 | −11.50 | +1.50 ± 0.00 | −1.00 ± 0.00 |" in found
    assert "ahead on 1 of 1 data sets" in found
    assert "Beside the best optimizer of any seed it is ahead on 0, level on 0, and behind on 1." in found
