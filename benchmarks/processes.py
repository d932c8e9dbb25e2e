"""A measurement runs in a process of its own, and prints its result as a line of JSON."""

import json
import subprocess
import sys


def run(command):
    """The result of a command, a dict; its errors are shown where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr[-2000:], file=sys.stderr)
        raise SystemExit(f"failed: {' '.join(command)}")
    return json.loads([line for line in done.stdout.splitlines() if line.startswith("{")][-1])
