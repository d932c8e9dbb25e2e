"""The bound while a deep sigmoid belief network learns layer by layer, and then as a whole, by variational Bayes.

    python -m experiments.augmentation.pretraining_bound --dataset caltech101_silhouettes_28 --model "SBN/SBN 200-200"

One phase for each layer, from the data upwards, in which it learns from draws of the units below (`tfdsmcmc.pretrain`),
and a last one in which all layers learn together. The bound is that of the literature, at the means of the weights, of
the layers that have learnt so far under independent top units. Learning is from training and validation rows together.
A run can be interrupted: layers begin anew, the last phase goes on where it was. It leaves in --output

    log.jsonl           one line an iteration: phase, and the bound of test rows and of as many training rows
    bound.png           the bound against iterations
    layers.weights.h5   the weights before the last phase
    model.keras         the model; its weights are the means of q
    results.jsonl       one line: the bounds after each phase
"""

import json
import pathlib
import time

import keras
import numpy as np
from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.augmentation.networks import model_for, units_in_use
from experiments.augmentation.results import bound_of, record
from experiments.common import files, run_settings
from experiments.common.arguments import parser_of
from experiments.common.rows import spread_rows


def parse(arguments=None):
    parser = parser_of("experiments.augmentation.pretraining_bound", __doc__)
    add = parser.add_argument
    add("--dataset", default="caltech101_silhouettes_28")
    add("--data-dir", default=None, help="folder of the data set; default $TFDSMCMC_DATA, the Keras cache")
    add("--model", default="SBN/SBN 200-200", help="as in models.from_name, of several latent layers")
    add("--covariance", choices=["full", "diagonal"], default="full")
    add("--layer-epochs", type=int, default=40, help="of each layer (default 40)")
    add("--epochs", type=int, default=40, help="of all layers together (default 40)")
    add("--batch-size", type=int, default=500, help="rows at a time")
    add("--rows", type=int, default=None, help="training rows, spread evenly; default all")
    add("--test-rows", type=int, default=500, help="spread evenly over the test rows, for the bound (default 500)")
    add("--draws", type=int, default=10, help="of each row, for the bound")
    add("--output", default=None, help="default runs/pretraining_DATASET_MODEL")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


class Bounds(keras.callbacks.Callback):
    """Appends a line an epoch to the log: the bound of some rows under the layers that have learnt so far.

    Args:
      whole: the model, all of whose layers are to learn.
      rows: dict from names to rows.
      path: of the log.
      phase: the number of phases that are over.
      args: as `parse` returns.
    """

    def __init__(self, whole, rows, path, phase, args):
        super().__init__()
        self.whole, self.rows, self.path, self.phase, self.args = whole, rows, path, phase, args

    def on_train_begin(self, logs=None):
        self.phase, self.begun = self.phase + 1, time.monotonic()
        self.learnt = so_far(self.whole, self.model)
        self.learnt.compile(**ds.methods.vb("diagonal"))  # of which the bound at the means takes nothing

    def on_epoch_end(self, epoch, logs=None):
        line = {"phase": self.phase, "iteration": epoch + 1, "seconds": round(time.monotonic() - self.begun, 1), **logs}
        for name, rows in self.rows.items():
            bound = bound_of(self.learnt, rows, "means", self.args)
            line[name], line[f"{name}_row_standard_error"] = bound["value"], bound["row_standard_error"]
        files.append(self.path, line)


def so_far(whole, part):
    """The network of the layers that have learnt, under the top of a part of it; it shares their variables.

    Args:
      whole: the model.
      part: what is learning, a layer of it under the next one alone, or the model itself.
    """
    layers = whole.generative.layers
    place = next(i for i, layer in enumerate(layers) if layer is part.generative.layers[-1])
    layers = [*part.generative.layers[:-1], *layers[place:]]
    recognition = ds.RecognitionNetwork(whole.recognition.layers[: len(layers) - 1])
    return ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), recognition, whole.prior, whole.seed)


def read(path):
    """The lines of a log in order; of an iteration that was made again the last one."""
    found = {(line["phase"], line["iteration"]): line for line in files.lines(path)}
    return [found[key] for key in sorted(found)]


def figure_of(lines, title=None):
    """The figure of the lines of a log: the bounds against iterations, phase after phase."""
    figure = Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    places = np.arange(1, len(lines) + 1)
    for name, style in (("test", "-"), ("training", "--")):
        axes.plot(places, [line[name] for line in lines], style, label=f"{name} rows")
    phases = [line["phase"] for line in lines]
    for phase in sorted(set(phases)):
        first = phases.index(phase)
        if first:
            axes.axvline(first + 0.5, color="black", linewidth=0.8)
        name = "all layers" if phase == max(phases) and phase > 1 else f"layer {phase}"
        axes.annotate(name, (first + 1, 1.0), xycoords=("data", "axes fraction"), va="bottom", fontsize=9)
    axes.set(xlabel="iteration", ylabel="bound (nats a row)")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right")
    figure.suptitle(title or "")
    return figure


def learn(model, train, rows, output, args):
    """All phases, or what is left of them."""
    log, layers = output / "log.jsonl", output / "layers.weights.h5"
    depth = len(model.generative.latent_units)
    if layers.exists():
        model.load_weights(layers)
    else:
        log.unlink(missing_ok=True)
        bounds = Bounds(model, rows, log, 0, args)
        method = ds.methods.vb(args.covariance)
        ds.pretrain(model, train, args.layer_epochs, method, args.batch_size, callbacks=[bounds])
        model.save_weights(layers)
    model.compile(**ds.methods.vb(args.covariance, burn_in=10))
    backup = keras.callbacks.BackupAndRestore(output / "backup", delete_checkpoint=False)
    callbacks = [Bounds(model, rows, log, depth, args), backup]
    model.fit(train, batch_size=args.batch_size, epochs=args.epochs, callbacks=callbacks, verbose=0)


def main(arguments=None):
    args = parse(arguments)
    name = f"{args.dataset}_{args.model.split()[-1]}"
    output = pathlib.Path(args.output or f"runs/pretraining_{name}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    train = spread_rows(data.train_and_valid.astype(np.uint8), args.rows)
    model = model_for(train.shape[1], args)
    if len(model.generative.latent_units) < 2:
        raise ValueError(f"Layer by layer learn networks of several latent layers. Received: model={args.model!r}")
    run_settings.note(output, vars(args))
    rows = {"test": data.test, "training": train}
    rows = {split: spread_rows(part, args.test_rows) for split, part in rows.items()}
    learn(model, train, rows, output, args)
    model.save(output / "model.keras")
    lines = read(output / "log.jsonl")
    ds.plots.save(figure_of(lines, f"{args.model}, {args.dataset}"), output / "bound.png")
    line = {
        "model": f"{name}_pretrained",
        "training_rows": len(train),
        "units_in_use": units_in_use(model),
        "after_phases": list({part["phase"]: part for part in lines}.values()),
        "test_means": bound_of(model, rows["test"], "means", args),
    }
    record(output / "results.jsonl", {**line, "arguments": {"method": "vb", **vars(args)}})
    print(json.dumps(line, indent=2))


if __name__ == "__main__":
    main()
