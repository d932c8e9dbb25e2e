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
    for figure in published.of_model("binarized_mnist", "SBN/SBN 200"):  # no harmonic mean, no bound
        assert float(figure.log_likelihood) <= -102.9
    assert published.of_model("tiny", "SBN 3") == []
    assert published.of_model("binarized_mnist", "NADE") == []  # known by its hidden units alone
    assert [f.log_likelihood for f in published.of_model("binarized_mnist", "NADE", 500)] == ["-88.35"]
    assert published.of_model("binarized_mnist", "NADE 500", 500) == []
    assert [f.log_likelihood for f in published.of_model("ocr_letters", "NADE", 500)] == ["-27.22"]
