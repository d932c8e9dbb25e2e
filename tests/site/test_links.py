"""Where the links of pages lead on the site."""

import pytest

from tests.site import extension

links = extension("links")
ADDRESS = "https://example.org/ours"


@pytest.mark.parametrize(
    ("text", "file", "page", "expected"),
    [
        ("[a](study.md#b)", "docs/guide.md", "guide.md", "[a](study.md#b)"),
        ("[a](../study.md)", "docs/how_to/x.md", "how_to/x.md", "[a](../study.md)"),
        ("[a](../README.md#b)", "docs/guide.md", "guide.md", "[a](index.md)"),
        ("[a](docs/guide.md#b)", "README.md", "index.md", "[a](guide.md#b)"),
        ("[a](docs/guide.md)", "CONTRIBUTING.md", "project/contributing.md", "[a](../guide.md)"),
        ("[a](../saved_models/README.md#b)", "docs/guide.md", "guide.md", "[a](project/saved_models.md#b)"),
        ("[a](../../CHANGELOG.md)", "docs/how_to/x.md", "how_to/x.md", "[a](../project/changelog.md)"),
        ("[a](https://b.org) [a](#b)", "docs/guide.md", "guide.md", "[a](https://b.org) [a](#b)"),
        ("```\n[a](../b)\n```\n", "docs/guide.md", "guide.md", "```\n[a](../b)\n```\n"),
        ('As:\n\n    f["a"](b=1)\n', "docs/guide.md", "guide.md", 'As:\n\n    f["a"](b=1)\n'),
        ("[`a`](../README.md)", "docs/guide.md", "guide.md", "[`a`](index.md)"),
    ],
)
def test_links_are_led_to_pages(text, file, page, expected):
    assert links.redirected(text, file, page, ADDRESS) == expected


def test_what_the_site_does_not_have_is_in_the_repository_or_no_link():
    text = "[a](../recipes/rbm.py) and [b](../recipes)"
    expected = f"[a]({ADDRESS}/blob/main/recipes/rbm.py) and [b]({ADDRESS}/blob/main/recipes)"
    assert links.redirected(text, "docs/guide.md", "guide.md", ADDRESS) == expected
    assert links.redirected(text, "docs/guide.md", "guide.md", None) == "a and b"


NAMES = ["tfdsmcmc.Prior", "tfdsmcmc.priors.Prior", "tfdsmcmc.likelihood.exact", "tfdsmcmc.layers.NADE",
         "tfdsmcmc.distributions.NADE", "tfdsmcmc.boltzmann.log_partition"]  # fmt: skip


@pytest.mark.parametrize(
    ("word", "module", "best"),
    [
        ("Prior", None, "tfdsmcmc.Prior"),
        ("Prior", "tfdsmcmc.priors", "tfdsmcmc.priors.Prior"),
        ("NADE", "tfdsmcmc.layers", "tfdsmcmc.layers.NADE"),
        ("likelihood.exact", None, "tfdsmcmc.likelihood.exact"),
        ("ds.likelihood.exact", None, "tfdsmcmc.likelihood.exact"),
        ("log_partition", "tfdsmcmc.posterior", None),
        ("keras.Model", None, None),
    ],
)
def test_what_a_name_means(word, module, best):
    assert next(iter(links.candidates(word, NAMES, module)), None) == best


def test_types_in_signatures_have_a_page():
    from tfdsmcmc._common import types

    found = links.types_of_page()
    assert {"Seed", "Nest", "TensorLike", "WeightedLatents", "RowsLike", "PriorLike"} <= found
    assert "Any" not in found and found - {"RowsLike", "PriorLike"} <= set(vars(types))
