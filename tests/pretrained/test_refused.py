"""What is not the release is refused, before anything of it is unpacked; and a cache that is not as it was left."""

import os
import shutil
import zipfile

import pytest

import tfdsmcmc as ds
from tests.pretrained import tiny
from tfdsmcmc.pretrained import cached, sources, unpacking
from tfdsmcmc.pretrained.catalogue import release


def refused(match, name="net", source=None, cache=None):
    """The words of the error of a load."""
    with pytest.raises(ValueError, match=match) as raised:
        ds.pretrained.load(name, source, cache)
    assert "Received: " in str(raised.value).splitlines()[-1]
    return str(raised.value)


def archive_of(releases, name="net"):
    return releases.source / releases.about[name]["file"]


def is_empty(folder):
    """Whether a cache has nothing but locks."""
    return not folder.exists() or all(path.name.endswith(".lock") for path in folder.iterdir())


@pytest.mark.parametrize("name", ["nets", "", "../net", None, 3])
def test_a_name_that_is_none(releases, name):
    refused(r"The pretrained models are \['machine', 'net'\]\. Received: name=", name, releases.source, releases.cache)
    with pytest.raises(ValueError, match="Received: name="):
        ds.pretrained.card(name)
    assert not releases.cache.exists()


def test_no_source(releases, monkeypatch):
    said = refused("Received: source=None$", cache=releases.cache)
    assert "TFDSMCMC_PRETRAINED" in said and "source=" in said and "python -m experiments.pretrained" in said
    monkeypatch.setenv("TFDSMCMC_PRETRAINED", "")
    refused("Received: source=None$", cache=releases.cache)
    assert is_empty(releases.cache)


@pytest.mark.parametrize("source", ["ftp://example.org/files", "file:///etc", 3, b"folder", "a\0b"])
def test_a_source_of_another_kind(releases, source):
    refused("source is a folder, or an address", source=source, cache=releases.cache)


@pytest.mark.parametrize("cache", [3, b"folder", "a\0b", "/proc/none/of/it", "x" * 300])
def test_a_cache_that_cannot_be(releases, cache):
    refused("cache is a folder|The cache cannot be used", source=releases.source, cache=cache)


def test_a_source_without_the_file(releases, tmp_path):
    archive_of(releases).unlink()
    for source in (releases.source, str(tmp_path / "nowhere"), archive_of(releases, "machine")):
        refused(r"has no file net-\w{8}\.zip that can be read", source=source, cache=releases.cache)
    assert is_empty(releases.cache)


@pytest.mark.parametrize("kept", [0, 1, 0.5, -1])
def test_a_cut_file(releases, kept):
    path = archive_of(releases)
    content = path.read_bytes()
    path.write_bytes(content[: int(kept * len(content)) if isinstance(kept, float) else kept])
    refused("The file is cut", source=releases.source, cache=releases.cache)
    assert is_empty(releases.cache)


@pytest.mark.parametrize("how", ["a bit", "longer", "another archive"])
def test_a_wrong_digest(releases, how, monkeypatch):
    """Nothing of it is unpacked."""
    path = archive_of(releases)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    size = len(content)
    other = tiny.zipped([("model.json", b"{}")]).ljust(size, b"\0")
    path.write_bytes({"a bit": bytes(content), "longer": path.read_bytes() + b"x", "another archive": other}[how])
    monkeypatch.setattr(unpacking, "unpack", lambda *_: pytest.fail("unpacked"))
    said = refused("nothing of it is unpacked", source=releases.source, cache=releases.cache)
    assert releases.about["net"]["sha256"] in said
    assert is_empty(releases.cache)


def test_no_more_is_read_than_the_release_has(releases):
    """Of a source that sends without end."""
    about = release("net")
    archive_of(releases).unlink()
    os.symlink("/dev/zero", archive_of(releases))
    with pytest.raises(ValueError, match="a longer file"):
        sources.read(about, releases.source)


def link():
    entry = zipfile.ZipInfo("model.json")
    entry.external_attr = 0o120777 << 16
    return entry


BAD = {
    "absolute": ([("/tmp/x", b"1")], "relative names"),
    "above": ([("../x", b"1")], "relative names"),
    "above within": ([("a/../../x", b"1")], "relative names"),
    "of another system": ([("a\\..\\x", b"1")], "relative names"),
    "with a drive": ([("C:x", b"1")], "relative names"),
    "a folder": ([("a/", b"")], "relative names"),
    "here": ([("./a", b"1")], "relative names"),
    "a link": ([(link(), b"/etc/passwd")], "regular files"),
    "twice": ([("a", b"1"), ("A", b"2")], "each name once"),
    "many": ([(str(i), b"") for i in range(10_001)], "at most 10,000 files"),
}


@pytest.mark.parametrize("how", BAD)
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_an_archive_that_is_not_to_be_unpacked(releases, tmp_path, how):
    """Its digest is right; nothing is written, inside or outside of the cache, not even its good files."""
    files, words = BAD[how]
    files = [("good", b"good"), *files]
    releases.put("net", tiny.zipped(files), sum(len(content) for _, content in files))
    before = sorted(tmp_path.rglob("*"))
    refused(words, source=releases.source, cache=releases.cache)
    assert is_empty(releases.cache)
    assert [path for path in sorted(tmp_path.rglob("*")) if releases.cache not in (path, *path.parents)] == before


@pytest.mark.parametrize("stated", [2**20 - 1, 2**20 + 1, 0])
def test_an_archive_of_another_size(releases, stated):
    releases.put("net", tiny.zipped([("zeros", bytes(2**20))]), stated)
    refused(f"is to unpack to {stated:,} bytes", source=releases.source, cache=releases.cache)


def test_an_archive_that_states_less_than_it_has(tmp_path):
    """The directory says a byte, the data a mebibyte: at most a byte is unpacked, and found out by its checksum."""
    content = bytearray(tiny.zipped([("zeros", bytes(2**20))]))
    place = content.rindex(b"PK\1\2") + 24
    content[place : place + 4] = (1).to_bytes(4, "little")
    with pytest.raises(ValueError, match=r"Not a whole ZIP archive.*Received: "):
        unpacking.unpack(bytes(content), tmp_path, 1)
    assert sum(path.stat().st_size for path in tmp_path.rglob("*")) <= 1


@pytest.mark.parametrize(
    "content", [b"", b"no archive", tiny.zipped([("a", b"abc")])[:-5]], ids=["empty", "text", "cut short"]
)
def test_what_is_no_archive(releases, content):
    releases.put("net", content, 3)
    refused("Not a whole ZIP archive", source=releases.source, cache=releases.cache)


def without(pairs, name):
    return [(found, content) for found, content in pairs if found != name]


@pytest.mark.parametrize("how", ["no model", "no weights", "other weights", "another class", "no samples"])
def test_an_archive_of_something_else(releases, how):
    """Whose digest is right all the same."""
    net, machine = releases.files["net"], releases.files["machine"]
    files, words = {
        "no model": (without(net, "model.json"), "Not a model of a release"),
        "no weights": (without(net, "weights.h5"), "Not a whole file"),
        "other weights": (without(net, "weights.h5") + without(machine, "model.json"), "weights of a release"),
        "another class": (without(net, "model.json") + [("model.json", b'{"class_name": "dict"}')], "release"),
        "no samples": ([pair for pair in net if "/" not in pair[0]], "has samples of its weights"),
    }[how]
    releases.put("net", tiny.zipped(files), sum(len(content) for _, content in files))
    refused(words, source=releases.source, cache=releases.cache)


def test_a_cache_that_cannot_be_used(releases, tmp_path):
    """A file stands where the cache is to be, or above it, or where the release is."""
    (tmp_path / "file").write_text("")
    for cache in (tmp_path / "file", tmp_path / "file" / "below"):
        refused("The cache cannot be used .*Received: cache=", source=releases.source, cache=cache)
    releases.cache.mkdir()
    (releases.cache / releases.about["net"]["sha256"]).write_text("")
    refused("The cache cannot be used .*Received: cache=", source=releases.source, cache=releases.cache)


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_cache_without_permission(releases):
    releases.cache.mkdir(mode=0o500)
    refused("The cache cannot be used .*Received: cache=", source=releases.source, cache=releases.cache)


@pytest.mark.parametrize(
    "how", ["cut", "a bit", "gone", "more", "no contents", "broken contents", "other contents", "a folder"]
)
def test_a_cache_that_is_not_as_it_was_left(releases, how):
    """It says which folder to delete; once deleted, the release is unpacked anew."""
    folder = cached.folder_of(release("net"), releases.source, releases.cache)
    contents, sample = folder / "contents.json", sorted((folder / "posterior").glob("*.h5"))[2]
    content = bytearray(sample.read_bytes())
    if how == "cut":
        sample.write_bytes(content[:-1])
    elif how == "a bit":
        content[len(content) // 2] ^= 1
        sample.write_bytes(content)
    elif how == "more":
        shutil.copy(sample, sample.with_name("sample_000000009.h5"))
    elif how in ("broken contents", "other contents"):
        contents.write_text("[1" if how == "broken contents" else "[1]")
    else:
        path = contents if how == "no contents" else sample
        path.unlink()
        if how == "a folder":
            path.mkdir()
    said = refused("not as it was unpacked", source=releases.source, cache=releases.cache)
    assert said.endswith(str(folder))
    shutil.rmtree(folder)
    assert ds.pretrained.load("net", releases.source, releases.cache).num_chains == 2
