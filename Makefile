# `make demo` runs the main job, `make test` checks everything; both set up .venv if needed.
PYTHON ?= python3
BIN := .venv/bin
.PHONY: demo test bench bench-dimension bench-automatic bench-command bench-shards lint types unit format clean

.venv/installed: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch .venv/installed

demo: .venv/installed
	$(BIN)/spclust reproduce --out output/reproduction

test: lint types unit

# In an environment of its own: the peers, each of which may be missing, bring many packages.
BENCH := .venv-bench/bin
PEERS := bench-river bench-moa bench-clusopt

.venv-bench/installed: pyproject.toml
	test -x $(BENCH)/python || $(PYTHON) -m venv .venv-bench
	$(BENCH)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	for peer in $(PEERS); do \
		$(BENCH)/python -m pip install --quiet --disable-pip-version-check --editable ".[$$peer]" \
		|| echo "$$peer could not be installed: it will be reported as missing"; done
	touch .venv-bench/installed

bench: .venv-bench/installed
	$(BENCH)/python -m benchmarks $(ARGS)

bench-dimension: .venv-bench/installed
	$(BENCH)/python -m benchmarks.dimension $(ARGS)

bench-automatic: .venv/installed
	$(BIN)/python -m benchmarks.automatic $(ARGS)

bench-command: .venv/installed
	$(BIN)/python -m benchmarks.command $(ARGS)

bench-shards: .venv/installed
	$(BIN)/python -m benchmarks.shards $(ARGS)

lint: .venv/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/installed
	$(BIN)/mypy

unit: .venv/installed
	SCIPY_ARRAY_API=1 $(BIN)/python -m pytest --numprocesses auto --doctest-modules src tests

format: .venv/installed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-bench build output
	find . -name __pycache__ -prune -exec rm -rf {} +
