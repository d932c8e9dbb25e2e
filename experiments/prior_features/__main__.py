"""What a prior does to features: the weights from the lowest latent layer to the data, under several priors.

    python -m experiments.prior_features --dataset caltech101_silhouettes_28 --architecture "SBN/SBN 200"

A model is learnt by DSGNHT-NAIS under each prior: the default with scales that are learnt; the published Student-t
prior, sparse too; and a normal one. In --output

    features.png    the features of the mean of the weights side by side, each panel on a scale of its own
    results.json    test log-likelihood; the root mean square of the features, and how sparse they are: their excess
                    kurtosis (0 if normal), and the part of them below a tenth of the root mean square

A second start goes on where the first was.
"""

import pathlib

import numpy as np
import tensorflow_probability as tfp
from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.posterior_run import posterior_run
from experiments.common.rows import random_rows

PRIORS = ("learnt", "student_t", "normal")
_TITLES = {"learnt": "scales learnt", "student_t": "Student-t", "normal": "normal"}


def parse(arguments=None):
    parser = parser_of("experiments.prior_features", __doc__)
    add = parser.add_argument
    add("--dataset", default="digits", help="of pictures")
    add("--architecture", default="SBN/SBN 100", help="as in models.from_name (default SBN/SBN 100)")
    add("--priors", nargs="+", choices=PRIORS, default=["student_t", "normal"])
    add("--normal-scale", type=float, default=0.1, help="standard deviation of the normal prior (default 0.1)")
    add("--updates", type=int, default=6000)
    add("--posterior-samples", type=int, default=20)
    add("--features", type=int, default=64, help="those of the largest norm (default 64)")
    add("--test-rows", type=int, default=1000)
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/prior_features_DATASET")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def prior_of(name, normal_scale):
    """As `DeepGenerativeModel` takes it."""
    tfd = tfp.distributions
    if name == "student_t":
        return tfd.StudentT(df=2.2, loc=0.0, scale=0.09)
    return tfd.Normal(0.0, normal_scale) if name == "normal" else None


def sparseness(weights):
    """How sparse weights are, a dict of plain numbers."""
    values = weights.astype(np.float64).ravel()
    scale, centred = np.sqrt(np.mean(values**2)), values - values.mean()
    return {
        "root_mean_square": float(scale),
        "excess_kurtosis": float(np.mean(centred**4) / np.mean(centred**2) ** 2 - 3.0),
        "part_near_zero": float(np.mean(np.abs(values) < 0.1 * scale)),
    }


def side_by_side(kernels, shape, limit):
    """The figure: a panel for each prior, as `tfdsmcmc.plots.features` draws it."""
    figure = Figure(figsize=(4.5 * len(kernels), 4.8), layout="constrained")
    for axes, (name, kernel) in zip(figure.subplots(1, len(kernels), squeeze=False)[0], kernels.items()):
        image = ds.plots.features(kernel, shape, limit=limit).axes[0].images[0]
        axes.imshow(image.get_array(), cmap=image.get_cmap(), clim=image.get_clim(), interpolation="nearest")
        axes.set_axis_off()
        axes.set_title(_TITLES[name])
    return figure


def main(arguments=None):
    args = parse(arguments)
    output = pathlib.Path(args.output or f"runs/prior_features_{args.dataset}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    if len(data.shape) != 2:
        raise ValueError(f"Features are shown as pictures. Received: dataset={args.dataset!r}, rows of {data.shape}")
    if not args.architecture.strip().startswith("SBN"):
        raise ValueError(f"Features are those of a data layer SBN. Received: architecture={args.architecture!r}")
    rows = random_rows(data.test, args.test_rows, args.seed)
    kernels, results = {}, {"arguments": vars(args)}
    for name in args.priors:
        folder = output / (f"normal_{args.normal_scale:g}" if name == "normal" else name)
        model, posterior = posterior_run(
            folder,
            data.train,
            architecture=args.architecture,
            updates=args.updates,
            posterior_samples=args.posterior_samples,
            seed=args.seed,
            num_chains=1,
            prior=prior_of(name, args.normal_scale),
        )
        mean = posterior.apply_mean(model).log_likelihood(rows, num_samples=1000, seed=args.seed).mean()
        kernels[name] = model.generative.layers[-1].kernel.numpy()
        results[name] = {"log_likelihood": float(mean), "row_standard_error": mean.row_standard_error}
        results[name] |= {"effective_sample_size": mean.effective_sample_size, **sparseness(kernels[name])}
        print(name, results[name], flush=True)
    ds.plots.save(side_by_side(kernels, data.shape, args.features), output / "features.png")
    files.write_json(output / "results.json", results, indent=2)
    print(f"wrote {output}")


if __name__ == "__main__":
    main()
