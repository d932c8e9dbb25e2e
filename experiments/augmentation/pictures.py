"""What a network has learnt by Pólya-Gamma augmentation, in pictures: averaged samples, features and their scales.

    python -m experiments.augmentation.pictures runs/vb_*_100_vb_full runs/vb_*_200_vb_full --dataset binarized_mnist

Each run is a folder with the model.keras of `experiments.augmentation`: of its variational_bayes, gibbs or
pretraining_bound. It gets

    samples.png     left rows of the training data, right samples: for each draw of the top units the mean of the data,
                    over --averaged draws of the layers below (published are 1,000)
    features.png    the weights from the lowest latent layer to the data, sorted by the scale of their column

and all of them together, in --output,

    scales.png      for each run the scales, the largest first; against the units that there are those in use, and, of
                    variational Bayes, the bound of test rows at the means of the weights
    scales.json     the numbers

A unit is in use if the root mean square of its outgoing weights is above --in-use.
"""

import pathlib

import keras
import numpy as np
from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.augmentation.networks import IN_USE, units_in_use
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.rows import random_rows


def parse(arguments=None):
    parser = parser_of("experiments.augmentation.pictures", __doc__)
    add = parser.add_argument
    add("runs", nargs="+", type=pathlib.Path, help="folders of finished runs")
    add("--dataset", required=True, help="of pictures, that the runs have learnt from")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--pictures", type=int, default=100, help="rows, and samples (default 100)")
    add("--averaged", type=int, default=1000, help="draws below the top units (default 1000)")
    add("--features", type=int, default=100, help="the most that are shown (default 100)")
    add("--in-use", type=float, default=IN_USE, help="see above (default %(default)s)")
    add("--output", type=pathlib.Path, default=pathlib.Path("runs/augmentation_pictures"))
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def beside(rows, averaged, shape):
    """The figure of rows of the data and of samples."""
    figure = Figure(figsize=(9.0, 4.8), layout="constrained")
    for axes, (title, x) in zip(figure.subplots(1, 2), (("training rows", rows), ("averaged samples", averaged))):
        image = ds.plots.samples(x, shape).axes[0].images[0]
        axes.imshow(image.get_array(), cmap=image.get_cmap(), clim=image.get_clim(), interpolation="nearest")
        axes.set_axis_off()
        axes.set_title(title)
    return figure


def scales_figure(found):
    """The figure of what `main` finds, by name."""
    figure = Figure(figsize=(12.0, 3.8), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    for name, own in found.items():
        left.plot(np.arange(1, len(own["scales"]) + 1), own["scales"], label=name)
    left.set(xlabel="unit, by the size of its scale", ylabel="scale of the column, √φ", ylim=(0, None))
    left.legend(fontsize=8)
    units = [len(own["scales"]) for own in found.values()]
    middle.plot([0, max(units)], [0, max(units)], color="black", linewidth=0.8, label="all")
    middle.plot(units, [own["in_use"] for own in found.values()], "o", label="in use")
    middle.set(xlabel="units K", ylabel="units in use", xlim=(0, None), ylim=(0, None))
    middle.legend(fontsize=8)
    bounds = [(count, *own["bound"]) for count, own in zip(units, found.values()) if own["bound"]]
    if bounds:
        counts, values, errors = zip(*bounds)
        right.errorbar(counts, values, errors, fmt="o", capsize=3)
    right.set(xlabel="units K", ylabel="bound, test rows (nats)", xlim=(0, None))
    for axes in (left, middle, right):
        axes.grid(alpha=0.3)
    return figure


def bound_of(run):
    """(the bound of test rows, its error over rows) of a run by variational Bayes; None of others."""
    lines = files.lines(run / "results.jsonl")
    bounds = lines[-1]["test_means"] if lines else None
    return bounds and [bounds["value"], bounds["row_standard_error"]]


def main(arguments=None):
    args = parse(arguments)
    for run in args.runs:
        if not (run / "model.keras").exists():
            raise ValueError(f"A finished run has a model.keras. Received: {run}, which has none")
    data = ds.datasets.load(args.dataset, args.data_dir)
    if len(data.shape) != 2:
        raise ValueError(f"Features are shown as pictures. Received: dataset={args.dataset!r}, rows of {data.shape}")
    rows = random_rows(data.train, args.pictures, args.seed)
    found = {}
    for run in args.runs:
        model = keras.saving.load_model(run / "model.keras")
        scales, kernel = ds.augmentation.column_scales(model)[0], model.generative.layers[-1].kernel.numpy()
        averaged = model.sample(args.pictures, args.seed, probabilities=True, num_averaged=args.averaged)
        ds.plots.save(beside(rows, averaged, data.shape), run / "samples.png")
        figure = ds.plots.features(kernel, data.shape, limit=args.features, scales=scales)
        ds.plots.save(figure, run / "features.png")
        used = units_in_use(model, args.in_use)[0]
        own = {"in_use": used, "bound": bound_of(run), "scales": sorted(scales.tolist(), reverse=True)}
        found[str(run)] = own
        print(f"{run}: {used} of {len(scales)} units in use", flush=True)
    ds.plots.save(scales_figure(found), args.output / "scales.png")
    files.write_json(args.output / "scales.json", {"in_use_above": args.in_use, **found})
    print(f"wrote {args.output}")


if __name__ == "__main__":
    main()
