PYTHON ?= python3
VENV := .venv
LOWEST := .venv-lowest
BIN := $(VENV)/bin
IS_RECENT := $(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "discreet needs Python 3.11 or newer; run: make PYTHON=/path/to/python3.11 setup")'
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.DEFAULT_GOAL := setup
.PHONY: demo setup check test test-lowest fuzz attack wheel bench study docs screenshots clean

# What users get: the package and what it needs to run. This is all the demonstration waits for, and it does not wait
# for bytecode of a thousand modules it never loads: Python compiles each when it is first used.
$(VENV)/.core: pyproject.toml
	@$(IS_RECENT)
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(INSTALL) --no-compile --editable .
	touch $@

# The rest, on top: every optional part and the tools of developers.
$(VENV)/.ready: $(VENV)/.core
	$(INSTALL) --editable ".[dev]"
	$(BIN)/python -m compileall -q src
	touch $@

# Each dependency in the oldest version that pyproject.toml allows.
$(LOWEST)/.ready: pyproject.toml tools/lowest.py
	@$(IS_RECENT)
	$(PYTHON) tools/lowest.py $(LOWEST)
	touch $@

demo: $(VENV)/.core
	$(BIN)/discreet demo --out demo-release

setup: $(VENV)/.ready

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/vulture

# The pages are looked at in a real browser, the script of a release is run in a real R, and releases are made by a real
# Spark, which runs in Java.
test: check
	@command -v java >/dev/null || [ -x "$$JAVA_HOME/bin/java" ] || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq openjdk-17-jre-headless >/dev/null; } || echo "There is no Java: install it (Debian: apt-get install openjdk-17-jre-headless), or the tests of Spark are skipped"
	@command -v chromium chromium-browser google-chrome >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq chromium >/dev/null; } || echo "There is no Chromium: install it (Debian: apt-get install chromium), or the tests of the page are skipped"
	@command -v Rscript >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get update -qq && apt-get install -y -qq r-base-core >/dev/null; } || echo "There is no R: install it (Debian: apt-get install r-base-core), or the tests of analysis.R are skipped"
	OPENBLAS_NUM_THREADS=1 $(BIN)/pytest -n auto --dist worksteal

test-lowest: $(LOWEST)/.ready
	$(LOWEST)/bin/pytest -n auto

# Where atheris has no wheel the installation may fail: the tool then says what is missing.
fuzz: setup
	-$(INSTALL) --editable ".[fuzz]"
	$(BIN)/python tools/fuzz.py

attack: setup
	DISCREET_FULL=1 $(BIN)/pytest -n auto tests/audit tests/faults

wheel: $(VENV)/.core
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

bench: setup
	$(INSTALL) --editable ".[bench]"
	$(BIN)/python benchmarks/run.py

# DATA: a folder with the real tables; without it the example and stand-ins take their place, and the page says so.
study: setup
	$(BIN)/python studies/run.py --write $(if $(DATA),--data $(DATA))

# What the tests of the page see, for the documentation.
screenshots: setup
	$(BIN)/python tools/screenshots.py

docs: setup
	$(BIN)/python docs/site.py

clean:
	rm -rf $(VENV) $(LOWEST) dist demo-release site fuzz-findings screenshots .pytest_cache .mypy_cache .ruff_cache .hypothesis .benchmarks
