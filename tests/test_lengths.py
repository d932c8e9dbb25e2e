"""No file of the package is longer than what is read at one go."""

import pathlib

import tfdsmcmc

MOST = 300  # lines


def test_no_file_of_the_package_is_longer_than_300_lines():
    files = list(pathlib.Path(tfdsmcmc.__file__).parent.rglob("*.py"))
    lengths = {str(file): len(file.read_text(encoding="utf-8").splitlines()) for file in files}
    assert len(lengths) > 100
    assert {file: length for file, length in lengths.items() if length > MOST} == {}
