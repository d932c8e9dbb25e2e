"""Writers of small files in the formats in which the originals are published, told apart by the files' names."""

import numpy as np

from tfdsmcmc.datasets.packed import SPLITS


def rows(rng, sizes, width):
    """Random splits, each pixel with a probability of its own, so that a transpose or shift shows."""
    p = rng.uniform(0.2, 0.8, width)
    return [(rng.random((size, width)) < p).astype(np.uint8) for size in sizes]


def write(urls, splits, folder):
    """Writes the files of a source of binary data."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [url.rsplit("/", 1)[1] for url in urls]
    if len(names) == 1:
        (archive if names[0].endswith(".npz") else silhouettes)(folder / names[0], splits)
        return
    for name, x in zip(names, splits):
        (folder / name).write_text(text(name, x))


def text(name, x):
    """The text of one split."""
    labels = np.arange(len(x)) % 3 - 1
    if name.endswith(".data"):
        lines = [",".join(map(str, row)) for row in x]
    elif name.endswith(".libsvm"):
        pairs = [" ".join(f"{i + 1}:1" for i in np.flatnonzero(row)) for row in x]
        lines = [f"{label:+d} {pair} " for label, pair in zip(labels, pairs)]
    elif name.startswith("binarized_mnist"):
        lines = [" ".join(map(str, row)) for row in x]
    else:  # the matrices of nips and rcv1 have a target in their last column
        lines = [" ".join(map(str, row)) + f" {label}" for label, row in zip(labels, x)]
    return "\n".join(lines) + "\n"


def archive(path, splits):
    """With lengths beside the data, as floats."""
    content = {f"{split}_data": x.astype(np.float32) for split, x in zip(SPLITS, splits)}
    content |= {f"{split}_length": len(x) for split, x in zip(SPLITS, splits)}
    np.savez(path, inputsize=splits[0].shape[1], **content)


def silhouettes(path, splits):
    import scipy.io

    columns = [x.reshape(-1, 28, 28).transpose(0, 2, 1).reshape(-1, 784) for x in splits]
    scipy.io.savemat(path, dict(zip(("train_data", "val_data", "test_data"), columns)))
