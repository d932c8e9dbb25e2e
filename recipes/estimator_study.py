"""How good the estimates are, against the number of samples: the figures of the literature, for one data set.

    python recipes/estimator_study.py --dataset digits

For each number K of importance samples in training a model is learnt by DSGNHT-NAIS. Then, in --output,

    training_samples.png    test log-likelihood (1,000 importance samples) against K in training
    likelihood.png          bias and standard deviation of the estimate of log p(x) against K, by bootstrap
    gradient.png            the same of the gradient in θ, relative to its length
    posterior_samples.png   test log-likelihood against the number M of posterior samples
    results.json            the numbers behind them, with the arguments

Bootstrap: of --pool draws z ~ q(z given x) of a row with weights w, K are drawn again and again with replacement. The
estimates from K draws scatter around their mean with the standard deviation that is shown, and their mean lies off the
estimate from the whole pool by the bias. (The pool's own bias is not in it.)

A second start goes on where the first was.
"""

import argparse
import os
import pathlib
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import numpy as np
import tensorflow as tf
from matplotlib.figure import Figure
from posterior_run import posterior_run

import tfdsmcmc as ds

TRAINING_SAMPLES = (1, 2, 5, 10, 25)
SAMPLES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
REPLICATES = 200


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dataset", default="digits")
    add("--architecture", default="SBN/SBN 100-50", help="as in models.from_name (default SBN/SBN 100-50)")
    add("--updates", type=int, default=6000, help="minibatches to learn from for each K (default 6000)")
    add("--posterior-samples", type=int, default=40)
    add("--learning-rate", type=float, default=0.1)
    add("--rows", type=int, default=40, help="test rows in the bootstrap (default 40)")
    add("--pool", type=int, default=5000, help="draws of a row in the bootstrap (default 5000)")
    add("--test-rows", type=int, default=1000, help="most test rows of the log-likelihoods (default 1000)")
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/estimator_study_DATASET")
    add("--seed", type=int, default=0)
    return parser.parse_args()


# ---- bootstrap


def bootstrap(log_weights, counts, replicates, rng, values=None):
    """Bias and standard deviation of estimates from K draws, by drawing K of a pool with replacement.

    Args:
      log_weights: (N,), of the pool of one row.
      counts: the Ks.
      replicates: draws of K.
      rng: `numpy.random.Generator`.
      values: (N, P); None for the estimate log (1/K) Σ w. With values v, the estimate is Σ_k w̃_k v_k.

    Returns:
      (bias, standard deviation), each (len(counts),); of vectors, lengths relative to that of the pool's estimate.
    """
    found = []
    for count in counts:
        index = rng.integers(0, len(log_weights), (replicates, count))
        chosen = log_weights[index].astype(np.float64)
        highest = chosen.max(1, keepdims=True)
        weights = np.exp(chosen - highest)
        if values is None:
            estimates = (highest[:, 0] + np.log(weights.mean(1)))[:, None]
            target, unit = np.logaddexp.reduce(log_weights.astype(np.float64)) - np.log(len(log_weights)), 1.0
        else:
            spread = np.zeros((replicates, len(log_weights)))
            np.add.at(spread, (np.arange(replicates)[:, None], index), weights / weights.sum(1, keepdims=True))
            estimates = spread @ values
            pool = np.exp(log_weights - log_weights.max())
            target = pool @ values / pool.sum()
            unit = np.linalg.norm(target)
        mean, variance = estimates.mean(0), estimates.var(0, ddof=1).sum()
        if values is None:
            bias = mean[0] - target
        else:
            # the square of the mean's length has the mean's own variance in it
            bias = np.sqrt(max(((mean - target) ** 2).sum() - variance / replicates, 0.0))
        found.append((bias / unit, np.sqrt(variance) / unit))
    return tuple(np.array(part) for part in zip(*found))


def pooled(model, row, size, seed):
    """(log-weights (N,), gradients of log p(x, z_k) in θ (N, P)) of N importance samples of one row."""
    z, log_weights, _ = ds.latents.NAIS(size).draw(model.generative, model.recognition, row[None], seed)[0]
    variables = [variable.value for variable in model.generative.trainable_variables]

    @tf.autograph.experimental.do_not_convert
    def gradient(parts):
        with tf.GradientTape() as tape:
            log_joint = tf.reduce_sum(model.generative.log_joint(row[None], [part[None] for part in parts]))
        gradients = tape.gradient(log_joint, variables, unconnected_gradients="zero")
        return tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)

    gradients = tf.vectorized_map(gradient, [part[:, 0] for part in z])
    return log_weights[:, 0].numpy(), gradients.numpy()


def study(model, rows, pool, seed):
    """Bias and deviation of both estimates, means over the rows with their standard errors."""
    rng = np.random.default_rng(seed)
    found = {"log_likelihood": [], "gradient": []}
    for number, row in enumerate(rows):
        log_weights, gradients = pooled(model, row, pool, ds.random.fold(seed, number))
        found["log_likelihood"].append(bootstrap(log_weights, SAMPLES, REPLICATES, rng))
        found["gradient"].append(bootstrap(log_weights, SAMPLES, REPLICATES, rng, gradients))
    return {name: summary(np.array(parts)) for name, parts in found.items()}


def summary(parts):
    """Of (rows, 2, Ks): means and standard errors over the rows."""
    means, errors = parts.mean(0), parts.std(0, ddof=1) / np.sqrt(len(parts))
    names = ("bias", "standard_deviation")
    return {name: {"mean": means[i].tolist(), "error": errors[i].tolist()} for i, name in enumerate(names)}


# ---- learning


def learn(args, data, output, samples):
    """The model and the posterior samples learnt with K = samples."""
    arguments = args.architecture, args.updates, args.posterior_samples, args.seed
    method = {"learning_rate": args.learning_rate, "num_samples": samples, "num_chains": 1}
    return posterior_run(output / f"K{samples}", data.train, *arguments, **method)


def main():
    args = parse()
    warnings.simplefilter("once")
    output = pathlib.Path(args.output or f"runs/estimator_study_{args.dataset}")
    output.mkdir(parents=True, exist_ok=True)
    data = ds.datasets.load(args.dataset, args.data_dir)
    chosen = np.random.default_rng(args.seed).permutation(len(data.test))
    test = data.test[chosen[: args.test_rows]]

    results = {"arguments": vars(args), "samples": SAMPLES, "training_samples": TRAINING_SAMPLES, "test": []}
    for samples in TRAINING_SAMPLES:
        model, posterior = learn(args, data, output, samples)
        posterior.apply_mean(model)
        mean = model.log_likelihood(test, num_samples=1000, seed=args.seed).mean()
        results["test"].append({"value": float(mean), "row_error": mean.row_standard_error})
        print(f"K = {samples}: test log-likelihood {mean:.2f} ± {mean.row_standard_error:.2f}", flush=True)
        if samples == 5:
            results["bootstrap"] = study(model, data.test[chosen[: args.rows]], args.pool, args.seed)
            curve = posterior.curve(model, test[:300], num_samples=200, seed=args.seed)
            ds.plots.save(ds.plots.predictive_curve(curve), output / "posterior_samples.png")
            results["posterior_samples"] = {
                "counts": curve.counts,
                "predictive": [float(point.mean()) for point in curve.predictive],
                "mean_of_weights": [float(point.mean()) for point in curve.mean_of_weights],
            }
    for name, figure in figures(results).items():
        ds.plots.save(figure, output / f"{name}.png")
    ds.files.write_json(output / "results.json", results, indent=2)
    print(f"wrote {output}")


# ---- figures


def figures(results):
    """The figures by name."""
    test = results["test"]
    training = lines(
        results["training_samples"],
        {"mean of the weights": ([t["value"] for t in test], [t["row_error"] for t in test])},
        "importance samples in training, K",
        "test log-likelihood (nats a row)",
    )
    drawn = {"training_samples": training}
    titles = {"log_likelihood": ("likelihood", "nats"), "gradient": ("gradient", "relative to the gradient's length")}
    for name, (file, unit) in titles.items():
        parts = results["bootstrap"][name]
        series = {part.replace("_", " "): (parts[part]["mean"], parts[part]["error"]) for part in parts}
        drawn[file] = lines(results["samples"], series, "importance samples, K", unit)
    return drawn


def lines(x, series, label, unit):
    """A figure of values with their standard errors against a number of samples."""
    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for name, (values, errors) in series.items():
        axes.errorbar(x, values, errors, marker="o", markersize=3, capsize=2, label=name)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure


if __name__ == "__main__":
    main()
