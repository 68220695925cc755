"""Every command of the README and of the first example of each docs page runs.

A command runs as it is shown, in a folder with tiny corpora in their original formats (`docs_workspace`). Placeholders
stand for what `PLACES` says. What needs more than this machine has, or minutes, has a substitute in `SUBSTITUTES`; the
few commands of `NOT_RUN` have none. A command that is in no table runs as it is shown.
"""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob
from pathlib import Path
from shutil import copytree

import httpx
import pytest
from docs_commands import PAGES, commands
from docs_endpoint import answer
from docs_workspace import make_docs_workspace
from fake_judge_endpoint import JudgeServer
from fake_llm_server import FakeLLMServer
from fake_teacher import honest
from paths import REPO
from serving_fixture import LiveServer, service
from typer.testing import CliRunner

from judge_r1.cli import app
from judge_r1.core.case_store import CaseStore
from judge_r1.judges.base import JudgeBuild
from judge_r1.judges.panel import make_judge

PLACES = {
    "PATH/": "corpora/", "DATA/": "corpora/", "https://host/v1": "SERVER", "http://localhost:8000/v1": "SERVER",
    "direct@MODEL": "direct@SERVER#model", "http://127.0.0.1:8000": "JUDGE",
    "launch RECIPE": "launch recipes/mini/grpo.yaml", " [key=value …]": " grpo.steps=1",
}  # fmt: skip
"""What stands for the placeholders of the pages. SERVER is a model server on this machine, JUDGE a served judge."""


@dataclass(frozen=True)
class Instead:
    """The substitute of a command, because of `why`: the command with `more` words, or another `line`.

    `slow` ones take more than a few seconds of processor time, and run with the slow tests."""

    why: str
    more: str = ""
    line: str = ""
    slow: bool = False


ONE_STEP = (
    "grpo.steps=1 grpo.group_size=2 grpo.pairs_per_step=1 grpo.micro_batch_size=2 episode.retriever=bm25 "
    "episode.budget.response_tokens=16"
)
SUBSTITUTES = {
    # README
    "make setup && make demo": Instead("installs; .ci/run runs it", line="make --dry-run setup demo"),
    "make setup && make test": Instead("installs; .ci/run runs it", line="make --dry-run setup test"),
    "make setup": Instead("installs; .ci/run runs it", line="make --dry-run setup"),
    "make setup-gpu": Instead("needs CUDA", line="make --dry-run setup-gpu"),
    "pip install '.[serve,train]'": Instead("installs", "--dry-run --no-deps --no-build-isolation --no-index"),
    "judge-r1 demo": Instead("17 minutes", "--small --out runs/small", slow=True),
    "judge-r1 build medrbench path=PATH/medical_medrbench teacher=chat@anthropic:MODEL --out "
    "runs/medical/pairs": Instead("150 cases", "limit=12 variants=1"),
    "judge-r1 audit runs/medical/pairs": Instead(
        "a model of 135M reads a pair a second", "--language-model bundled:tiny --language-model-pairs 2"
    ),
    "judge-r1 attack agentic@runs/medical/grpo/model --path runs/medical/test --out runs/attack": Instead(
        "20 s", "--attack control --attack praise --limit 2"
    ),
    'judge-r1 search runs/medical/pairs/cases.jsonl "platelet count" --case-id ID': Instead(
        "ID is that of a case",
        line="judge-r1 search runs/medical/pairs/cases.jsonl 'platelet count' --case-id FIRST_ID",
    ),
    "judge-r1 train recipes/medical/sft.yaml --out runs/medical/sft": Instead(
        "minutes", "model=bundled:tiny episode.retriever=bm25 sft.examples=4 sft.max_steps=1"
    ),
    "judge-r1 train recipes/medical/sft.yaml data.train=runs/english/train --out runs/english/sft": Instead(
        "minutes, and the toy model reads only its own language",
        line="judge-r1 train recipes/medical/sft.yaml data.train=runs/demo/data/train --out runs/english/sft "
        "model=bundled:tiny episode.retriever=bm25 sft.examples=4 sft.max_steps=1",
    ),
    "judge-r1 train recipes/medical/grpo.yaml --out runs/medical/grpo": Instead("minutes", ONE_STEP),
    "judge-r1 merge RUN --step 400": Instead("a run of 400 steps", line="judge-r1 merge runs/medical/grpo --step 1"),
    "judge-r1 eval --judge agentic@runs/medical/grpo/model --judge longer --path runs/medical/test --out "
    "runs/medical/eval": Instead("after one step no rating of it is finite", "--judge evidence --judge random"),
    "judge-r1 serve --judge agentic@runs/english/sft/model": Instead(
        "starts a process of its own", line="judge-r1 serve --judge agentic@runs/demo/grpo/model --port 0", slow=True
    ),
    "judge-r1 serve --judge agentic@runs/medical/grpo/model": Instead(
        "starts a process of its own", line="judge-r1 serve --judge agentic@runs/demo/grpo/model --port 0", slow=True
    ),
    "judge-r1 train recipes/paper/judge-r1-warm-fc-search.yaml --dry-run --gpu H100": Instead("20 s", slow=True),
    'judge-r1 eval --table11 --judge "SFT-21K=agentic@runs/sft-21k/model" '
    '--judge "Judge-R1=agentic@runs/judge-r1-warm-fc-search/model" --path runs/lrbench/test '
    "--out runs/lrbench/eval": Instead(
        "trained on GPUs",
        line='judge-r1 eval --table11 --judge "SFT-21K=agentic:prompt_tokens=2000@runs/demo/warmup/model" --judge '
        '"Judge-R1=agentic:prompt_tokens=2000@runs/demo/grpo/model" --path runs/demo/data/test --limit 1 '
        "--out runs/table11",
    ),
    # docs
    "judge-r1 eval --baselines https://host/v1#model --examples runs/demo/data/train --path runs/demo/data/test "
    '--judge "ours=agentic@runs/demo/grpo/model" --out runs/baselines': Instead(
        "the default embedder is on a hub", "--limit 2 --recipe runs/demo/grpo/recipe.yaml"
    ),
    'judge-r1 eval --judge "pointwise:search=false@runs/pointwise/model" --path runs/lrbench/test --out '
    "runs/alone": Instead(
        "trained on GPUs",
        line='judge-r1 eval --judge "pointwise:search=false@runs/demo/grpo/model" --path runs/demo/data/test --limit 2 '
        "--out runs/alone",
    ),
    'judge-r1 eval --judge "cascade:threshold=0.9(agentic@runs/small/model|agentic@runs/large/model)" --path '
    "runs/lrbench/test --out runs/cascade": Instead(
        "trained on GPUs",
        line='judge-r1 eval --judge "cascade:threshold=0.9(agentic@runs/demo/warmup/model|longer)" '
        "--path runs/demo/data/test --limit 2 --out runs/cascade",
    ),
    "judge-r1 eval --benchmark NAME --path FILES --judge SPEC --out DIR": Instead(
        "all are placeholders",
        line="judge-r1 eval --benchmark judgebench --path PATH/judgebench --judge longer --out out",
    ),
    "judge-r1 train recipes/mini/grpo.yaml --out runs/mine": Instead("minutes", ONE_STEP),
    "judge-r1 train recipes/mini/grpo.yaml grpo.engine=verl": Instead(
        "minutes; tests/judge_r1/training/verl trains", "--dry-run", slow=True
    ),
    "python scripts/gpu_check.py --out runs/gpu-check": Instead(
        "needs a GPU", "--device cpu --small --parts training,retrieval --minutes 20", slow=True
    ),
    "python scripts/gpu_check.py --device cpu --small": Instead("minutes", "--parts size --minutes 10", slow=True),
    'judge-r1 eval --path runs/demo/data/test --out runs/eval --judge "ours=agentic@runs/demo/grpo/model" --judge '
    '"big=direct:logprobs=true@https://host/v1#some-model" --judge "served=agentic:tokenizer=runs/demo/grpo/model@vllm:'
    'http://localhost:8000/v1#judge" --judge "both=panel:orders=2(direct@https://host/v1#some-model|longer)"': Instead(
        "the default embedder is on a hub", "--limit 2 --recipe runs/demo/grpo/recipe.yaml"
    ),
    "judge-r1 eval --benchmark longjudgebench --path LongJudgeBench --subset ma,setting=rubric --judge "
    "direct@https://host/v1#model --out runs/ma": Instead(
        "the made-up files have no rubric of this set", "--subset ma,setting=vanilla"
    ),
    "OMP_NUM_THREADS=1 python -m scripts.bench.case_search": Instead(
        "minutes; tests/scripts runs it in its process", "--cases 20 --queries 20 --rounds 2", slow=True
    ),
    "pip install 'judge-r1[serve,train]'": Instead("installs", "--dry-run --no-deps --no-index"),
    "judge-r1 serve --judge evidence": Instead("starts a process of its own", "--port 0", slow=True),
    "judge-r1 build medrbench path=PATH/medical_medrbench teacher=chat@anthropic:MODEL prices=prices.yaml "
    "budget=20 --out runs/medical/pairs": Instead("a model writes each flaw", "limit=2 variants=1"),
    "judge-r1 train recipes/medical/sft.yaml --dry-run": Instead("converts the weights of 135M", "model=bundled:tiny"),
}  # fmt: skip
NOT_RUN = {
    ". .venv/bin/activate": "activates what `make setup` makes",
    "make setup-gpu && . .venv-gpu/bin/activate": "activates what `make setup-gpu` makes",
    **dict.fromkeys(commands("extend.md"), "installs a package: test_extend.py does, in a copy of `examples`"),
    "bash findings/faiss_ties.sh": "downloads packages",
    "srun --partition gpu --gpus-per-node 1 nvidia-smi --query-gpu=name,driver_version --format=csv": "needs Slurm",
}
TRACE = "cp tests/judge_r1/traces/data/calc.eval run.eval"
BEFORE = {
    "analysis.md": ["judge-r1 eval --judge longer --judge evidence --path runs/mini/data/test --out runs/eval"],
    "commands.md": [TRACE],
    "traces.md": [TRACE],
    "episode.md": ["mkdir -p runs/medical", "cp -r runs/demo/all runs/medical/pairs"],
    "rating.md": [
        "rm -r runs/eval",
        *(
            f"judge-r1 eval {judges} --path runs/mini/data/test --out runs/{folder}"
            for folder, judges in {
                "eval/step-200": "--judge longer --judge evidence --judge random",
                "eval/step-400": "--judge step-400=random",
                "other-eval/a": "--judge longer --judge evidence --judge random",
            }.items()
        ),
    ],
    "train_one_gpu.md": ["mkdir -p runs/medical", "cp -r runs/demo/data/* runs/demo/grpo runs/medical"],
}
"""What a page takes as given."""


def head(command: str) -> str:
    """The key of a command in the tables: of a block of Python the first line; the pages say PATH or DATA."""
    return re.sub(r"([ =])DATA/", r"\1PATH/", command.partition("\n")[0])


WHOLE = "commands.md"
"""The page of which every command runs, in order. The README and the other pages run what it lacks."""

COMMON = {head(command) for command in commands(WHOLE)}


def is_slow(command: str) -> bool:
    return head(command) in SUBSTITUTES and SUBSTITUTES[head(command)].slow


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_docs_workspace(tmp_path_factory.mktemp("docs") / "home")


@pytest.fixture
def home(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the prepared folder, as the working directory."""
    folder = Path(copytree(prepared, tmp_path / "home", symlinks=True))
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("PYTHONPATH", str(REPO))
    monkeypatch.setenv("PATH", f"{folder / 'bin'}:{Path(sys.executable).parent}:{os.environ['PATH']}")
    return folder


@pytest.fixture(scope="module")
def addresses() -> Iterator[dict[str, str]]:
    """The model server, and a judge of it that is served."""
    cases, options = CaseStore(), "context=none,prompt=compact,retriever=bm25"
    with JudgeServer(answer) as server:
        judge = make_judge(f"agentic:{options}@{server.url}#model", JudgeBuild("", texts=cases))
        with LiveServer(service(judge, cases=cases)) as served:
            yield {"SERVER": server.url, "JUDGE": served.url}


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", ["README.md", *PAGES])
def test_commands(page: str, home: Path, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, home, addresses, monkeypatch, slow=False)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("page", [page for page in ("README.md", *PAGES) if any(map(is_slow, commands(page)))])
def test_slow_commands(page: str, home: Path, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    run_page(page, home, addresses, monkeypatch, slow=True)


def test_the_tables_hold_no_other_command() -> None:
    shown = {head(command) for page in ("README.md", *PAGES) for command in commands(page)}
    assert {*SUBSTITUTES, *NOT_RUN} <= shown


def run_page(page: str, home: Path, addresses: dict[str, str], monkeypatch: pytest.MonkeyPatch, *, slow: bool) -> None:
    """Runs the commands of a page that are slow or not. What the page `WHOLE` has runs with it alone."""
    shown = [command for command in commands(page) if command not in NOT_RUN and is_slow(command) == slow]
    wanted = [command for command in shown if page == WHOLE or head(command) not in COMMON]
    with FakeLLMServer(honest) as teacher:
        for name, value in teacher.environment.items():
            monkeypatch.setenv(name, value)
        for command in [*BEFORE.get(page, ()), *wanted] if wanted else ():
            run(with_places(command, home, addresses))


def with_places(command: str, home: Path, addresses: dict[str, str]) -> str:
    """The command that runs for a command of a page."""
    instead = SUBSTITUTES.get(head(command), Instead(""))
    line = instead.line or f"{command} {instead.more}"
    for name, here in {**PLACES, **addresses}.items():
        line = line.replace(name, here)
    if "FIRST_ID" in line:
        cases = (home / "runs/medical/pairs/cases.jsonl").read_text(encoding="utf-8")
        line = line.replace("FIRST_ID", cases.split('"case_id": "')[1][:16])
    return line


def run(line: str) -> None:
    """Runs a command: of judge-r1 and Python in this process, others in one of their own. It must succeed."""
    if line.startswith("judge-r1 serve "):
        run_server(line)
    elif line.startswith(("from ", "import ")):  # not one that names its file: it may register something
        exec(line, {})
    elif line.startswith("judge-r1 "):
        words = [found for word in shlex.split(line)[1:] for found in (sorted(glob(word)) or [word])]
        result = CliRunner().invoke(app, words)
        assert result.exit_code == 0, f"{line}\n{result.output}"
    else:
        words = [sys.executable, "-c", line] if "\n" in line else ["bash", "-c", line]
        done = subprocess.run(words, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"


def run_server(line: str) -> None:
    """Starts a server, asks it whether it is ready, and stops it."""
    words = shlex.split(line)[1:]
    process = subprocess.Popen([sys.executable, "-m", "judge_r1.cli", *words], stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        found = next(filter(None, (re.search(r"running on (http://\S+)", text) for text in process.stderr)))
        assert httpx.get(f"{found[1]}/readyz").status_code == 200
        process.terminate()
        assert process.wait(30) == 0
    finally:
        process.kill()
