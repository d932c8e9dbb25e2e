"""TensorFlow's start without the lines that it writes before it looks at TF_CPP_MIN_LOG_LEVEL.

    python -m experiments.common.quiet SCRIPT [ARGUMENT …]

runs a script so.
"""

import argparse
import contextlib
import os
import runpy
import subprocess
import sys

from experiments.common.arguments import parser_of

# notes of its libraries; and that CUDA cannot be started, where there is no driver to start
_NOTES = "^WARNING: All log messages before absl::InitializeLog|^I[0-9]{4} |^[0-9-]+ [0-9:.]+: I "
_NO_DRIVER = "|^E[0-9]{4} .*failed call to cuInit"


@contextlib.contextmanager
def quiet_start():
    """Keeps notes from standard error, errors of libraries written in C included, and lets all else through."""
    pattern = _NOTES + ("" if os.path.exists("/proc/driver/nvidia") else _NO_DRIVER)
    sys.stderr.flush()
    own = os.dup(2)
    # a process of its own: what is said before TensorFlow ends this one is not lost
    sieve = subprocess.Popen(["grep", "--line-buffered", "-vE", pattern], stdin=subprocess.PIPE, stdout=own)
    os.dup2(sieve.stdin.fileno(), 2)
    try:
        yield
    finally:
        sys.stderr.flush()
        os.dup2(own, 2)
        os.close(own)
        sieve.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):  # somebody else holds on to its input
            sieve.wait(1.0)


def main(arguments=None):
    parser = parser_of("experiments.common.quiet", __doc__)
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    args = parser.parse_args(arguments)
    sys.argv = [args.script, *args.arguments]
    runpy.run_path(args.script, run_name="__main__")  # TensorFlow has started with `experiments`


if __name__ == "__main__":
    main()
