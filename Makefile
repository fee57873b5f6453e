# `make help` lists what there is. VENV, PYTHON, PORT and MINUTES can be set.
SHELL := /bin/bash
.DEFAULT_GOAL := help
VENV ?= .venv
PYTHON ?= python3
PORT ?= 4200
MINUTES ?= 10
BIN := $(VENV)/bin
QUIET := PREFECT_SERVER_ANALYTICS_ENABLED=false DO_NOT_TRACK=1

help: ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## / — /' | sort

night: $(VENV)/.installed ## run a night: on the sample, or ERRORS=export.jsonl REPO=../app
	@$(QUIET) $(BIN)/python flows/nightly.py $(if $(ERRORS),--errors "$(ERRORS)") $(if $(REPO),--repo "$(REPO)") $(ARGS)

try: $(VENV)/.installed ## what it understands of a file, in seconds: ERRORS=export.jsonl REPO=../app
	@$(BIN)/nightwatch try "$(ERRORS)" $(if $(REPO),--repo "$(REPO)") $(ARGS)

ui: $(VENV)/.installed ## Prefect server, deployments and a worker, until Ctrl-C; PORT=4200
	@$(QUIET) BIN=$(BIN) PORT=$(PORT) deployments/ui.sh

deploy: $(VENV)/.installed ## register the nights at a running Prefect server; CONFIG=nightwatch.toml
	@$(QUIET) $(if $(CONFIG),NIGHTWATCH_CONFIG="$(abspath $(CONFIG))") $(BIN)/nightwatch deploy

test: $(VENV)/.developing ## lint, types, import contracts, tests (under 3 minutes on 2 idle cores)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(BIN)/mypy & types=$$!; [ -d tests/__pycache__ ] || $(QUIET) $(BIN)/pytest -qq --collect-only >/dev/null 2>&1; \
		$(QUIET) $(BIN)/pytest -q -n 3 --dist loadgroup -m "not slow"; tests=$$?; wait $$types && exit $$tests

test-slow: $(VENV)/.developing ## real Prefect server and worker, schedule, fresh resolve (under 25 minutes)
	$(QUIET) $(BIN)/pytest -q -n 3 --dist loadgroup -m slow --durations=10

faults: $(VENV)/.developing ## every way in which a call of a service can break, a night each (15 idle minutes); ONLY='slack.*500' picks
	$(QUIET) $(BIN)/python tests/connected/fault_matrix.py $(if $(ONLY),--only "$(ONLY)")

fuzz: $(VENV)/.developing ## new random examples for MINUTES=10, until one fails; not part of CI
	@end=$$(( $$(date +%s) + $(MINUTES) * 60 )); while [ $$(date +%s) -lt $$end ]; do \
		$(QUIET) HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -q -x -n 2 -m "hypothesis and not slow" tests/core tests/adapters || exit 1; \
		$(QUIET) HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest -q -x -n 2 -m hypothesis tests/slow/test_many_nights.py || exit 1; done

mutants: $(VENV)/.developing ## break lines one by one: which do tests miss? ONLY='*policy*' picks
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --group mutants
	@$(QUIET) $(BIN)/mutmut run $(if $(ONLY),"$(ONLY)") | tr '\r' '\n' | tail -n 2
	@$(BIN)/mutmut results | grep -v "not checked" || true
	@$(BIN)/mutmut results --all true | sed -E 's/^ *(.*)\.[^.]*__mutmut_[0-9]+: /\1: /' | sort | uniq -c

bench: $(VENV)/.developing ## the figures of BENCHMARKS.md, measured again: 40 idle minutes; ONLY="parsing fifty" picks
	$(QUIET) $(BIN)/python -m tests.benchmarks.run $(if $(ONLY),--only $(ONLY))
	$(if $(ONLY),,$(BIN)/python -m tests.benchmarks.tokens.efficiency --write)

efficiency: $(VENV)/.developing ## what an analysis costs, measured again and compared with BENCHMARKS.md
	$(BIN)/python -m tests.benchmarks.tokens.efficiency

sample: $(VENV)/.installed ## capture the sample's errors again; must equal the committed ones
	PYTHONPATH=tests $(BIN)/python -m sample_capture.capture

format: $(VENV)/.developing ## put the code into shape
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean: ## remove the virtual environment; the state folder .nightwatch stays
	rm -rf $(VENV)

$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) git >/dev/null || { echo "python3 (3.11, with venv) and git are needed: apt-get install python3-venv git"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check "$$(grep -m1 '^pip==' constraints.txt)"
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.developing: $(VENV)/.installed
	$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt --group dev
	@touch $@

.PHONY: help night try ui deploy test test-slow faults fuzz mutants bench efficiency sample format clean
