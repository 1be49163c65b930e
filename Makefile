# Everything a machine with Python 3.11+, pip and make can do with this project.
# Each target makes the virtual environment it needs; a second run starts no pip.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# pip may compile nothing and ask nothing: every dependency ships a wheel.
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check

# The workers of the test run: two cores are what the smallest machine has, and builds wait.
WORKERS ?= 3
PYTEST  := $(BIN)/python -m pytest -n $(WORKERS) --dist loadgroup -q

.PHONY: demo test heavy check docs captures bench clean-clone-check clean help

help:
	@echo "make demo               index the example documents and answer two questions, offline"
	@echo "make test               pass the tests"
	@echo "make heavy              pass those that take most of a minute each"
	@echo "make check              format, lint, types and tests: what a change must pass"
	@echo "make docs               the pages as a site, in docs/_build"
	@echo "make captures           record the terminal for the pages anew"
	@echo "make bench              the benchmarks (DATA=DIR for data from outside)"
	@echo "make clean-clone-check  both README commands in a fresh clone of HEAD"

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run.stamp: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[graphrag,embedded,documents]'
	@touch $@

$(VENV)/.dev.stamp: pyproject.toml | $(BIN)/python
	$(PIP) -e '.[dev]'
	@touch $@ $(VENV)/.run.stamp

demo: $(VENV)/.run.stamp
	@$(BIN)/python examples/demo.py

test: $(VENV)/.dev.stamp
	$(PYTEST) --hypothesis-profile=same -m "not heavy"

heavy: $(VENV)/.dev.stamp
	$(PYTEST) -m heavy

check: $(VENV)/.dev.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(PYTEST)

docs: $(VENV)/.dev.stamp
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build
	@echo "open docs/_build/index.html"

captures: $(VENV)/.dev.stamp
	$(BIN)/python docs/captures/record.py

bench: $(VENV)/.dev.stamp
	$(BIN)/python -m bench $(if $(DATA),--data $(DATA))

clean-clone-check:
	sh .ci/clean-clone-check.sh

clean:
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache
