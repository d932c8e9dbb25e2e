# Every target does its own set-up: a virtual environment in .venv, made once and renewed when setup.py changes.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
export TF_CPP_MIN_LOG_LEVEL ?= 2

.PHONY: demo test test-all lint bench clean

demo: $(READY)  ## learn digits, print the test log-likelihood, draw pictures, export a SavedModel
	$(BIN)/python recipes/digits_sbn.py

# The suite runs in two processes side by side, as one keeps one core busy; the output of the second follows the first's.
HALF := tests/cli tests/model tests/posterior tests/recipes tests/serving tests/test_docstrings.py tests/test_incomplete.py
LOG := .pytest_half.log

test: $(READY)  ## the default suite
	@$(BIN)/python -m pytest -m "not slow" $(HALF) -p no:cacheprovider > $(LOG) 2>&1 & half=$$!; \
	trap 'kill $$half; rm -f $(LOG); exit 130' INT TERM; \
	$(BIN)/python -m pytest -m "not slow" $(addprefix --ignore=,$(HALF)); rest=$$?; \
	wait $$half; status=$$?; cat $(LOG); rm -f $(LOG); exit $$((rest > status ? rest : status))

test-all: $(READY)  ## the slow statistical and training tests too
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .

bench: $(READY)  ## tables of times; nothing is asserted
	$(BIN)/python -m benchmarks

$(READY): setup.py
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable ".[test]"
	touch $@

clean:
	rm -rf $(VENV) build dist *.egg-info
