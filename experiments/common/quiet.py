"""TensorFlow's start without the lines that it writes before it looks at TF_CPP_MIN_LOG_LEVEL."""

import contextlib
import os
import subprocess
import sys

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
