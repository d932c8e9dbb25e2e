"""Files and folders that are there whole or not at all: written under a temporary name, then renamed.

    NAME  is written as  .tfdsmcmc-MACHINE-PID-RANDOM-new-NAME, beside it, flushed to the disk, and renamed to NAME;
    a folder that stands at NAME is kept as  .tfdsmcmc-MACHINE-PID-RANDOM-old-NAME  until the new one has its place.

So a name tells whose it is. RANDOM keeps the threads of a process apart. A process that is killed in the middle of a
write leaves its temporary file; the next write into the folder removes it, and puts an old folder back if the kill came
between the two renames. What a living process is writing stays.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import pathlib
import platform
import re
import secrets
import shutil
import tempfile
import time
import warnings
from collections.abc import Iterator

_NAME = re.compile(r"\.tfdsmcmc-([0-9a-f]{8})-(\d+)-[0-9a-f]{8}-(new|old)-(.+)", re.DOTALL)
_DAY = 86400.0  # seconds after which what another machine has not finished is taken for abandoned
_open = set()  # the names that this process is at


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[pathlib.Path]:
    """A temporary name beside `path`: the file or the folder that is written there takes its place at the end.

    If the block raises, `path` stays as it was, and neither the temporary file nor a folder made for it is left. What
    is written has the permissions that `open` and `mkdir` give.

    Args:
      path: of the file or folder to write; the folders above it are made.

    Yields:
      `pathlib.Path` of the temporary name, which ends in the name of `path`, suffix included. Nothing is there yet.

    Raises:
      FileNotFoundError: where the block has written nothing.

    Example:

    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "a" / "note.txt"
    >>> with replacing(path) as temporary:
    ...     _ = temporary.write_text("whole")
    >>> path.read_text(), [file.name for file in path.parent.iterdir()]
    ('whole', ['note.txt'])
    """
    path = pathlib.Path(path)
    made = [folder for folder in path.parents if not folder.exists()]
    path.parent.mkdir(parents=True, exist_ok=True)
    remove_leftovers(path.parent)
    with _named(path, "new") as temporary:
        try:
            yield temporary
            _flush(temporary)
            _put_in_place(temporary, path)
        except BaseException:
            _delete(temporary)
            for folder in made:
                with contextlib.suppress(OSError):  # somebody else may have put something there
                    folder.rmdir()
            raise


@contextlib.contextmanager
def locked(folder: str | os.PathLike[str]) -> Iterator[None]:
    """Keeps other processes and threads that ask for the same out of a folder; a kill lets them in.

    Args:
      folder: an existing folder.

    Where the system has no locks of files, as Windows, nothing is kept out.
    """
    try:
        import fcntl
    except ImportError:
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):  # a file system without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def claimed(folder: str | os.PathLike[str], wait: bool = False) -> Iterator[bool]:
    """Claims a folder for the block, against other processes and threads, of other machines too; a kill gives it back.

    The claim is a lock of the file `.NAME.lock` beside the folder, which stays and is empty: a shared disk passes locks
    of files on to its server, those of folders it may keep to the machine. Who claims a folder may find that the work
    in it was finished meanwhile.

    Args:
      folder: made if missing.
      wait: whether to wait for it where somebody else has it.

    Yields:
      Whether this block has it: False where somebody else has it and there is no waiting. Where the system has no locks
      of files, as Windows, True; where the disk has none, True with a warning.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield True
        return
    descriptor = os.open(folder.with_name(f".{folder.name}.lock"), os.O_RDWR | os.O_CREAT, 0o666)
    try:
        mine = True
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            mine = False
        except OSError as error:
            warnings.warn(f"A disk without locks keeps nobody out ({error}): {folder}", RuntimeWarning, stacklevel=3)
        yield mine
    finally:
        os.close(descriptor)


def check_room(folder: str | os.PathLike[str], size: int) -> None:
    """Sees to it that a file of some bytes fits into a folder: they are reserved and given back.

    HDF5 cannot close a file whose last bytes find no room, and ends the process with a segmentation fault at its exit.

    Args:
      folder: where the file is to be; made if missing.
      size: bytes.

    Raises:
      OSError: where they do not fit: a full disk, a quota or a limit of the process.
    """
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            elif shutil.disk_usage(folder).free < size:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror}: {size:,} bytes are needed", str(folder)) from None


def write_json(path: str | os.PathLike[str], content: object, indent: int | None = None) -> None:
    """Writes what `json` can say to a file, whole or not at all."""
    text = json.dumps(content, indent=indent)  # before a file is touched
    with replacing(path) as temporary:
        temporary.write_text(text + "\n", encoding="utf-8")


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Deletes the temporary files and folders of processes that no longer live; puts back an old folder without a new.

    Those of living processes stay, and so do those of another machine that shares the disk, for a day after they were
    last written to. Nothing is done in the folders inside.

    Args:
      folder: to look in; it may be missing.
    """
    try:
        with os.scandir(folder) as entries:
            found = [(entry, _NAME.fullmatch(entry.name)) for entry in entries]
    except OSError:  # there is none, or none that may be read
        return
    for entry, name in found:
        if name and not _is_alive(entry, name[1], int(name[2])):
            path, target = pathlib.Path(entry.path), pathlib.Path(folder) / name[4]
            with contextlib.suppress(OSError):  # another process was quicker, or it is another user's
                if name[3] == "old" and not os.path.lexists(target):
                    os.replace(path, target)
                else:
                    _delete(path)


def writer() -> str:
    """Who writes: digits for this machine, and the number of this process."""
    return f"{_machine()}-{os.getpid()}"


def is_gone(name: object) -> bool:
    """Whether the process that `writer` named on this machine has ended; this one, and a namesake of it, count so."""
    machine, _, pid = str(name).partition("-")
    return machine == _machine() and pid.isdecimal() and (int(pid) == os.getpid() or not _lives(int(pid)))


@contextlib.contextmanager
def _named(path, kind):
    """A temporary name beside `path`, known as in use."""
    name = f".tfdsmcmc-{_machine()}-{os.getpid()}-{secrets.token_hex(4)}-{kind}-{path.name}"
    _open.add(name)
    try:
        yield path.with_name(name)
    finally:
        _open.discard(name)


def _machine():
    """Eight digits for the machine and the space of process numbers in it, such as that of a container."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:
        space = ""
    return hashlib.sha256(f"{platform.node()} {space}".encode()).hexdigest()[:8]


def _is_alive(entry, machine, pid):
    """Whether somebody may still be writing the temporary file of that name."""
    if machine != _machine():
        try:
            return time.time() - entry.stat(follow_symlinks=False).st_mtime < _DAY
        except FileNotFoundError:
            return False
    if pid == os.getpid():  # or of an earlier process of the same number
        return entry.name in _open
    return _lives(pid)


def _lives(pid):
    try:
        os.kill(pid, 0)  # sends nothing
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:  # of another user
        return True
    return True


def _put_in_place(new, path):
    """Renames; a folder that stands there, or a link where a folder is to stand, is moved aside, and comes back if the
    renaming fails or is interrupted."""
    if not (new.is_dir() and (path.is_dir() or path.is_symlink())):
        os.replace(new, path)
        return
    with _named(path, "old") as old:
        os.replace(path, old)
        try:
            os.replace(new, path)
        except BaseException:
            os.replace(old, path)
            raise
        _delete(old)


def _flush(path):
    """Sees to it that a file, or the files of a folder, are on the disk before the name says so."""
    for file in [path] if not path.is_dir() else [file for file in path.rglob("*") if file.is_file()]:
        with open(file, "rb") as opened:
            os.fsync(opened.fileno())


def _delete(path):
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
