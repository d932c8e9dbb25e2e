"""With which optimizers a sampler is compared, where seeds ran on processors of different speed."""

import pytest

from experiments.budget_study.table import tables
from tests.experiments.budget_study.test_budget_study import line


@pytest.mark.parametrize(
    ("updates", "better", "compared"),
    [(150, 1, -10.0), (151, 1, -11.0), (151, 0, -10.0)],
    ids=["as fast", "faster", "slower and better"],
)
def test_an_optimizer_of_many_more_updates_is_not_beside_a_sampler(updates, better, compared):
    """Of two optimizers one has −10, the other −12. Each seed has the better one, unless that of the second seed had
    more than 1.5 times the updates of the first: then the first has its own. A slower one that is better counts."""
    runs = [
        line(seed, rws=[-10.0 if seed == better else -12.0], units=[-8.0], rws_updates=made)
        for seed, made in enumerate((100, updates))
    ]
    assert f"| digits | SBN 5 | 2 | 1 | importance samples | −8.00 | −{-compared:.2f} |" in tables(runs)
