PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup demo test check bench study docs clean

setup: $(VENV)/.ready

$(VENV)/.ready: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "discreet needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 setup")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[dev]"
	$(BIN)/python -m compileall -q src
	touch $@

demo: setup
	$(BIN)/discreet demo --out demo-release

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vulture

test: check
	$(BIN)/pytest -n auto

bench: setup
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[bench]"
	$(BIN)/python benchmarks/run.py

study: setup
	$(BIN)/python studies/run.py

docs: setup
	$(BIN)/python docs/build.py

clean:
	rm -rf $(VENV) demo-release site .pytest_cache .mypy_cache .ruff_cache .hypothesis
