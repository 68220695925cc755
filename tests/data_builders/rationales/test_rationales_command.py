"""`judge-r1 rationales` as a subprocess against a real server, and training on its output."""

import json
import os
import subprocess
from collections import Counter
from pathlib import Path

import command_server
import fake_rationale_teacher
import fake_teacher
import pytest
from command_server import TRAINING
from factories import mini_pairs
from fake_llm_server import FakeLLMServer, Faults
from paths import RECIPES

from data_builders.build import write_pairs
from data_builders.rationales.rules import recipe_rationales
from data_builders.rationales.store import stored_rationales
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.files.pair_set import load_pairs
from judge_r1.files.yaml_config import ConfigError
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import load_recipe

KEY = "sk-planted-0123456789abcdef"

FAULTS = Faults(rate=0.3, kinds=("rate_limit", "server_error", "truncated", "reset", "garbage"))


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rationales")
    write_pairs(mini_pairs(12), folder / "pairs")
    (folder / "recipe.yaml").write_text(
        f"extends: {RECIPES / 'mini' / 'warmup.yaml'}\nsft: {{rationales: null}}\nepisode:\n  budget:\n"
        "    max_searches: 2\n    response_tokens: 160\n"
    )
    (folder / "prices.yaml").write_text("toy: {input: 1000, output: 1000}\n")
    return folder


def arguments(pairs: Path, spec: str, out: Path, *more: str | Path) -> tuple[list[str], dict[str, str]]:
    command = ["rationales", pairs / "pairs", f"teacher={spec}"]
    command += [f"recipe={pairs / 'recipe.yaml'}", "count=8", "--out", out, *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "200", "JUDGE_R1_TEACHER_KEY": KEY}
    return list(map(str, command)), environment


def run(pairs: Path, spec: str, out: Path, *more: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    command, environment = arguments(pairs, spec, out, *more)
    return command_server.run(*command, timeout=240, env={**environment, **variables}, modules=TRAINING)


def test_training_reads_the_rationale_file(pairs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeLLMServer(fake_rationale_teacher.sloppy, faults=FAULTS, key=KEY) as server:
        done = run(pairs, server.chat, tmp_path / "out")
        assert done.returncode == 0, done.stderr
        assert server.duplicates == 0
        served = server.served.total()
        again = run(pairs, server.chat, tmp_path / "again", f"cache={tmp_path / 'out' / 'answers.sqlite'}")
        assert server.served.total() == served
    assert "8 rationales of" in done.stdout
    assert f"chat:toy: {served} calls" in done.stdout
    assert f"0 calls, 0 tokens in and 0 out, {served} answers from the cache" in again.stdout
    for name in ("rationales.jsonl", "rationales.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "again" / name).read_bytes()
    for file in tmp_path.rglob("*"):
        assert file.is_dir() or KEY.encode() not in file.read_bytes()
    assert KEY not in done.stdout + done.stderr

    file, tokenizer = tmp_path / "out" / "rationales.jsonl", SafeTokenizer(load_tokenizer("bundled:tiny"))
    small = ["sft.examples=null", "sft.batch_size=8", "sft.micro_batch_size=8", "sft.max_steps=1"]
    recipe = load_recipe(
        pairs / "recipe.yaml", [f"data.train={pairs / 'pairs'}", f"sft.rationales_file={file}", *small]
    )
    data = load_pairs(pairs / "pairs")
    read = list(stored_rationales(file, data, recipe.episode, tokenizer, wanted=None, rejected=Counter()))
    assert [t.reward and t.reward["r"] for t in read] == [1.0] * 8
    assert [t.searches for t in read] == [1] * 8
    assert run_recipe(recipe, tmp_path / "run", rationales=recipe_rationales)
    assert json.loads((tmp_path / "run" / "examples.json").read_text()) == {"used": 8, "rejected": {}}
    assert "wanted" not in capsys.readouterr().out


def test_the_whole_road_of_a_teacher_in_one_run(pairs: Path, tmp_path: Path) -> None:
    """Preview, own prompts, more variants than are kept, a verifier, a choice, and rationales."""

    def answer(system: str, user: str, sample: int) -> str:
        teacher = fake_rationale_teacher if "<task>" in user else fake_teacher
        return teacher.honest(system, user, sample)

    recipe, prompts = pairs / "recipe.yaml", tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "verifier_system.txt").write_text("You are $role.")
    with FakeLLMServer(answer) as server:
        command = ["build", "mini", "limit=2", "variants=2", f"teacher={server.chat}", "--out", tmp_path]
        command += ["--preview", "1", "--yes", f"verify={server.chat}", "keep=agreed", "candidates=4"]
        command += [f"prompts={prompts}", "rationales.count=3", f"rationales.recipe={recipe}"]
        done = command_server.run(*map(str, command), timeout=240, env=dict(os.environ), modules=TRAINING)
        assert done.returncode == 0, done.stderr
        assert server.errors == []
        assert server.duplicates == 0
    for shown in ("1 of 2 cases: ", "3 rationales come on top", "verifier", "3 rationales of 3 pairs"):
        assert shown in done.stdout
    report = json.loads((tmp_path / "build.json").read_text())
    assert (report["verifier"]["keep"], report["candidates"], report["prompts"]) == ("agreed", 4, "prompts")
    resolved, data = load_recipe(recipe), load_pairs(tmp_path)
    tokenizer, file = SafeTokenizer(load_tokenizer(resolved.model)), tmp_path / "rationales" / "rationales.jsonl"
    read = stored_rationales(file, data, resolved.episode, tokenizer, wanted=None, rejected=Counter())
    assert len(list(read)) == 3


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["rationales.recipe=x.yaml"], "rationales is for flaws by a model: add teacher="),
        (["teacher=chat@anthropic:x", "rationales.count=3"], "field rationales.recipe: Field required"),
    ],
)
def test_rationales_of_a_build_need_a_teacher_and_a_recipe(tmp_path: Path, more: list[str], says: str) -> None:
    command = ["build", "mini", *more, "--out", str(tmp_path / "out")]
    done = command_server.run(*command, timeout=60, env=dict(os.environ), modules=TRAINING)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert says in done.stderr


def test_errors_are_one_line(pairs: Path, tmp_path: Path) -> None:
    for spec, message in [
        ("rules", "leave sft.rationales_file out"),
        ("gpt", "is no teacher that can be asked"),
        ("chat@anthropic:toy", "needs a key"),
    ]:
        done = run(pairs, spec, tmp_path, ANTHROPIC_API_KEY="")
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
    with pytest.raises(ConfigError, match="exclude each other"):
        load_recipe(pairs / "recipe.yaml", ["sft.rationales=mini", "sft.rationales_file=x"])
