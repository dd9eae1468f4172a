# `make demo` runs the main job, `make check` what every change must pass, `make test` everything,
# `make docs` builds the documentation.
# Each sets up what it needs of .venv first: a demo needs far less than the tests.
PYTHON ?= python3
BIN := .venv/bin
# Bytecode is made when a module is first imported: most of what is installed never is.
INSTALL = -m pip install --quiet --disable-pip-version-check --no-compile
# uv installs in half of the time; where it cannot be had, or fails, pip does it.
QUICK_INSTALL = $(BIN)/python $(INSTALL) uv && $(BIN)/uv pip install --quiet --python $(BIN)/python
export PIP_NO_INPUT := 1
# As pip does: a company may have a certificate of its own.
export UV_SYSTEM_CERTS ?= 1
# Without bytecode every process that a test starts would compile all that it imports: 4 s each.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: docs docs-serve
.PHONY: demo check test test-oldest lint types unit collected kernels fast fuzz format clean
.PHONY: bench bench-dimension bench-automatic bench-quality bench-command bench-live bench-shards

.venv/demo: pyproject.toml
	@echo "Installing what the demo needs into .venv: about 620 MB, half a minute to two minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(QUICK_INSTALL) --editable '.[demo]' || $(BIN)/python $(INSTALL) --editable '.[demo]'
	@touch $@

.venv/dev: pyproject.toml
	@echo "Installing what the tests need into .venv: about 1.6 GB, one to three minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(QUICK_INSTALL) --editable '.[dev]' || $(BIN)/python $(INSTALL) --editable '.[dev]'
	@touch .venv/demo $@

.venv/docs: pyproject.toml
	@echo "Installing what the documentation needs into .venv: about 1.7 GB, one to three minutes."
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(QUICK_INSTALL) --editable '.[dev,docs]' || $(BIN)/python $(INSTALL) --editable '.[dev,docs]'
	@touch .venv/demo .venv/dev $@

demo: .venv/demo
	@echo "Running the paper's experiments, about a minute; the first time kernels are compiled."
	$(BIN)/spclust reproduce --out output/reproduction

# What every change must pass: about a minute and a half on two cores, once kernels are compiled.
check: lint types fast

# Sources are checked, and kernels compiled, while tests are collected: both cores are busy.
test: .venv/dev
	@$(MAKE) --no-print-directory --jobs 2 lint types unit kernels

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: .venv/dev
	$(BIN)/mypy

# Two workers more than cores: two have the tests that wait for other processes, which the quick
# check leaves out.
CORES := $(shell $(PYTHON) -c "import os; print(len(os.sched_getaffinity(0)))" 2>/dev/null || echo 2)
# Threads of linear algebra would wait for each other, busily: all cores have a worker already.
ONE_THREAD = OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1
PYTEST = SCIPY_ARRAY_API=1 $(ONE_THREAD) $(BIN)/python -m pytest --numprocesses

fast: .venv/dev
	SPCLUST_EXAMPLES=0.1 $(PYTEST) $(CORES) -m 'not slow' tests

# Half of the examples that tests state: `make test EXAMPLES=1` draws all of them.
EXAMPLES := 0.5
unit: collected
	SPCLUST_EXAMPLES=$(EXAMPLES) $(PYTEST) $$(($(CORES) + 2)) --doctest-modules src tests

# Once, before all workers collect the same: modules are compiled and assertions rewritten by one.
collected: .venv/dev
	@$(BIN)/python -m pytest --collect-only --quiet --doctest-modules src tests > .venv/collected \
		|| (cat .venv/collected; exit 1)

kernels: .venv/dev
	@$(BIN)/python -m spclust.compilation > .venv/kernels || (cat .venv/kernels; exit 1)

# The site, and then checks of the built pages: hosts, links, names, width in a browser.
SITE := output/docs
docs: .venv/docs
	@rm -rf $(SITE)
	$(ONE_THREAD) $(BIN)/python -m sphinx --fail-on-warning --keep-going --jobs auto --quiet \
		--builder html --doctree-dir output/doctrees docs $(SITE)
	$(BIN)/python -m pytest --quiet tests/site

docs-serve:
	$(PYTHON) -m http.server --bind 127.0.0.1 --directory $(SITE) 8000

format: .venv/dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The oldest versions that pyproject.toml allows, in an environment of their own.
OLDEST := .venv-oldest/bin

.venv-oldest/installed: pyproject.toml constraints-oldest.txt
	test -x $(OLDEST)/python || $(PYTHON) -m venv .venv-oldest
	$(OLDEST)/python $(INSTALL) --constraint constraints-oldest.txt --editable '.[test]'
	touch $@

test-oldest: .venv-oldest/installed
	$(OLDEST)/python -m pytest --numprocesses auto -m 'not slow' tests
	$(OLDEST)/python -m pytest tests/test_golden.py

# In an environment of its own: the peers, each of which may be missing, bring many packages.
BENCH := .venv-bench/bin
PEERS := bench-river bench-moa bench-clusopt

.venv-bench/installed: pyproject.toml
	test -x $(BENCH)/python || $(PYTHON) -m venv .venv-bench
	$(BENCH)/python $(INSTALL) --editable '.[bench]'
	for peer in $(PEERS); do \
		$(BENCH)/python $(INSTALL) --editable ".[$$peer]" \
		|| echo "$$peer could not be installed: it will be reported as missing"; done
	touch $@

bench: .venv-bench/installed
	$(BENCH)/python -m benchmarks $(ARGS)

bench-dimension: .venv-bench/installed
	$(BENCH)/python -m benchmarks.dimension $(ARGS)

bench-automatic: .venv/dev
	$(BIN)/python -m benchmarks.automatic $(ARGS)

bench-quality: .venv/dev
	$(BIN)/python -m benchmarks.quality $(ARGS)

bench-command: .venv/dev
	$(BIN)/python -m benchmarks.command $(ARGS)

bench-live: .venv/dev
	$(BIN)/python -m benchmarks.live $(ARGS)

bench-shards: .venv/dev
	$(BIN)/python -m benchmarks.shards $(ARGS)

# Hostile files, models, kills, interrupts and threads: an hour has the numbers of SECURITY.md.
MINUTES := 10
fuzz: .venv/dev
	$(BIN)/python -m fuzz --minutes $(MINUTES) $(ARGS)

clean:
	rm -rf .venv .venv-oldest .venv-bench build output
	find . -name __pycache__ -prune -exec rm -rf {} +
