"""Published figures: their names, signs and sources, and which stand beside ours."""

import tfdsmcmc as ds
from experiments.common import published


def test_published_figures():
    assert set(published.PUBLISHED) <= set(ds.datasets.names())
    figures = [figure for row in published.PUBLISHED.values() for figure in row]
    assert all(float(figure.log_likelihood) < 0 and figure.source for figure in figures)
    for name, row in published.PUBLISHED.items():
        keys = [(figure.model, figure.method, figure.source) for figure in row]
        assert len(set(keys)) == len(keys), name
    best = published.of_model("binarized_mnist", "NADE 200")
    assert [(figure.method, figure.log_likelihood) for figure in best] == [("DSGNHT-NAIS", "-83.67"), ("RWS", "-86.8")]
    for figure in published.of_model("binarized_mnist", "SBN/SBN 200"):  # no harmonic mean
        assert float(figure.log_likelihood) <= -102.9
    best, *_ = published.of_model("caltech101_silhouettes_28", "DARN 200")  # a bound from below was reached
    assert (best.method, best.log_likelihood) == ("mean-field VB", "-96.78")
    given_labels = published.of_model("binarized_mnist", "SBN 200")
    assert all("label" not in figure.method for figure in given_labels)
    assert published.of_model("tiny", "SBN 3") == []
    assert published.of_model("binarized_mnist", "NADE") == []  # known by its hidden units alone
    assert [f.log_likelihood for f in published.of_model("binarized_mnist", "NADE", 500)] == ["-88.35"]
    assert published.of_model("binarized_mnist", "NADE 500", 500) == []
    assert [f.log_likelihood for f in published.of_model("ocr_letters", "NADE", 500)] == ["-27.22"]
