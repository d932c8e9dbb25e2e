"""What chains are worth by where they start: exact marginals of a tiny model, what is compared, the table."""

import json

import numpy as np
import pytest

from experiments.first_guess import __main__ as first_guess
from tests.imputation.support import MASKS, ROW, joint, pair
from tfdsmcmc.imputation import kernels

LINE = {"dataset": "dna", "architecture": "SBN/SBN 100-50", "gaps": "half", "updates": 10, "seed": 0, "rows": 5}


@pytest.mark.slow
def test_many_chains_are_worth_the_exact_marginals():
    """Of 1,000 chains p̄ is within 0.05 of Σ_z p(x_d given z) p(z given x_observed) at four errors or more."""
    networks, mask = pair("SBN"), MASKS["some"]
    completions, _, log_joint = joint(networks.generative, ROW, mask)
    p = np.exp(log_joint - log_joint.max()).sum(0)
    marginal = (p / p.sum()) @ completions[:, ~mask]
    exact = np.where(ROW[~mask] > 0, np.log(marginal), np.log1p(-marginal)).sum()
    x, observed = np.stack([ROW, ROW]), np.stack([mask, np.ones(4, bool)])
    found, nothing = first_guess.scores(networks, x, observed, 1, 5, 1000, 0)
    assert found == pytest.approx(exact, abs=0.1) and nothing == 0.0


def test_gaps_are_half_of_the_entries_or_the_latter_columns():
    half, block = (first_guess.mask(kind, (200, 5), 0) for kind in ("half", "block"))
    assert 0.45 < half.mean() < 0.55
    np.testing.assert_array_equal(block, np.tile([True, True, False, False, False], (200, 1)))


def test_arms_are_compared_row_by_row_with_the_reference(monkeypatch, tmp_path, capsys):
    rows = np.arange(12).reshape(6, 2) % 2
    monkeypatch.setattr(first_guess, "learnt", lambda *_: (None, rows))
    asked = []

    def scores(model, x, observed, passes, sweeps, chains, seed):
        asked.append((passes, sweeps, chains))
        return np.arange(len(x)) * (1.0 + 0.01 * sweeps) + passes

    monkeypatch.setattr(first_guess, "scores", scores)
    record = tmp_path / "record.jsonl"
    for _ in range(2):  # the second time it is finished
        first_guess.main(["--dataset", "dna", "--rows", "4", "--chains", "3", "--record", str(record)])
    assert asked == [(0, 50, 3), *((passes, sweeps, 3) for passes, sweeps in first_guess.ARMS)] * 2
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    differences = [0.01 * (sweeps - 50) * np.arange(4) + passes for passes, sweeps in first_guess.ARMS] * 2
    for line, difference in zip(lines, differences, strict=True):
        assert line["difference"] == pytest.approx(difference.mean())
        assert line["error"] == pytest.approx(difference.std(ddof=1) / 2)
    assert "| dna | SBN/SBN 100-50 | block | −0.72 ± 0.31 |" in capsys.readouterr().out


def test_the_table_has_a_line_for_each_data_set_and_kind_of_gap():
    arms = [{"passes": passes, "sweeps": sweeps} for passes, sweeps in first_guess.ARMS]
    lines = [{**LINE, **arm, "difference": 0.1 * i, "error": 0.02} for i, arm in enumerate(arms)]
    text = first_guess.table([*lines, *({**line, "gaps": "block"} for line in lines)])
    figures = " | ".join(f"+0.{i}0 ± 0.02" for i in range(5))
    assert text.splitlines()[2] == f"| dna | SBN/SBN 100-50 | half | {figures} |"
    assert first_guess.ARMS[-1] == (kernels.PASSES, 50) and len(text.splitlines()) == 4
