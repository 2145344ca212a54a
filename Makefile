# Everything runs in .venv, which is made from requirements.lock; needs Python 3.11 or newer and make.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

export DAGSTER_DISABLE_TELEMETRY := yes
export ANONYMIZED_TELEMETRY := False

.PHONY: help install sweep gate ui test lint format snapshot bench simulation lock clean

help:  ## what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

install: $(READY)  ## make .venv, which the other targets do by themselves

sweep: $(READY)  ## measure the shipped knowledge base
	@$(BIN)/recall sweep

gate: $(READY)  ## the same, held against floors and baselines
	@$(BIN)/recall gate

ui: $(READY)  ## the Dagster UI on loopback, with the history of earlier sweeps
	@$(BIN)/recall ui

test: $(READY)  ## all tests
	@$(BIN)/pytest -n auto --dist loadscope

lint: $(READY)  ## ruff and mypy
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(READY)  ## let ruff format
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

snapshot: $(READY)  ## accept the present asset and check specifications
	@$(BIN)/pytest tests/test_definitions.py --snapshot-update

bench: $(READY)  ## scoring speed and memory
	@$(BIN)/python benchmarks/scoring.py

simulation: $(READY)  ## false alarms and power of the regression rule; rewrites docs/gate-simulation.md
	@$(BIN)/python benchmarks/gate_simulation.py --write docs/gate-simulation.md

$(READY): requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed: make PYTHON=python3.11" if sys.version_info < (3, 11) else 0)'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "installing what requirements.lock pins; this happens once" >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check -r requirements.lock >&2
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps --editable . >&2
	@touch $@

lock:  ## pin anew what pyproject.toml asks for
	@rm -rf build/lock && $(PYTHON) -m venv build/lock
	@build/lock/bin/pip install --quiet ".[offline,dev]"
	@build/lock/bin/pip freeze --exclude recall-assets | sed -E 's/^(torch==[0-9.]+)\+.*/\1/' > requirements.lock
	@rm -rf build/lock

clean:  ## remove the environment and all state
	@rm -rf .venv .recall build
