"""How the site is made: `make docs`, by Sphinx, from installed packages alone and without the network."""

import os
import pathlib
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
DOCS = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_extensions")]

import tfdsmcmc  # noqa: E402 — of this checkout

project = "tfdsmcmc"
author = "the tfdsmcmc developers"
project_copyright = "the tfdsmcmc developers, Apache License 2.0"
version = release = tfdsmcmc.__version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "plain_docstrings",
    "public_names",
    "links",
    "stored_runs",
]
exclude_patterns = ["_extensions", "_static", "tutorials/outputs"]

# pages are Markdown as GitHub shows it; their headings are link targets by GitHub's rule
myst_enable_extensions = ["colon_fence"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # `make notebooks` runs the tutorials; the site has what it stored
nb_custom_formats = {
    f"tutorials/{page.name}": ["stored_runs.read", {"name": page.stem}, False]
    for page in sorted((DOCS / "tutorials").glob("*.md"))
}

# docstrings: types stand in the signatures, arguments in sections
default_role = "py:obj"
smartquotes_action = "D"  # dashes alone: "auto" is to be typed as it stands
autodoc_inherit_docstrings = True
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autosummary_generate = False
napoleon_numpy_docstring = False
napoleon_use_rtype = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"
add_module_names = False

html_theme = "sphinx_book_theme"
html_title = "tfdsmcmc"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["tables.js"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "home_page_in_toc": False,
    "show_navbar_depth": 1,
    "show_toc_level": 1,
    "navbar_persistent": [],  # the search is in the side bar
    "use_download_button": False,
    "use_fullscreen_button": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
