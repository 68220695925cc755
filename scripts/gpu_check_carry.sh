#!/usr/bin/env bash
# Collects what scripts/gpu_check.py needs on a GPU machine without a package index: wheels for Linux and Python 3.12, and
# the configuration and tokenizer of SmolLM2-135M. The machine is expected to have torch, transformers, peft, accelerate and
# sentence-transformers. Folder and repository together stay below 64 MiB.
#
#   PYTHON=.venv/bin/python scripts/gpu_check_carry.sh
#   # there:
#   python3 -m pip install --no-index --no-deps --target /tmp/site runs/gpu-check-carry/*.whl
#   PYTHONPATH=/tmp/site python3 scripts/gpu_check.py --out OUT
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-.venv/bin/python} folder=runs/gpu-check-carry limit=64
rm -rf "$folder" && mkdir -p "$folder/smollm2"
platforms=()
for name in manylinux_2_28 manylinux_2_27 manylinux_2_24 manylinux_2_17 manylinux2014 manylinux1; do
    platforms+=(--platform "${name}_x86_64")
done
pin() { "$python" -c "from importlib.metadata import version; print('$1==' + version('$1'))"; }
"$python" -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.12 --implementation cp \
    "${platforms[@]}" --dest "$folder" "$(pin trl)" "$(pin datasets)" "$(pin dill)" "$(pin multiprocess)" \
    "$(pin faiss-cpu)" "$(pin pydantic)" "$(pin pydantic-core)" "$(pin annotated-types)" "$(pin typing-inspection)"
"$python" - "$folder/smollm2" <<'PYTHON'
import shutil, sys
from pathlib import Path
from judge_r1.models.hub import resolve

for file in Path(resolve("bundled:smollm2-135m")).iterdir():
    if file.suffix != ".safetensors":
        shutil.copy(file, sys.argv[1])
PYTHON
size=$(($(du -sk "$folder" | cut -f1) + $(git ls-files -z | xargs -0 du -ck | awk '/total$/ {sum += $1} END {print sum}')))
echo "$folder and the repository: $((size / 1024)) MiB"
[ "$size" -lt $((limit * 1024)) ] || { echo "more than $limit MiB: remove files from $folder" >&2; exit 1; }
