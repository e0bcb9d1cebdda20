# Everything runs from a clean clone with Python 3.11 or later, pip and make.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed
BENCH_INSTALLED := .venv/.installed-bench
DATA ?= ../shared/data

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-long test-all hosts lint format bench bench-docs docs lock clean

help: ## Show this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

setup: $(INSTALLED) ## Make .venv with the locked versions, and the embedding model
	@$(BIN)/clew model install || { test -z "$$CLEW_REQUIRE_ALL" && \
	  echo "No embedding model: Clew works by words alone until 'clew model install' succeeds."; }

demo: setup ## Store, search and assemble a conversation
	@$(BIN)/clew demo

test: setup lint ## Lint, type-check and run the tests that guard every promise
	$(BIN)/python -m pytest -n auto --dist worksteal -m "not long"

test-long: setup ## Run the long tests: real hosts, documentation recipes, many kills, large stores
	$(BIN)/python -m pytest -n auto --dist worksteal -m long
	$(BIN)/python -m bench.assemble_ratio
	$(BIN)/python -m bench.fact_ratio

test-all: test test-long ## Run every test

hosts: ## Install the agents that some end-to-end tests drive, and say how to let the tests find them
	@tests/hosts/install.sh

lint: $(INSTALLED) ## Style, types, and which module may import which
	$(BIN)/ruff check src tests bench tools
	$(BIN)/ruff format --check src tests bench tools
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(INSTALLED) ## Bring the code into the project's style
	$(BIN)/ruff check --fix src tests bench tools
	$(BIN)/ruff format src tests bench tools

bench: setup $(BENCH_INSTALLED) ## Measure against peers and rewrite docs/benchmarks.md
	$(BIN)/python -m bench

bench-docs: setup $(BENCH_INSTALLED) ## Measure retrieval on the datasets in DATA=folder and draw its pictures anew
	$(BIN)/python -m bench.docs --data $(DATA)

docs: $(INSTALLED) ## Write anew what is made from the definitions: methods of the API, reference pages
	$(BIN)/python -m tools.api_methods
	$(BIN)/python -m tools.reference docs/reference

lock: $(INSTALLED) ## Choose versions anew and pin them
	$(BIN)/pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --group dev --extra onnx --extra plots --extra tokens pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
	  --extra bench -c requirements.lock pyproject.toml -o requirements-bench.lock

clean: ## Remove the virtual environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build

# A Python without ensurepip makes a virtual environment all the same: its own pip installs one there.
$(INSTALLED): pyproject.toml requirements.lock
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv 2>/dev/null || { rm -rf .venv; \
	  $(PYTHON) -m venv --without-pip .venv && $(PYTHON) -m pip --python $(BIN)/python install --quiet pip; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(BENCH_INSTALLED): $(INSTALLED) requirements-bench.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-bench.lock
	@touch $@
