# Every target does its own set-up in a virtual environment inside this folder; only Python and make are needed.
# Variables that can be given on the command line: PYTHON, PYTHON37, JOBS, PYTEST_ARGS, BENCH_ARGS, CORPUS_ARGS,
# DEMO_ARGS, ENVS.

PYTHON ?= python3
PYTHON37 ?= python3.7
# Test processes: one a core, at the most 8, for each may need 4 GB of memory.
JOBS ?= $(shell n=$$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2); echo $$(( n < 8 ? n : 8 )))
PYTEST_ARGS ?=
BENCH_ARGS ?=
CORPUS_ARGS ?=
DEMO_ARGS ?=
ENVS ?=

VENV := .venv
BIN := $(VENV)/bin
ORACLE_VENV := .venv-oracle
TF1 := 1.15.5
PIP_INSTALL := -m pip --disable-pip-version-check install -qq

# Where pyenv manages the interpreters, a `python3.X` on PATH may be a shim that works only if that version is selected
# in this folder. Two targets therefore put pyenv's interpreters themselves first on PATH.
PYENV_BINS = $(shell command -v pyenv >/dev/null 2>&1 && for d in "$$(pyenv root)"/versions/*/bin; do printf '%s:' "$$d"; done)
WITH_PYENV = PATH="$(PYENV_BINS)$$PATH"

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test bench corpus oracle lint format format-check types docs dist test-versions clean clean-all

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/.installed-demo  ## seven TF1 hooks in one fit on real digits; a run killed and resumed; a TF1 project migrated and run
	@$(BIN)/python migration_guide/examples/digits.py $(DEMO_ARGS)
	@echo
	@$(BIN)/python migration_guide/examples/resume.py 2>/dev/null
	@echo
	@$(BIN)/python migration_guide/examples/migrate.py

test: $(VENV)/.installed-test  ## run the tests (PYTEST_ARGS="-k name" to choose)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(PYTEST_ARGS)

bench: $(VENV)/.installed-test  ## measure time and memory per step against plain fit and the v1 session
	$(BIN)/python -m tests.benchmarks $(BENCH_ARGS)

corpus: $(VENV)/.installed-test  ## migrate published TF1 packages (downloads them) and count what came of it
	$(BIN)/python -m tests.corpus $(CORPUS_ARGS)

oracle: $(ORACLE_VENV)/.installed-$(TF1)  ## make the golden files anew with TensorFlow 1.15.5 (needs Python 3.7)
	$(ORACLE_VENV)/bin/python tests/oracle/make_golden.py
	$(ORACLE_VENV)/bin/python tests/bridge/checkpoint/make_golden.py
	$(ORACLE_VENV)/bin/python tests/bridge/estimator/make_golden.py
	$(ORACLE_VENV)/bin/python tests/guide/make_results.py
	$(ORACLE_VENV)/bin/python tests/codemod/make_script_golden.py

lint: $(VENV)/.installed-dev  ## ruff's rules
	$(BIN)/ruff check --quiet .

format: $(VENV)/.installed-dev  ## lay the code out and apply ruff's safe fixes
	$(BIN)/ruff check --quiet --fix --exit-zero .
	$(BIN)/ruff format .

format-check: $(VENV)/.installed-dev  ## fail if the code is not laid out as ruff would
	$(BIN)/ruff format --quiet --check .

types: $(VENV)/.installed-dev  ## mypy on bridge/ and codemod/
	$(BIN)/mypy

docs: $(VENV)/.installed-dev  ## build the migration guide into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

dist: $(VENV)/.installed-dev  ## build the sdist and the wheel into dist/
	rm -rf dist
	$(BIN)/python -m build --quiet

test-versions: $(VENV)/.installed-dev  ## run the tests on every supported TensorFlow and Python (ENVS=tf216-py310 for some)
	@$(WITH_PYENV) JOBS=$(JOBS) $(BIN)/tox run $(if $(ENVS),-e $(ENVS)) -- $(PYTEST_ARGS)

clean:  ## remove what was built and cached, keep the virtual environments
	rm -rf build dist site .mypy_cache .pytest_cache .ruff_cache
	find bridge codemod tests migration_guide -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true

clean-all: clean  ## remove the virtual environments too
	rm -rf $(VENV) $(ORACLE_VENV) .tox

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed; say which one with: make PYTHON=python3.12 ..."; exit 1; }
	@$(PYTHON) -m venv --clear $(VENV) \
		|| { echo "'$(PYTHON) -m venv' failed; some systems ship it as a separate package (python3-venv)."; exit 1; }
	@touch $@

$(VENV)/.installed-%: pyproject.toml $(VENV)/.made
	@echo "Installing what 'make $(firstword $(MAKECMDGOALS))' needs into $(VENV) (downloads TensorFlow if it is not there yet)"
	@$(BIN)/python $(PIP_INSTALL) --editable '.[$*]'
	@touch $@

$(ORACLE_VENV)/.installed-$(TF1):
	@echo "Installing TensorFlow $(TF1) into $(ORACLE_VENV)"
	@$(WITH_PYENV) $(PYTHON37) -m venv --clear $(ORACLE_VENV) \
		|| { echo "TensorFlow $(TF1) needs Python 3.7; say where it is with: make oracle PYTHON37=..."; exit 1; }
	@$(ORACLE_VENV)/bin/python $(PIP_INSTALL) 'tensorflow==$(TF1)' 'numpy==1.18.5' 'protobuf==3.20.3'
	@touch $@
