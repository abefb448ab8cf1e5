# Everything a developer runs; needs git, make and python3 with venv. `make` alone lists the targets.
# Nothing outside this folder is written. Recipes use relative paths, so that the folder's name may contain spaces.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
READY := .venv/.ready

# pip reports only what it does, and never asks
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_INPUT := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help venv test demo lint types imports format docs docs-check pictures site package bench bench-run soak real-agents clean

help: ## list these targets
	@echo "make <target>, with ARGS=\"…\" for more arguments:"
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-12s %s\n", $$1, $$2 }' Makefile

venv: $(READY) ## create .venv with every pinned version and this package, editable

.venv/.pinned: requirements/dev.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "error: \`$(PYTHON)\` is missing or older than Python 3.11" >&2; \
	  echo "hint: make PYTHON=python3.12 $(or $(MAKECMDGOALS),venv)" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "error: \`$(PYTHON)\` comes without venv, which is a separate package on Debian" >&2; \
	  echo "hint: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear .venv
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/dev.txt
	@touch $@

# No build isolation: the build back end is among the pinned packages, so nothing is downloaded twice.
$(READY): .venv/.pinned pyproject.toml
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/python -m pip check
	@touch $@

test: $(READY) ## run all tests, on every core (ARGS=--shuffle=random: in another order)
	$(BIN)/python -m compileall -q gitticks tests
	$(BIN)/python -m pytest -n auto --dist worksteal $(ARGS)

demo: $(READY) ## run tasks from start to merge in a throwaway repository
	$(BIN)/gt demo --yes $(ARGS)

lint: $(READY) ## check style and formatting
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .

types: $(READY) ## check types, strictly, tests included
	$(BIN)/python -m mypy

imports: $(READY) ## check that imports point down the layers, and in no cycle
	$(BIN)/lint-imports
	$(BIN)/lint-imports --config tools/cycles.toml

format: $(READY) ## format the code and apply safe fixes
	$(BIN)/python -m ruff check --fix .
	$(BIN)/python -m ruff format .

docs: $(READY) ## generate the reference from the code: commands, completion, settings, tables, events
	$(BIN)/python -m tools.reference --write
	$(BIN)/python -m tools.completion_table --write
	$(BIN)/python -m tools.settings_reference --write
	$(BIN)/python -m tools.workflow_tables --write
	$(BIN)/python -m tools.events_reference --write

pictures: $(READY) ## redraw the pictures of the terminal interface, from made-up tasks
	WRITE_PICTURES=1 $(BIN)/python -m pytest -q -n 0 tests/tui/test_pictures.py tests/tui/test_pictures_of_tasks.py

docs-check: $(READY) ## check that the reference is current, and run the console blocks of the docs
	$(BIN)/python -m tools.reference
	$(BIN)/python -m tools.completion_table
	$(BIN)/python -m tools.settings_reference
	$(BIN)/python -m tools.workflow_tables
	$(BIN)/python -m tools.events_reference
	$(BIN)/python -m tools.blocks README.md docs/tutorial/*.md docs/how-to/*.md

.venv/.site: $(READY) requirements/site.txt
	$(BIN)/python -m pip install --quiet --no-deps --requirement requirements/site.txt
	@touch $@

site: .venv/.site ## build the documentation as a site in site/, and check every link
	$(BIN)/python -m tools.site

package: $(READY) ## build sdist and wheel into dist/, and test the wheel in a clean environment
	$(BIN)/python -m tools.package

bench: $(READY) ## measure, next to the other trackers that are installed (ARGS=--quick, ARGS=--write)
	$(BIN)/python -m benchmarks $(ARGS)

bench-run: $(READY) ## measure the runner with scripted agents (ARGS=--quick, ARGS=--write)
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m benchmarks.runner $(ARGS)

soak: $(READY) ## run the randomised tests in full, for hours
	GITTICKS_DOSE=full $(BIN)/python -m pytest -n auto --dist worksteal --timeout 7200 $(ARGS)

real-agents: $(READY) ## test with the agents' real clients (npm installs 1.1 GB into a temporary folder) against fake services
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && \
	  cp tests/real_agents/package.json tests/real_agents/package-lock.json "$$folder" && \
	  npm install --no-save --prefix "$$folder" --no-audit --no-fund && \
	  TMPDIR=/var/tmp GITTICKS_REAL_AGENTS="$$folder/node_modules/.bin" $(BIN)/python -m pytest -n 2 tests/real_agents $(ARGS)

clean: ## remove everything that these targets created
	rm -rf .venv .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist build site
	find benchmarks gitticks tests tools -type d -name __pycache__ -prune -exec rm -rf {} +
