"""Models that have learnt already, as files of a release: learnt, measured, packed, and described by cards.

    python -m experiments.pretrained --output dist/pretrained
    python -m experiments.pretrained --only rbm --quick

makes for each release, of `experiments.pretrained.settings`, in --output

    NAME-DIGEST.zip           the archive that `pretrained.load` unpacks; its name begins the digest
    NAME-DIGEST.zip.sha256    the digest, as sha256sum --check reads it
    NAME.md                   the card: data, settings, log-likelihoods with errors and bounds, use, licence, versions
    NAME.json                 the record, of which the card is made, and the seconds of the run

The same code, packages, data and kind of machine make the same archives again, byte for byte.

A second start goes on where the first was; --work has the runs. `python -m experiments.pretrained.page --released
dist/pretrained` lets the package and the documentation know of them. With --quick the models hardly learn, in folders
of their own.
"""

import importlib.metadata
import pathlib
import platform

import keras

import tfdsmcmc as ds
from experiments.common import files, kept, run_settings
from experiments.common.arguments import parser_of
from experiments.pretrained import measuring
from experiments.pretrained.card import card
from experiments.pretrained.learning import learnt
from experiments.pretrained.packing import packed
from experiments.pretrained.settings import RELEASES, Machine, of_estimates, of_learning, quick
from tfdsmcmc.pretrained import contents

COMMAND = "experiments.pretrained"
PACKAGES = ("tensorflow", "keras", "tensorflow-probability", "numpy", "h5py")


def versions():
    """The versions that a model was made with, a dict."""
    found = {name: importlib.metadata.version(name) for name in PACKAGES}
    return {"tfdsmcmc": ds.__version__, **found, "Python": platform.python_version()}


def released(settings, work, output, data_dir=None):
    """Learns, measures and packs a model; its record, a dict."""
    folder, is_machine = work / settings.name, isinstance(settings, Machine)
    run_settings.note(folder, of_learning(settings))
    data = ds.datasets.load(settings.dataset, data_dir)
    run = kept.content(folder / "run.json", lambda: _learn(settings, data, folder))
    model = contents.read_model(folder / "contents")  # what is measured is what is released
    line = {
        "name": settings.name,
        "kind": "machine" if is_machine else "posterior",
        "dataset": settings.dataset,
        "units": int(data.train.shape[1]),
        "rows": {split: len(getattr(data, split)) for split in ("train", "valid", "test")},
        "settings": settings._asdict(),
        "run": run,
        "versions": versions(),
        **({} if is_machine else {"scales": "each weight"}),  # of the package's prior
    }
    figures = folder / "figures" / of_estimates(settings)
    if is_machine:
        line["figures"] = measuring.of_machine(settings, model, data, figures)
    else:
        posterior = ds.posterior.load(folder / "contents" / contents.POSTERIOR)
        line |= {"draws": len(posterior.samples), "average": posterior.average}
        line["figures"] = measuring.of_posterior(settings, posterior, model, data, figures)
    text = "\n".join(card(line)) + "\n"
    for place in (folder / "contents" / "card.md", output / f"{settings.name}.md"):
        files.write_text(place, text)
    line["archive"] = packed(settings.name, folder / "contents", output)
    files.write_json(output / f"{settings.name}.json", line)
    return line


def _learn(settings, data, folder):
    """Leaves what is released in FOLDER/contents; what the run took."""
    keras.utils.clear_session()  # the names of layers, which are released, do not depend on what was made before
    model, run = learnt(settings, data, folder)
    samples = None if isinstance(settings, Machine) else folder / "posterior"
    if samples is not None:
        ds.posterior.load(samples).chain(0).apply_mean(model)
    contents.write(folder / "contents", model, samples)
    return run


def main(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add, known = parser.add_argument, {settings.name: settings for settings in RELEASES}
    add("--only", nargs="+", choices=sorted(known), default=list(known), help="names of releases (default all)")
    add("--output", type=pathlib.Path, default=None, help="default dist/pretrained")
    add("--work", type=pathlib.Path, default=None, help="default runs/pretrained")
    add("--data-dir", default=None)
    add("--quick", action="store_true", help="few epochs of few units, to see that it runs")
    args = parser.parse_args(arguments)
    ending = "_quick" * args.quick
    output, work = args.output or pathlib.Path(f"dist/pretrained{ending}"), args.work or pathlib.Path("runs/pretrained")
    work = work.with_name(work.name + ending)
    for name in args.only:
        settings = quick(known[name]) if args.quick else known[name]
        archive = released(settings, work, output, args.data_dir)["archive"]
        print(f"wrote {output / archive['file']}, {archive['size']:,} bytes", flush=True)


if __name__ == "__main__":
    main()
