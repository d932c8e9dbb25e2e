"""What the command line refuses before it learns, draws or makes a folder."""

import re

import pytest

import tfdsmcmc as ds
from tests.cli.test_commands import refused
from tests.oracles import binary_states, tiny_model


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--layers", "foo"], "foo"),
        (["--batch-size", "0"], "--batch-size must be"),
        (["--learning-rate", "-1"], "learning_rate must be"),
    ],
)
def test_a_chain_of_options_that_do_not_fit_leaves_no_folder(options, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    chain = ["--chain", "0", "--of", "1", "--folder", "runs"]
    assert re.search(message, refused(["fit", "digits", *chain, *options], capsys))
    assert not any(tmp_path.iterdir())


def test_samples_go_into_a_folder(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "samples").touch()
    said = refused(["fit", "digits", "new/m.keras", "--posterior", "samples"], capsys)
    assert "--posterior is a folder. Received: samples, a file" in said
    assert [path.name for path in tmp_path.iterdir()] == ["samples"]


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ("folder", "this is a folder"),
        ("file/out", "A file lies where the folder should"),
        ("file/new/out", "A file lies where"),
    ],
)
def test_what_is_written_is_a_file_in_a_folder(output, message, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ending in ("csv", "npy"):
        (tmp_path / f"folder.{ending}").mkdir()
    (tmp_path / "file").touch()
    tiny_model(units=4).save("m.keras")
    (tmp_path / "x.csv").write_text("\n".join(",".join(str(int(v)) for v in row) for row in binary_states(4)[:3]))
    monkeypatch.setattr(ds.DeepGenerativeModel, "impute", lambda *args, **named: pytest.fail("must not draw"))
    monkeypatch.setattr(ds.DeepGenerativeModel, "sample", lambda *args, **named: pytest.fail("must not draw"))
    for words in (["impute", "m.keras", "x.csv", f"{output}.csv"], ["sample", "m.keras", f"{output}.npy"]):
        assert message in refused([*words, "--overwrite"], capsys)
