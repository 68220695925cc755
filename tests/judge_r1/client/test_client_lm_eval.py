"""lm-eval against a live server, with the task of `examples/` as written."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from paths import REPO
from serving_fixture import LiveServer, service

pytestmark = [
    pytest.mark.skipif(importlib.util.find_spec("lm_eval") is None, reason="the lm-eval package is in the extra dev"),
    pytest.mark.timeout(400),
]
PAIRS = [("one", "one two", "B"), ("a b c", "a", "A"), ("x y", "x", "A"), ("long answer", "short", "B")]
"""`longer` is right on three of these four."""
EVALUATE = """
import json, sys
from lm_eval.evaluator import simple_evaluate
from lm_eval.tasks import TaskManager

found = simple_evaluate(
    "local-chat-completions", model_args=sys.argv[1], tasks=["judge_pairs"], apply_chat_template=True,
    task_manager=TaskManager(include_path=".", include_defaults=False), bootstrap_iters=0,
)
samples = found["samples"]["judge_pairs"]
print(json.dumps([found["results"]["judge_pairs"]["exact_match,verdict"], [s["filtered_resps"][0] for s in samples]]))
"""


def run(folder: Path, *command: str) -> str:
    rows = [{"question": f"q{n}?", "a": a, "b": b, "better": better} for n, (a, b, better) in enumerate(PAIRS)]
    (folder / "pairs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    shutil.copy(REPO / "examples/judge_pairs.yaml", folder)
    with LiveServer(service("longer")) as server:
        address = f"base_url={server.url}/v1/chat/completions,model=judge-r1,num_concurrent=16,max_retries=1"
        environment = os.environ | {"HF_HUB_OFFLINE": "1", "HF_HOME": str(folder / "hf")}
        done = subprocess.run(
            [sys.executable, *(part.replace("ADDRESS", address) for part in command)],
            cwd=folder, env=environment, capture_output=True, text=True, timeout=380, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_pairwise_task_measures_the_accuracy_of_the_judge(tmp_path: Path) -> None:
    accuracy, answers = json.loads(run(tmp_path, "-c", EVALUATE, "ADDRESS").splitlines()[-1])
    assert accuracy == 0.75
    assert answers == ["B", "A", "A", "A"]


@pytest.mark.slow
def test_the_command_of_the_docs(tmp_path: Path) -> None:
    """Slow because lm-eval loads all of its tasks first."""
    options = ["--model", "local-chat-completions", "--tasks", "judge_pairs", "--include_path", "."]
    run(tmp_path, "-m", "lm_eval", *options, "--apply_chat_template", "--model_args", "ADDRESS", "--output_path", "out")
    [results] = (tmp_path / "out").rglob("results_*.json")
    assert json.loads(results.read_text())["results"]["judge_pairs"]["exact_match,verdict"] == 0.75
