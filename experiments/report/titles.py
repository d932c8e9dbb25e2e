"""The titles of data sets on pages."""

_TITLES = {
    "adult": "Adult",
    "binarized_mnist": "Fixed binarized MNIST",
    "caltech101_silhouettes_28": "Caltech 101 silhouettes, 28 × 28",
    "digits": "Digits, 8 × 8",
    "dna": "DNA",
    "mnist": "MNIST, binarized anew for each row",
    "ocr_letters": "OCR letters",
    "omniglot": "Omniglot, 28 × 28",
}


def title_of(dataset):
    """The title of a data set; others have their names."""
    return _TITLES.get(dataset, dataset)


def short_title(dataset):
    """The title of a data set for a cell of a table, without the size of its rows."""
    return title_of(dataset).split(", ")[0]
