"""`--help` and errors of usage cost a fraction of a second: commands and libraries are imported where they are used."""

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

from judge_r1.cli import COMMANDS

USAGE = [
    "nope",
    "--nope",
    "build",
    "build mini --out OUT variants=0",
    "build mini --out OUT kinds=zzz",
    "build mini --out OUT teacher=nosuch:x",
    "build mini --out OUT teacher=chat@http://localhost:1/v1#",
    "build mini --out OUT teacher=chat@",
    "demo --seed x",
    "split nowhere --out OUT",
    "split nowhere --out OUT --sizes 3 --test-share .1",
    "audit nowhere",
    "stats nowhere",
    "rationales nowhere --out OUT",
    "train nowhere.yaml",
    "train recipe.yaml",
    "train haystack/warmup sft.nope=1",
    "train haystack/warmup sft.examples=many",
    "train haystack/warmup data.train=nowhere",
    "train haystack/warmup model=",
    "train haystack/grpo --gpu A100",
    "launch nowhere.yaml --cluster recipe.yaml",
    "launch haystack/warmup --cluster recipe.yaml",
    "merge nowhere --out OUT",
    "generate --model nowhere/model --path nowhere --out OUT",
    "eval --judge agentic --path nowhere --out OUT",
    "eval --judge agentic@ --path nowhere --out OUT",
    "eval --judge nosuch@bundled:tiny --path nowhere --out OUT",
    "eval --judge agentic@bundled:nope --path nowhere --out OUT",
    "eval --judge agentic@bundled:tiny --path nowhere --out OUT",
    "eval --judge agentic@bundled:tiny --path nowhere --out OUT --benchmark nosuch",
    "analyse nope",
    "analyse class-bias nowhere --path nowhere --out OUT",
    "analyse radar nowhere --out OUT",
    "report nowhere",
    "serve --judge agentic",
    "serve --judge nosuch@x",
    "serve --judge longer --host 0.0.0.0",
    "serve --judge longer --port 99999",
    "keys list --file nowhere",
    "index nowhere",
    "doctor x",
]
"""Wrong words, options, SPECs, names, recipes and folders."""
READERS = [
    "build medrbench path=nowhere --out OUT", "build nosuch --out OUT", "validate nowhere",
    "select nowhere --rating nowhere --out OUT", "export nowhere --out OUT --format nosuch",
    "fit-weights nowhere --out OUT", "agreement nowhere --out OUT", "calibrate nowhere --out OUT",
    "analyse attention nowhere --path nowhere --out OUT", "rate nowhere --out OUT", "search nowhere query",
    "replay nowhere --path nowhere --out OUT",
]  # fmt: skip
"""Errors that the readers of a folder or a file find. They may have imported NumPy."""
MODELS = ("torch", "transformers", "datasets", "sentence_transformers", "sklearn", "faiss", "pyarrow", "fastapi")
ARRAYS = ("numpy", "scipy", "aiohttp", "httpx")
CODE = """
import json, sys
from typer.testing import CliRunner
from judge_r1.cli import app

runs, heavy = json.loads(sys.argv[1]), json.loads(sys.argv[2])
for words in runs:
    done = CliRunner().invoke(app, words.split())
    if done.exit_code != 2:
        sys.exit(f"{words} ends with {done.exit_code}: {done.output}")
    if loaded := [name for name in heavy if name in sys.modules]:
        sys.exit(f"{words} imports {loaded}")
"""


@pytest.mark.parametrize(("runs", "heavy"), [(USAGE, (*MODELS, *ARRAYS)), (READERS, MODELS)], ids=["usage", "readers"])
def test_an_error_of_usage_imports_no_heavy_library(runs: list[str], heavy: tuple[str, ...], tmp_path: Path) -> None:
    """One process runs them in turn, so that a library that one of them imports is found at that one."""
    (tmp_path / "recipe.yaml").write_text("stage: sft\nnonsense: 1\n")
    lines = json.dumps([words.replace("OUT", str(tmp_path / "out")) for words in runs])
    command = [sys.executable, "-c", CODE, lines, json.dumps(heavy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words", ["--help", "nope", "eval --judge agentic --path nowhere --out out"])
def test_it_takes_a_fraction_of_a_second_of_processor_time(words: str, tmp_path: Path) -> None:
    """At most six times the import of the libraries that every command needs, in the same minute: the processor time of
    a fast and a slow machine, or a busy one, differs by more than the limit."""
    command = [sys.executable, "-m", "judge_r1.cli", *words.split()]
    libraries = [sys.executable, "-c", "import pydantic, rich.console, typer"]
    found, least = (min(_processor_seconds(one, tmp_path) for _ in range(3)) for one in (command, libraries))
    assert found < 6 * least


def _processor_seconds(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, capture_output=True, check=False, cwd=folder)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def test_every_file_of_a_command_is_in_the_list() -> None:
    files = {path.stem.replace("_", "-") for path in Path(sys.modules["judge_r1.cli"].__path__[0]).glob("[!_]*.py")}
    assert files - {"failures", "options", "build-preview", "help-panels", "key-help"} == set(COMMANDS)
