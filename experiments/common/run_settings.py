"""The settings of a run, noted in its folder: what was interrupted does not go on under others."""

import json

from experiments.common import files


def check(folder, settings):
    """Raises a ValueError for a folder whose run has other settings."""
    file = folder / "arguments.json"
    if file.exists() and files.read_json(file) != json.loads(json.dumps(settings)):
        raise ValueError(f"{folder} has a run with other arguments, {file.read_text().strip()}. Received: {settings}")


def note(folder, settings):
    """Notes the settings in the folder of a run, made if missing; those of another run must be the same."""
    check(folder, settings)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / "arguments.json", settings)
