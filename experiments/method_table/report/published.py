"""What is published of a data set, a line a figure."""

from experiments.common.markdown import table
from experiments.common.published import CONFLICTS, PUBLISHED, sources_of
from experiments.method_table.report.tables import minus

_HEAD = ("model", "method", "nats a test row", "kind of figure", "source")


def lines_of(dataset):
    """The lines of what is published: a line a figure, the sources by number, and where they disagree."""
    sources = sources_of(dataset)
    lines = [
        [figure.model, figure.method, minus(figure.log_likelihood), figure.note, sources.index(figure.source) + 1]
        for figure in sorted(PUBLISHED[dataset], key=lambda figure: _first(dataset, figure))
    ]
    numbered = [f"{i}. {source}" for i, source in enumerate(sources, 1)]
    conflicts = [f"- {text}" for text in CONFLICTS.get(dataset, [])]
    head = ["Sizes stand nearest to the data first.", "", *table(_HEAD, lines)]
    return [*head, "", *numbered, *([""] * bool(conflicts)), *conflicts]


def _first(dataset, figure):
    """Where a model comes first: its figures stand together."""
    return next(place for place, other in enumerate(PUBLISHED[dataset]) if other.model == figure.model)
