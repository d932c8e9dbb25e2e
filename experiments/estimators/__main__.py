"""How good the estimates are, against the number of samples: the figures of the literature, for one data set.

    python -m experiments.estimators --dataset digits

For each number K of importance samples in training a model is learnt by DSGNHT-NAIS. Then, in --output,

    training_samples.png    test log-likelihood (1,000 importance samples) against K in training
    test_samples.png        test log-likelihood against K in the test
    likelihood.png          bias and standard deviation of the estimate of log p(x) against K, by bootstrap
    gradient.png            the same of a row's gradient in θ, relative to its length
    gradient_of_batch.png   the same of the gradient of a batch of rows
    posterior_samples.png   test log-likelihood against the number M of posterior samples
    results.json            the numbers behind them, with the arguments

The first two have the evidence lower bound as a dashed line. All but the first are of the model learnt with the K of
--studied; the literature has 100, and a batch of 25 rows. See `experiments.estimators.bootstrap` for it. A
second start goes on where the first was.
"""

import pathlib
import warnings

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.posterior_run import posterior_run
from experiments.common.rows import random_rows
from experiments.estimators.bootstrap import study
from experiments.estimators.figures import figures

SAMPLES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)


def parse(arguments=None):
    parser = parser_of("experiments.estimators", __doc__)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--architecture", default="SBN/SBN 100-50", help="as in models.from_name (default SBN/SBN 100-50)")
    add("--training-samples", type=int, nargs="+", default=[1, 2, 5, 10, 25], help="the Ks (default 1 2 5 10 25)")
    add("--studied", type=int, default=5, help="that of them whose model all else is about (default 5)")
    add("--updates", type=int, default=6000, help="minibatches to learn from for each K (default 6000)")
    add("--posterior-samples", type=int, default=40, help="at most, each an epoch apart or more (default 40)")
    add("--learning-rate", type=float, default=0.1)
    add("--rows", type=int, default=40, help="test rows in the bootstrap (default 40)")
    add("--batch", type=int, default=25, help="test rows in the bootstrap of a batch's gradient (default 25)")
    add("--pool", type=int, default=5000, help="draws of a row in the bootstrap (default 5000)")
    add("--test-rows", type=int, default=1000, help="most test rows of the log-likelihoods (default 1000)")
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/estimator_study_DATASET")
    add("--seed", type=int, default=0)
    args = parser.parse_args(arguments)
    if args.studied not in args.training_samples:
        parser.error(f"--studied is one of --training-samples. Received: {args.studied}, of {args.training_samples}")
    return args


def learn(args, data, output, samples):
    """The model and the posterior samples learnt with K = samples."""
    return posterior_run(
        output / f"K{samples}",
        data.train,
        architecture=args.architecture,
        updates=args.updates,
        posterior_samples=args.posterior_samples,
        seed=args.seed,
        num_chains=1,
        options={"learning_rate": args.learning_rate, "num_samples": samples},
    )


def point(estimate):
    """The mean over rows for a figure."""
    mean = estimate.mean()
    return {"value": float(mean), "row_error": mean.row_standard_error, "error": mean.standard_error}


def about_samples(model, posterior, args, shuffled):
    """What depends on K in the test and on M, and the bootstrap."""
    few = shuffled[:300]
    curve = posterior.curve(model, few, num_samples=200, seed=args.seed, average="draws")
    estimates = [model.log_likelihood(few, num_samples=count, seed=args.seed) for count in SAMPLES]
    return curve, {
        "bootstrap": study(model, shuffled[: args.rows], shuffled[: args.batch], args.pool, SAMPLES, args.seed),
        "test_samples": [point(estimate) for estimate in estimates],
        "bound": point(ds.likelihood.evidence_lower_bound(model, few, seed=args.seed)),
        "posterior_samples": {
            "counts": curve.counts,
            "predictive": [float(point.mean()) for point in curve.predictive],
            "mean_of_weights": [float(point.mean()) for point in curve.mean_of_weights],
        },
    }


def main(arguments=None):
    args = parse(arguments)
    warnings.simplefilter("once")
    output = pathlib.Path(args.output or f"runs/estimator_study_{args.dataset}")
    output.mkdir(parents=True, exist_ok=True)
    data = ds.datasets.load(args.dataset, args.data_dir)
    shuffled = random_rows(data.test, None, args.seed)
    test = shuffled[: args.test_rows]

    results = {"arguments": vars(args), "samples": SAMPLES, "test": []}
    for samples in args.training_samples:
        model, posterior = learn(args, data, output, samples)
        posterior.apply_mean(model)
        found = point(model.log_likelihood(test, num_samples=1000, seed=args.seed))
        bound = point(ds.likelihood.evidence_lower_bound(model, test, num_samples=100, seed=args.seed))
        results["test"].append({**found, "bound": bound})
        print(f"K = {samples}: test log-likelihood {found['value']:.2f} ± {found['row_error']:.2f}", flush=True)
        if samples == args.studied:
            curve, about = about_samples(model, posterior, args, shuffled)
            results |= about
            ds.plots.save(ds.plots.predictive_curve(curve), output / "posterior_samples.png")
    for name, figure in figures(results).items():
        ds.plots.save(figure, output / f"{name}.png")
    files.write_json(output / "results.json", results, indent=2)
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
