"""Runs the files of tests, so many in a process: `python -m tests --workers 3 --files 8 -- -m "not slow"`.

TensorFlow keeps what it compiles, so that a process should end after some files, and takes seconds to import. So this
process imports it once, and those that test are its copies. It must not use it: threads are not copied. What a process
has found is printed whole when it ends. What stands behind `--` is for pytest.
"""

import argparse
import os
import pathlib
import sys
import tempfile

for kind in ("INTRAOP", "INTEROP"):  # the processes share the cores already
    os.environ.setdefault(f"TF_NUM_{kind}_THREADS", "1")

import pytest  # noqa: E402

import tfdsmcmc  # noqa: E402, F401

ROOT = pathlib.Path(__file__).parents[1]
NONE_CHOSEN = pytest.ExitCode.NO_TESTS_COLLECTED


def main(arguments=None):
    """The exit status: 0 if all tests that were chosen passed, 1 if not, and as that of pytest where there was none."""
    ours, theirs = _parted(sys.argv[1:] if arguments is None else arguments)
    parser = _parser()
    args = parser.parse_args(ours)
    if min(args.workers, args.files) < 1:
        parser.error(f"--workers and --files must be 1 or more. Received: {args.workers}, {args.files}")
    paths = args.paths or sorted((ROOT / "tests").rglob("test_*.py"), key=lambda path: path.name)  # rooms are mixed
    batches = [list(map(str, paths[at : at + args.files])) for at in range(0, len(paths), args.files)]
    running, found = {}, set()
    while batches or running:
        while batches and len(running) < args.workers:
            log = tempfile.TemporaryFile()
            running[_start([*theirs, *batches.pop(0)], log)] = log
        process, status = os.wait()
        found.add(_told(running.pop(process), os.waitstatus_to_exitcode(status)))
    if found == {NONE_CHOSEN}:
        return int(NONE_CHOSEN)
    return int(not found <= {pytest.ExitCode.OK, NONE_CHOSEN})


def _start(words, log):
    """The number of a process that runs pytest with such words, and writes to a log."""
    sys.stdout.flush()
    process = os.fork()
    if process:
        return process
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    status = 1
    try:
        status = pytest.main(["-q", "-p", "no:cacheprovider", *words])
    finally:
        sys.stdout.flush()
        os._exit(status)


def _told(log, status):
    """Prints what a process has found, and returns its exit status."""
    if status != NONE_CHOSEN:
        log.seek(0)
        sys.stdout.write(log.read().decode(errors="replace"))
        sys.stdout.flush()
    return status


def _parted(words):
    at = words.index("--") if "--" in words else len(words)
    return words[:at], words[at + 1 :]


def _parser():
    parser = argparse.ArgumentParser("python -m tests", description=__doc__.splitlines()[0])
    parser.add_argument("paths", nargs="*", help="default all")
    parser.add_argument("--workers", type=int, default=3, help="processes at a time (default 3)")
    parser.add_argument("--files", type=int, default=24, help="in a process (default 24)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
