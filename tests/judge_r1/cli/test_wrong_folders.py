"""A folder above the right one, or a misspelt one: the error names the folders below, before anything slow begins."""

import subprocess
import sys
from pathlib import Path

import pytest
from command_server import run

WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
from judge_r1.cli import main
main()
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`runs` with a run, its model and checkpoint, data of two parts, and an evaluation; `one` has a single case."""
    home = tmp_path_factory.mktemp("home")
    for file in (
        "grpo/recipe.yaml", "grpo/model/config.json", "grpo/checkpoints/checkpoint-2/config.json", "eval/rows.json",
        "eval/votes.jsonl", "eval/summary.json", "eval/outcomes.jsonl", "data/test/cases.jsonl",
        "data/test/pairs.jsonl", "data/train/cases.jsonl", "data/train/pairs.jsonl", "data/train/all/cases.jsonl",
        "talks/test/conversations.jsonl", "talks/test/documents.jsonl",
    ):  # fmt: skip
        (home / "runs" / file).parent.mkdir(parents=True, exist_ok=True)
        (home / "runs" / file).touch()
    (home / "runs/talks/test/build.json").write_text('{"generator": "conversations"}')
    assert run("build", "mini", "limit=1", "--out", home / "one").returncode == 0
    return home


MODELS = "model folders below runs: runs/grpo/model, runs/grpo/checkpoints/checkpoint-2"
DATA = "folders with cases.jsonl below runs: runs/data/test, runs/data/train\n"
PAIRS = DATA.replace("cases", "pairs")


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("serve --judge agentic@runs", MODELS),
        ("serve --judge agentic@runs/gpro/model", MODELS),
        ("eval --judge longer --judge agentic@runs --path one --out out", MODELS),
        ("eval --judge panel:orders=2(longer|agentic@runs) --path one --out out", MODELS),
        ("eval --judge selective:calibration=x(direct@runs) --path one --out out", MODELS),
        ("train mini/warmup data.train=one model=runs --out out", MODELS),
        ("train mini/warmup data.train=runs model=bundled:tiny --out out", DATA),
        ("validate runs", DATA),
        ("validate runs/data/tset", DATA.replace("below runs", "below runs/data")),
        ("validate runs/talks", "folders with documents.jsonl below runs/talks: runs/talks/test\n"),
        ("validate nowhere", "nowhere does not exist: give a folder that `judge-r1 build` or `judge-r1 split` wrote\n"),
        ("split nowhere --out out", "nowhere does not exist: give a folder that `judge-r1 build` or"),
        ("export nowhere --format sft --out out", "nowhere does not exist: build or split pairs there\n"),
        ("eval --judge longer --path nowhere --out out", "nowhere does not exist: give --path a folder that"),
        ("rate nowhere --out out", "nowhere does not exist: give a folder of `judge-r1 eval`, a table of"),
        ("replay nowhere --path one --out out", "nowhere does not exist: replay takes a folder that `eval`"),
        ("analyse errors nowhere --path one --out out", "nowhere does not exist: make one with judge-r1 eval"),
        ("report nowhere --out out", "nowhere does not exist\n"),
        ("calibrate nowhere --judge-name longer --out out", "nowhere does not exist: give a file of answers"),
        ("train mini/warmup data.train=nowhere --out out", "data.train nowhere does not exist: build the pairs first"),
        (
            "train haystack/grpo",
            "does not exist: make it with `judge-r1 train haystack/warmup --out runs/haystack/warmup`, or give",
        ),
        ("audit runs/eval/rows.json", "runs/eval/rows.json is a file: give the folder that holds it, runs/eval\n"),
        ("report one/cases.jsonl", "one/cases.jsonl is a file, which holds no training run"),
        ("search one/cases.jsonl word --case-id nobody", "holds no case 'nobody': give an id of the file, e.g. "),
        ("eval --judge bundled:tiny --path one --out out", "is a model: write agentic@bundled:tiny\n"),
        ("launch mini/grpo --cluster nowhere.yaml --dry-run", "no cluster file nowhere.yaml: copy a file of "),
        ("audit runs", DATA),
        ("split runs --out out", DATA),
        ("stats runs", DATA),
        ("index runs", DATA),
        ("export runs --format sft --out out", PAIRS),
        ("eval --judge longer --path runs --out out", PAIRS),
        ("eval --benchmark rankjudge --judge longer --path runs --out out", "below runs: runs/talks/test\n"),
        ("merge runs", "runs below runs: runs/grpo\n"),
        ("replay runs --path one --out out", "folders with summary.json below runs: runs/eval\n"),
        ("rate runs/data --out out", "give a folder of `judge-r1 eval`, a table of votes, or a log of Inspect\n"),
        ("analyse errors runs --path one --out out", "folders with summary.json below runs: runs/eval\n"),
        ("audit one", "the audit needs pairs of at least 10 cases, but the set has 1"),
        ("split one --out out", "needs 2 groups of cases, and these pairs have 1 ("),
        ("split one --dev-share 0.3 --out out", "build more cases, or leave out --dev-share"),
    ],
)
def test_the_error_names_the_right_folders(command: str, said: str, runs: Path) -> None:
    done = run(*command.split(), folder=runs)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (runs / "out").exists()


@pytest.mark.parametrize(
    "command",
    [
        "serve --judge agentic@runs",
        "eval --judge memo@nowhere --path one --out out",
        "train mini/warmup data.train=one model=runs --out out",
        "audit one",
    ],
)
def test_it_comes_before_torch_is_imported(command: str, runs: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *command.split()], cwd=runs, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2, done.stderr
    assert "torch is not installed" not in done.stderr
    assert any(word in done.stderr for word in ("holds no model", "there is no folder nowhere", "at least 10 cases"))
