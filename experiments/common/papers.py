"""The rows of the papers' tables: which methods learn which architectures on which data, and with what settings."""

_LAYERS = ("SBN/SBN 200", "SBN/SBN 200-200", "SBN/SBN 200-200-200")
_AUTOREGRESSIVE = ("DARN/DARN 200", "DARN/DARN 200-200")
_NADE = {
    "binarized_mnist": "NADE/NADE 200",
    "caltech101_silhouettes_28": "NADE/NADE 150",
    "ocr_letters": "NADE/NADE 200",
}
_CONTINUOUS = ("binarized_mnist", "mnist", "omniglot")
# a row's units depend on each other: evaluation takes long, and its importance samples are worth more
_OF_NADE = {"test_samples": 500, "annealing_rows": 20, "annealing_steps": 20}
_OF_VAE = {"hidden_units": [100, 100], "test_samples": 5000}


def rows_of(dataset):
    """The rows of a data set in the papers' tables, those that matter most first.

    Args:
      dataset: name.

    Returns:
      List of (method, architecture, dict of settings of this row).

    Raises:
      ValueError: for a data set that has none.
    """
    rows = []
    if dataset in _NADE:
        nade = _NADE[dataset]
        for method in ("dsgnht_nais", "rws"):
            rows += [(method, name, {}) for name in (*_LAYERS, *_AUTOREGRESSIVE)] + [(method, nade, _OF_NADE)]
        rows += [("dsgnht_gibbs", name, {}) for name in (*_LAYERS, *_AUTOREGRESSIVE)]
        rows += [("rws_published", name, {}) for name in (*_LAYERS, *_AUTOREGRESSIVE)]
        rows += [("rws_published", nade, _OF_NADE)]
        rows += [(method, name, {}) for method in ("nvil", "wake_sleep") for name in _LAYERS]
    if dataset in _CONTINUOUS:
        rows += [(method, "VAE 50", _OF_VAE) for method in ("dsgnht_iwae", "vae", "iwae")]
    if not rows:
        names = sorted({*_NADE, *_CONTINUOUS})
        raise ValueError(f"The papers' tables are of {names}. Received: dataset={dataset!r}")
    return rows
