"""What sampling the weights is worth beside climbing to one set of them: the tables of docs/study_appendix.md.

    python -m experiments.sampler_study --dataset digits --architecture "SBN/SBN 100-50" --seeds 0 1 2 --equal-time
    python -m experiments.sampler_study --dataset caltech101_silhouettes_28 --annealing-rows 100
    python -m experiments.sampler_study --record docs/study.jsonl
    python -m experiments.sampler_study --table docs/study.jsonl --page docs/study_appendix.md

Each setting learns from the same rows and is evaluated on the same test rows. Samplers make the same number of updates;
optimizers too, or with `--equal-time` as many as take the processor time, compilation and validation included, that the
`sampler` of the same seed took, which therefore comes first:

    rws           reweighted wake-sleep, flat prior, K of the sampler, the weights of the best epoch on validation data
    rws_fast      the same with Adam(0.01), not Adam(0.003)
    rws_falling   the same with the optimizers of the sampler: Adam of a rate that rises and falls, and that of φ
    rws_learnt    rws with the prior that samplers have by default
    sampler       `methods.dsgnht_nais()` and the default prior, nothing else
    cold          the same without a warm start
    temperature_0 the same at temperature 0, so that a warm start is all that averaging has
    scale_0.09    the same with the published prior
    unit_scales   the sampler with a scale for the weights that leave each parent unit, the default of earlier versions
    scale_1       the same with a Student-t prior of scale 1
    gibbs         `methods.dsgnht_gibbs()` and the default prior, nothing else: half of the sampler's time is its climb;
                  its draws are annealed and nothing else
    augmentation  `methods.polya_gamma_gibbs()` in the sampler's time, a prior with a scale for each column: the draws
                  after 20 sweeps, which are annealed and nothing else

Minutes in the table are of processor time. Where there are samples the predictive average over all of them is taken,
that over the draws of the first chain alone, and that of the last weights of the first chain. Runs of an optimizer from
several seeds are averaged in the table too. Test log-likelihoods of each row are kept, so that differences are paired.
What is finished is not run again. `--record` runs nothing: it writes what is finished into a file, in which runs of
several machines can stand, and `--table` prints the tables of such a file, or of --output where it has no name. With
`--page` it puts them between the markers of a page instead.

These are by importance sampling, which is too low where the recognition network is not close. `--annealing-rows` adds
the estimates of so many test rows by annealing from the prior, 1,000 steps and two runs a row, which do without one: of
an optimizer's weights, and of the average over six draws of a sampler, evenly spaced.
"""

import pathlib

from experiments.common import files, finished_runs, marked_page
from experiments.common.arguments import parser_of
from experiments.sampler_study.settings import OPTIMIZERS, SETTINGS
from experiments.sampler_study.study import anneal, folder_of, study, timed
from experiments.sampler_study.table import tables

COMMAND = "experiments.sampler_study"


def check(args):
    """Ends the program for what cannot be run, before anything is."""
    if args.annealing_rows is not None and args.annealing_rows < 1:
        raise SystemExit(f"--annealing-rows must be positive. Received: {args.annealing_rows}")
    for seed in args.seeds:
        there = (folder_of("sampler", args, seed) / "result.json").exists()
        for setting in args.settings:
            there |= setting == "sampler"
            if timed(setting, args) and not there:
                where = folder_of("sampler", args, seed)
                raise SystemExit(f"{setting} has the time of the sampler's run of seed {seed}, and needs it in {where}")


def check_tables(args):
    """The same for what is made of finished runs."""
    if args.record is not None and args.table is not None:
        raise SystemExit(f"--record and --table are two calls. Received: --record {args.record} --table {args.table}")
    if args.page is not None and args.table is None:
        raise SystemExit(f"--page needs --table. Received: --page {args.page}")
    if args.table:
        files.checked_record(pathlib.Path(args.table))
    if (args.record is not None or args.table == "") and not pathlib.Path(args.output).is_dir():
        raise SystemExit(f"--output must be a folder with finished runs. Received: {args.output}")


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--data-dir")
    add("--architecture", default="SBN/SBN 100-50")
    add("--settings", nargs="+", choices=SETTINGS, default=("sampler", *OPTIMIZERS[:3]))
    add("--seeds", nargs="+", type=int, default=[0])
    add("--chains", type=int, help="of samplers (default: those of the method)")
    add("--updates", type=int, default=12_000)
    add("--equal-time", action="store_true", help="optimizers get the time of the sampler")
    add("--test-rows", type=int, default=2000)
    add("--test-samples", type=int, default=1000)
    add("--output", default="runs/sampler_study")
    add("--record", type=pathlib.Path, help="file that what is finished is added to")
    add("--table", nargs="?", const="", help="print what is in a file, or (default) in --output")
    add("--page", type=pathlib.Path, help="with --table: the page that has the tables")
    add("--annealing-rows", type=int, help="test rows that are annealed too (default: none)")
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    check_tables(args)
    if args.record is not None:
        return finished_runs.record(args.record, finished_runs.finished(pathlib.Path(args.output)))
    if args.table is not None:
        read, path = (finished_runs.recorded, args.table) if args.table else (finished_runs.finished, args.output)
        return marked_page.show(tables(read(pathlib.Path(path))), args.page, COMMAND)
    check(args)
    study(args)
    if args.annealing_rows:
        anneal(args)


if __name__ == "__main__":
    main()
