"""Tables in files: what is read is what was written, and what is no table is refused by place."""

import numpy as np
import pytest

from tfdsmcmc.cli import tables


def table_of(tmp_path, text, header=None):
    path = tmp_path / "t.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return tables.read(path, header)


@pytest.mark.parametrize(
    ("text", "header"),
    [
        ("1,,0\n,NA,nan\n", None),
        ("a,b,c\n1,,0\n,NaN, na \n", ["a", "b", "c"]),
        ("\ufeffa,b,c\r\n1,,0\r\n,,\r\n\r\n", ["a", "b", "c"]),
        ('"a, with a comma",b,\n1,"",0\n,,\n', ["a, with a comma", "b", ""]),
        ("0,1,2\n1,<NA>,0\nnull,None,n/a\n", ["0", "1", "2"]),
    ],
)
def test_csv(text, header, tmp_path):
    """Empty cells, NA and nan are missing; a first line with a word in it names the columns."""
    found = table_of(tmp_path, text)
    np.testing.assert_array_equal(found.x, [[1, np.nan, 0], [np.nan] * 3])
    assert found.header == header and found.mask is None


def test_a_first_line_of_words_and_numbers_is_not_guessed(tmp_path):
    """A bad cell in the first row must not turn it into names, nor years as names into a row."""
    for text in ("1,?,0\n0,1,1\n", "id,2019,2020\n0,1,1\n"):
        with pytest.raises(ValueError, match="--header or --no-header. Received: "):
            table_of(tmp_path, text)
    assert table_of(tmp_path, "id,2019,2020\n0,1,1\n", header=True).header == ["id", "2019", "2020"]
    assert table_of(tmp_path, "0,1,2\n0,1,1\n", header=False).x.shape == (2, 3)
    with pytest.raises(ValueError, match="a number or empty. Received: '\\?' in line 1"):
        table_of(tmp_path, "1,?,0\n0,1,1\n", header=False)


def test_names_with_underscores_are_no_numbers(tmp_path):
    assert table_of(tmp_path, "2019_1,2019_2\n0,1\n").header == ["2019_1", "2019_2"]
    with pytest.raises(ValueError, match="a number or empty. Received: '1_0' in line 2"):
        table_of(tmp_path, "a,b\n1_0,1\n")


def test_an_empty_line_is_a_gap_in_a_single_column(tmp_path):
    np.testing.assert_array_equal(table_of(tmp_path, "1\n\n0\n").x, [[1], [np.nan], [0]])
    np.testing.assert_array_equal(table_of(tmp_path, "1,0\n\n0,1\n").x, [[1, 0], [0, 1]])


def test_one_row_of_gaps_is_a_row_not_a_header(tmp_path):
    assert table_of(tmp_path, ",,\n").x.shape == (1, 3)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "no rows. Received: "),
        ("a,b\n", "no rows. Received: "),
        ("1,2\n3\n", "must have 2 cells. Received: 1 in line 2"),
        ("a,b\n1,2\n3,4,5\n", "must have 2 cells. Received: 3 in line 3"),
        ("1,2\n3,x\n", "a number or empty. Received: 'x' in line 2"),
        (b"\xff\xfe\x00", "Not a .csv file .*Received: "),
        (b"PK\x00\x01", "Received: "),
    ],
)
def test_what_is_no_csv(text, message, tmp_path):
    with pytest.raises(ValueError, match=message):
        table_of(tmp_path, text)


def test_written_numbers_are_read_back_exactly(tmp_path):
    x = np.random.default_rng(0).normal(size=(20, 3)).astype(np.float32) * [1e-20, 1, 1e20]
    tables.write_csv(tmp_path / "a" / "x.csv", x, ["a", "b", "c"], integers=False)
    np.testing.assert_array_equal(tables.read(tmp_path / "a" / "x.csv").x.astype(np.float32), x.astype(np.float32))
    tables.write_csv(tmp_path / "n.csv", np.eye(2), None, integers=True)
    assert (tmp_path / "n.csv").read_text() == "1,0\n0,1\n"
    assert sorted(p.name for p in (tmp_path / "a").iterdir()) == ["x.csv"]


def test_known_numbers_are_written_in_float64(tmp_path):
    """In place of others, for all imputations of a row; those of none in float32, as short as they read back."""
    known = np.array([[0.1, np.nan], [np.nan, 16777217.0], [-1 / 3, 5e-324]])
    x = np.float32(np.arange(12).reshape(6, 2) + 0.7)
    tables.write_csv(tmp_path / "x.csv", x, None, False, known)
    found = tables.read(tmp_path / "x.csv").x
    np.testing.assert_array_equal(np.where(np.isnan(known), np.nan, found[:3]), known)
    np.testing.assert_array_equal(found[3:][~np.isnan(known)], known[~np.isnan(known)])
    assert (tmp_path / "x.csv").read_text().splitlines()[:2] == ["0.1,1.7", "2.7,16777217.0"]
    tables.write_csv(tmp_path / "n.csv", x[:3], None, True, known)
    assert (tmp_path / "n.csv").read_text() == "0,2\n3,16777217\n0,0\n"
    tables.write_csv(tmp_path / "n.csv", np.eye(2), None, True, np.array([[0.99999999, np.nan], [-0.99999999, 2.0]]))
    assert (tmp_path / "n.csv").read_text() == "1,0\n-1,2\n"  # integers in float32, which is what is checked


def test_npz(tmp_path):
    x, mask = np.eye(3, dtype=np.uint8), np.eye(3) > 0
    tables.write_npz(tmp_path / "m.npz", x=x, mask=mask)
    found = tables.read(tmp_path / "m.npz")
    np.testing.assert_array_equal(found.x, x)
    np.testing.assert_array_equal(found.mask, mask)
    np.savez(tmp_path / "one.npz", rows=x)
    np.testing.assert_array_equal(tables.read(tmp_path / "one.npz").x, x)


def test_what_is_no_npz(tmp_path):
    np.savez(tmp_path / "two.npz", a=np.eye(2), b=np.eye(2))
    np.savez(tmp_path / "misspelt.npz", x=np.eye(2), masks=np.eye(2) > 0)  # 0 for what is missing would be observed
    np.savez(tmp_path / "line.npz", x=np.ones(3))
    np.savez(tmp_path / "objects.npz", x=np.array([{}], object))
    np.savez(tmp_path / "words.npz", x=np.array([["a"]]))
    (tmp_path / "bad.npz").write_bytes(b"no zip")
    np.save(tmp_path / "array.npy", np.eye(2))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    np.savez_compressed(tmp_path / "damaged.npz", x=np.arange(4000.0).reshape(40, 100))
    content = bytearray((tmp_path / "damaged.npz").read_bytes())
    content[200:400] = bytes(200)
    (tmp_path / "damaged.npz").write_bytes(content)
    for name, reason in (
        ("two", "The file has an array x"),
        ("misspelt", "The file has an array x, or one array, and perhaps an array mask"),
        ("line", "x must be a table of numbers"),
        ("objects", "Not a whole .npz file of numbers"),
        ("words", "x must be a table of numbers"),
        ("bad", "Not a whole .npz file of numbers"),
        ("none", "No such file"),
        ("array", "Not a whole .npz file of numbers"),
        ("damaged", "Not a whole .npz file of numbers"),
    ):
        with pytest.raises(ValueError, match=f"(?s)^{reason}.*Received: .*{name}.npz"):
            tables.read(tmp_path / f"{name}.npz")
    with pytest.raises(ValueError, match="must end in .csv or .npz. Received: "):
        tables.read(tmp_path / "x.txt")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("old")
    with pytest.raises(ValueError):
        tables.write_csv(path, [["no number"]], None, integers=True)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1
