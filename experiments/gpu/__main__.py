"""What was measured on a GPU, as a page.

    python -m experiments.gpu [--page docs/how_to/gpu.md]

`docs/gpu.jsonl` keeps the lines of `benchmarks/under_jax.py` on the GPU ("gpu"), and on two processors of its machine
in turn with a program that JAX compiles of a gradient written by hand ("cpu"), the `--reference` of `benchmarks`. The
lines were put together by hand. Shares are of bytes alone, as the peak of products was measured in float64.
"""

import json
import pathlib
import statistics

from experiments.common import marked_page
from experiments.common.arguments import parser_of

COMMAND = "experiments.gpu"
RECORD = pathlib.Path(__file__).parents[2] / "docs" / "gpu.jsonl"


def page(lines):
    """The text between the markers."""
    device = next(line for line in lines if line["kind"] == "device")
    gpu = [line for line in lines if line["kind"] == "gpu" and "share" in line]
    turns = {name: _turns(lines, name) for name in {line["name"] for line in lines if line["kind"] == "cpu"}}
    by_hand = {line["rows"]: line["ms"] for line in lines if line["kind"] == "gpu" and "share" not in line}
    ratios = [turns["step_100"][turn] / turns["hand_written"][turn] for turn in sorted(turns["step_100"])]
    step = next(line for line in gpu if line["name"] == "step_100")
    faster = statistics.median(turns["step_100"].values()) / step["ms"]
    many = next(line for line in gpu if line["name"] == "step_10000")
    return "\n".join([
        f"On one {device['device']} a step of learning takes {step['ms']:.2f} ms, {faster:.0f} times less than on two "
        "processors of its",
        f"machine. A hundred times as many rows take {many['ms'] / step['ms']:.0f} times as long.",
        "",
        "| program | rows | ms | share of the bandwidth | transfers to the host |",
        "| --- | --- | --- | --- | --- |",
        *(f"| {one['title']} | {one['rows']:,} | {one['ms']:.2f} | {one['share']:.2f} | {one['transfers']} |"
          for one in gpu),
        "",
        f"The bandwidth is {device['bytes'] / 1e12:.1f} TB a second, measured by a map of a long vector.",
        "",
        "The same step with its gradient written by hand, in JAX:",
        "",
        "| device | rows | by hand, ms | ours, ms | ours / by hand |",
        "| --- | --- | --- | --- | --- |",
        *(f"| GPU | {rows:,} | {ms:.2f} | {ours['ms']:.2f} | {ours['ms'] / ms:.2f} |" for rows, ms in by_hand.items()
          for ours in gpu if ours["name"] == f"step_{rows}"),
        f"| two processors, median of {len(ratios)} turns | 100 | {_median(turns['hand_written']):.2f} "
        f"| {_median(turns['step_100']):.2f} | {statistics.median(ratios):.2f} |",
        "",
        f"In turn the ratios on processors were {', '.join(f'{ratio:.2f}' for ratio in ratios)}.",
        "",
    ])  # fmt: skip


def _turns(lines, name):
    return {line["turn"]: line["ms"] for line in lines if line["kind"] == "cpu" and line["name"] == name}


def _median(turns):
    return statistics.median(turns.values())


def main(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    parser.add_argument("--page", type=pathlib.Path)
    args = parser.parse_args(arguments)
    lines = [json.loads(line) for line in RECORD.read_text(encoding="utf-8").splitlines()]
    marked_page.show(page(lines), args.page, COMMAND)


if __name__ == "__main__":
    main()
