# Every target does its own set-up: a virtual environment in .venv, made once and renewed when pyproject.toml changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
DOCS_READY := $(VENV)/docs-ready
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: demo test test-all lint bench notebooks docs dist clean

demo: $(READY)  ## learn digits, print the test log-likelihood, draw pictures, export a SavedModel
	$(BIN)/python -m experiments.common.quiet_script recipes/digits.py

# so many processes at a time; FILES="tests/test_gibbs_sweeps.py" runs those
WORKERS ?= 3
TESTS = $(BIN)/python -m tests --workers $(WORKERS) $(FILES)

test: $(READY)  ## the default suite
	$(TESTS) -- -m "not slow"

test-all: $(READY)  ## the slow statistical and training tests too
	$(TESTS) --files 1

lint: $(READY)  ## style, and what a type checker says of the public names and of programs that use them
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -q -p no:cacheprovider --noconftest tests/typing/test_checker.py

bench: $(READY)  ## tables of times; nothing is asserted
	$(BIN)/python -m benchmarks

notebooks: $(DOCS_READY)  ## run the tutorials whose code or package has changed, and store their outputs; PAGES="serve bare_kernel" runs those
	$(BIN)/python docs/_extensions/run_tutorials.py $(PAGES)

docs: $(DOCS_READY)  ## the site, in build/site; warnings are errors, and every public name has its place
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet -b html -d build/site.cache docs build/site
	SITE=build/site $(BIN)/python -m pytest -q -p no:cacheprovider --noconftest tests/site

dist: $(READY)  ## a source distribution and a wheel, in dist
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --editable ".[docs]"
	touch $@

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
