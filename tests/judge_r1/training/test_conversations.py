"""Conversations through SFT, GRPO with search, and the benchmark; and what recipes refuse."""

import json
from pathlib import Path

import pytest
from paths import RECIPES

from data_builders.build import build
from data_builders.rationales.rules import recipe_traces
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.errors import JudgeError
from judge_r1.core.transcripts import TranscriptPair
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.episode.prompts import pairwise_prompt
from judge_r1.episode.task import PairwiseTask, pairwise_task
from judge_r1.training.data.training_pairs import check_conversations, training_pairs
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe

MINI = RECIPES / "conversations" / "mini"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("conversations") / "data"
    build("mini-conversations", out, variants=4, limit=6)
    return out


def recipe(name: str, folder: Path, *overrides: str) -> Recipe:
    without_dev = ("data.dev=null", "eval_every=null", "best_metric=null", "keep=last") if name != "warmup" else ()
    return load_recipe(MINI / f"{name}.yaml", [f"data.train={folder}", *without_dev, *overrides])


def test_pairs_carry_their_gold_and_their_document(folder: Path) -> None:
    data = training_pairs(folder)
    assert len(data.pairs) == 24
    assert len(data.cases) == 6
    for pair in data.pairs:
        assert isinstance(pair, TranscriptPair)
        assert pair.gold.verdict == LocatedVerdict(winner=pair.preferred, round=pair.flawed_round, failure=pair.failure)
        assert pair.labels == [pair.failure]


def test_the_benchmark_shows_the_prompt_that_was_trained(folder: Path) -> None:
    data = training_pairs(folder)
    loaded = BENCHMARKS.get("rankjudge").load(folder, "search:joint")
    for item, pair in zip(loaded.items, data.pairs, strict=True):
        shown, trained = loaded.task(item, (0, 1)), pairwise_task(pair, data.case_of(pair))
        assert isinstance(shown, PairwiseTask)
        for style in ("conversations", "compact-conversations"):
            first, second = (
                pairwise_prompt(task, context="none", searches=6, style=style) for task in (shown, trained)
            )
            assert first.chat() == second.chat()


def test_sft_and_grpo_take_conversations(folder: Path, tmp_path: Path) -> None:
    small = ("sft.traces=8", "sft.batch_size=4", "sft.micro_batch_size=4", "sft.max_steps=1")
    run_recipe(recipe("warmup", folder, *small), tmp_path / "sft", rationales=recipe_traces)
    assert json.loads((tmp_path / "sft" / "traces.json").read_text()) == {"used": 8, "rejected": {}}
    grpo = (f"model={tmp_path / 'sft' / 'model'}", "grpo.steps=1", "grpo.pairs_per_step=2", "grpo.group_size=2",
            "grpo.micro_batch_size=4", "episode.budget.response_tokens=24", "save_every=1")  # fmt: skip
    run_recipe(recipe("grpo-shaped", folder, *grpo), tmp_path / "grpo")
    row = json.loads((tmp_path / "grpo" / "metrics.jsonl").read_text().splitlines()[0])
    assert {"rollout/reward/joint", "rollout/reward/side", "rollout/accuracy"} <= row.keys()
    trace = json.loads((tmp_path / "grpo" / "traces.jsonl").read_text().splitlines()[0])
    assert {"r", "side", "side_round", "joint", "valid"} <= trace["trajectory"]["reward"].keys()


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("episode.prompt=compact", "set episode.prompt to"),
        ("stage=dpo dpo.form=reasoning", "not stage dpo"),
        ("grpo.engine=verl", "not engine verl"),
    ],
)
def test_what_conversations_do_not_train(folder: Path, overrides: str, message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        check_conversations(recipe("grpo", folder, *overrides.split()))


def test_the_prompt_needs_conversations(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="needs conversations"):
        check_conversations(recipe("grpo", tmp_path))
    task = PairwiseTask("medical", "treat", "one", "two")
    with pytest.raises(JudgeError, match="these candidates are none"):
        pairwise_prompt(task, context="none", searches=0, style="conversations")


def test_weights_of_the_reward_add_up_to_one(folder: Path) -> None:
    with pytest.raises(JudgeError, match="add up to 1"):
        recipe("grpo", folder, "grpo.shaping=[0.5, 0.1, 0.1]")
