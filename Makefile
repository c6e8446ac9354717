# `make demo` and `make test` do all set-up; `make test-slow` kills processes and learns; `make install` is the environment.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo docs test test-slow clean

install: $(VENV)/.installed

$(VENV)/.installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Augury needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[test]'
	touch $@

demo: install
	$(BIN)/augury demo

docs: install
	$(BIN)/python docs/make.py

test: $(VENV)/.installed-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n 2 -m 'not slow' --durations=15

test-slow: $(VENV)/.installed-test
	$(BIN)/python -m pytest -n 2 -m slow --durations=15

clean:
	rm -rf demo results build *.egg-info .mypy_cache .pytest_cache .ruff_cache
