"""The page of what was measured on a GPU."""

import json
import pathlib
import re

from experiments.common.marked_page import markers
from experiments.gpu import __main__ as gpu

PAGE = pathlib.Path(__file__).parents[3] / "docs" / "how_to" / "gpu.md"


def test_the_page_says_what_is_on_record():
    begin, end = markers("experiments.gpu")
    lines = [json.loads(line) for line in gpu.RECORD.read_text(encoding="utf-8").splitlines()]
    shown = PAGE.read_text(encoding="utf-8").split(begin)[1].split(end)[0]
    assert shown.strip() == gpu.page(lines).strip()


def test_ratios_are_of_programs_of_one_turn():
    cpu = [("hand_written", 1, 2.0), ("hand_written", 2, 4.0), ("step_100", 2, 2.0), ("step_100", 1, 3.0)]
    lines = [{"kind": "cpu", "name": name, "turn": turn, "ms": ms, "rows": 100} for name, turn, ms in cpu]
    one = {"kind": "gpu", "title": "a step", "share": 0.5, "transfers": 0}
    lines += [{**one, "name": f"step_{rows}", "rows": rows, "ms": ms} for rows, ms in ((100, 0.5), (10_000, 4.0))]
    made = gpu.page([{"kind": "device", "device": "D", "bytes": 1e12}, *lines])
    assert re.search(r"takes 0\.50 ms, 5 times less", made) and "take 8 times as long" in made
    assert "In turn the ratios on processors were 1.50, 0.50." in made
