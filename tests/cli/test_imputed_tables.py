"""What `impute` of the command line writes of the entries that were observed."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc.cli import main, tables


@pytest.mark.parametrize("options", [[], ["--num-imputations", "2"], ["--probabilities"]])
@pytest.mark.parametrize("masked", [False, True])
def test_observed_numbers_are_written_as_they_were_read(options, masked, tmp_path, monkeypatch):
    """All 53 bits of them, in a .csv; under a mask what stands in missing entries is not."""
    model = ds.boltzmann.RBM(3, 2, visible="gaussian")
    monkeypatch.setattr("tfdsmcmc.cli.commands._load", lambda path: model)
    x, mask = np.random.default_rng(0).normal(size=(4, 3)) / 3, np.random.default_rng(1).random((4, 3)) < 0.6
    if masked:
        np.savez(tmp_path / "rows.npz", x=x, mask=mask)
    else:
        lines = [",".join(repr(float(v)) if seen else "" for v, seen in zip(*row)) for row in zip(x, mask)]
        (tmp_path / "rows.csv").write_text("a,b,c\n" + "\n".join(lines) + "\n")
    rows, filled = tmp_path / ("rows.npz" if masked else "rows.csv"), tmp_path / "filled.csv"
    assert main(["impute", "model", str(rows), str(filled), *options]) == 0
    found = tables.read(filled).x.reshape(-1, 4, 3)
    assert len(found) == (2 if "2" in options else 1) and np.isfinite(found).all()
    np.testing.assert_array_equal(found[:, mask], np.broadcast_to(x[mask], (len(found), mask.sum())))
    assert not np.isin(found[:, ~mask], x).any()


def test_a_first_line_of_places_is_said_to_be_names(tmp_path, monkeypatch, capsys):
    """It may be a row of counts."""
    monkeypatch.setattr("tfdsmcmc.cli.commands._load", lambda path: ds.boltzmann.RBM(3, 2, visible="gaussian"))
    (tmp_path / "rows.csv").write_text("0,1,2\n4,,1\n")
    said = {}
    for number, options in enumerate([[], ["--header"], ["--no-header"]]):
        assert main(["impute", "m", str(tmp_path / "rows.csv"), str(tmp_path / f"{number}.csv"), *options]) == 0
        said[number] = capsys.readouterr().out
    assert "0,1,2 and on, is taken for names; --no-header says otherwise" in said[0]
    assert not any("taken for names" in said[number] for number in (1, 2))
    assert [len((tmp_path / f"{number}.csv").read_text().splitlines()) for number in range(3)] == [2, 2, 2]
