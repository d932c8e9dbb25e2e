"""The arguments of `python -m experiments.method_table`."""

import re

import tfdsmcmc as ds
from experiments.common import jobs
from experiments.common.arguments import number, parser_of, part
from experiments.method_table.methods import METHODS, SAMPLERS, WHERE_ASKED

COMMAND = "experiments.method_table"
_LATENTS_BELOW_TIES = re.compile(r"\s*(DARN|NADE)\b.*\d\s*")  # an architecture whose data layer ties its units
_COUNT, _AMOUNT = number(int), number(float)
_METHODS_HELP = f"of {', '.join(METHODS)} (default: those of the package)"
_PAPERS_HELP = (
    "the rows of the papers' tables, whatever --methods and --architectures are; what experiments/common/papers.py "
    "sets for some stands, whatever is given here: the evaluation of NADEs, that and units of VAEs"
)
_RATES_HELP = "of samplers; validation chooses (default 0.3, of SGLD 0.5, as published 0.01)"
_PROPOSAL_HELP = "of the samplers' φ; default that of the method, which of Gibbs methods teaches it nothing"
_CLIMBING_HELP = (
    "R of the warm start's Adam, at step t R min(1, (t + 1)/2000)/(1 + t/2000) (default 0.03, of Gibbs methods 0.003 "
    "throughout; nothing with --as-published)"
)
_OFFSET_HELP = (
    "b of a warm start with --climbing-rate: after b steps the rate is R/2, and where --updates end the climb it falls "
    "to 0 on a line besides (default: as there, without that line)"
)
_PATIENCE_HELP = (
    "updates without gain on validation data that end the warm start of samplers with importance samples (default "
    "1000; nothing with --as-published)"
)
_LATENTS_HELP = (
    "part of the budget in which an SBN stands in the place of a data layer DARN or NADE, so that the latent layers "
    "have something to say before units of the data explain each other (default none)"
)
_DRAWS_HELP = (
    "posterior samples, evenly spaced, of which the predictive average of the rows that are annealed is annealed too "
    "(default 0); each takes as long as the annealing of one set of weights from below"
)
_UNITS_HELP = (
    "importance samples a row of the average unit by unit over a sampler's posterior samples (default 0: no such "
    "average); each takes as long as one for each posterior sample, and so does its annealing"
)
_DRAWN_HELP = (
    "rows that the model draws, which are annealed in both directions where test rows are annealed at all (default as "
    "many as these)"
)


def parse(arguments=None, description=None):
    """The arguments of a command, checked."""
    parser = parser_of(COMMAND, description)
    for add_some in (_add_rows, _add_learning, _add_samplers, _add_evaluation, _add_places):
        add_some(parser.add_argument)
    args = parser.parse_args(arguments)
    if args.annealing_draws and not (args.annealing_rows or args.papers):
        parser.error(f"--annealing-draws needs --annealing-rows. Received: {args.annealing_draws} and no rows")
    if args.as_published and args.published_prior:
        parser.error("--as-published has --published-prior. Received: both")
    if args.climbing_offset is not None and args.climbing_rate is None:
        parser.error(f"--climbing-offset needs --climbing-rate. Received: {args.climbing_offset} and no rate")
    if args.unit_samples and not (args.papers or set(args.methods) & set(SAMPLERS)):
        parser.error(f"--unit-samples needs the posterior samples of a sampler. Received: {', '.join(args.methods)}")
    if args.latents_first and args.papers:
        parser.error("--latents-first is not of --papers. Received: both")
    if args.latents_first and not all(map(_LATENTS_BELOW_TIES.fullmatch, args.architectures)):
        what = "data layers DARN and NADE with latent layers"
        parser.error(f"--latents-first is of {what}. Received: {args.architectures}")
    return args


def _add_rows(add):
    """Which rows the table has."""
    methods = [method for method in METHODS if method not in WHERE_ASKED]
    add("--dataset", default="digits", help=f"one of {', '.join(ds.datasets.names())}, or NAME.npz of your own")
    add("--binarization", choices=["dynamic", "threshold"], default="dynamic", help="of grey data (default dynamic)")
    add("--methods", nargs="+", choices=METHODS, default=methods, metavar="METHOD", help=_METHODS_HELP)
    add("--architectures", nargs="+", default=["SBN/SBN 100-50", "VAE 50"], metavar="NAME")
    add("--papers", action="store_true", help=_PAPERS_HELP)
    add("--hidden-units", nargs="+", type=_COUNT, default=[200], help="of NADE layers; of VAEs, layer by layer")
    add("--seed", type=int, default=0)


def _add_learning(add):
    """The budget of a row, and what all methods have."""
    adam = "of the optimizers of methods that climb, likewise (default: that of the method)"
    momentum = "of rws_published (default 0.0003 0.001 0.003)"
    add("--updates", type=_COUNT, default=10**9, help="at most, in rounds of 50 (default: by time alone)")
    add("--minutes", type=_AMOUNT, default=4.0, help="at most, of learning, a row (default 4)")
    add("--batch-size", type=_COUNT, default=None, help="default 100, of rws_published 25")
    add("--samples", type=_COUNT, default=None, help="K in learning; default that of the method")
    add("--learning-rate", nargs="+", type=_AMOUNT, metavar="RATE", help=_RATES_HELP)
    add("--adam", nargs="+", type=_AMOUNT, metavar="RATE", help=adam)
    add("--momentum-rate", nargs="+", type=_AMOUNT, metavar="RATE", default=[3e-4, 1e-3, 3e-3], help=momentum)
    add("--latents-first", type=part, default=None, help=_LATENTS_HELP)
    add("--no-jit", dest="jit_compile", action="store_false", help="do not compile with XLA")


def _add_samplers(add):
    """What samplers have besides."""
    add("--proposal-learning-rate", type=_AMOUNT, default=None, help=_PROPOSAL_HELP)
    add("--as-published", action="store_true", help="samplers with the papers' settings and prior")
    add("--published-prior", action="store_true", help="samplers with the papers' prior, but settings of ours")
    add("--posterior-samples", type=_COUNT, default=20)
    add("--burn-in", type=part, default=0.5, help="part of a sampler's budget (default 0.5)")
    add("--patience", type=_COUNT, default=1000, help=_PATIENCE_HELP)
    add("--climbing-rate", type=_AMOUNT, default=None, help=_CLIMBING_HELP)
    add("--climbing-offset", type=_AMOUNT, default=None, help=_OFFSET_HELP)
    add("--one-rate", action="store_true", help="of all weights of a sampler with a warm start, whatever their noise")


def _add_evaluation(add):
    """How rows are evaluated."""
    add("--refit-updates", type=_COUNT, default=2000, help="of φ alone, before an evaluation (default 2000)")
    add("--refit-learning-rate", type=_AMOUNT, default=1e-3, help="of Adam meanwhile (default 0.001)")
    add("--test-samples", type=_COUNT, default=1000, help="importance samples a row in the test (default 1000)")
    add("--unit-samples", type=number(int, 0), default=0, help=_UNITS_HELP)
    add("--test-rows", type=_COUNT, default=None, help="random rows of the test set to evaluate (default all)")
    add("--annealing-rows", type=number(int, 0), default=0, help="test rows to anneal (default 0)")
    add("--drawn-rows", type=number(int, 0), default=None, help=_DRAWN_HELP)
    add("--annealing-steps", type=_COUNT, default=1000)
    add("--annealing-runs", type=_COUNT, default=5)
    add("--annealing-draws", type=number(int, 0), default=0, help=_DRAWS_HELP)


def _add_places(add):
    """Where the data are, and the results, and how many rows are made at a time."""
    add("--data-dir", default=None, help="folder of packed datasets; default $TFDSMCMC_DATA, the Keras cache")
    add("--output", default=None, help="default runs/table/DATASET")
    add("--jobs", type=_COUNT, default=None, help=jobs.HELP)
