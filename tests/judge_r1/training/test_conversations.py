"""Conversations through SFT and the benchmark; and what recipes refuse."""

from pathlib import Path

import pytest
from paths import RECIPES

from data_builders.build import build
from judge_r1.benchmarks.base import BENCHMARKS
from judge_r1.core.errors import JudgeError
from judge_r1.core.verdicts import LocatedVerdict
from judge_r1.episode.prompts import pairwise_prompt
from judge_r1.episode.task import PairwiseTask, pairwise_task
from judge_r1.files.run_log import read_rows
from judge_r1.files.transcripts import TranscriptPair
from judge_r1.training.data.training_pairs import check_conversations, training_pairs
from judge_r1.training.pipeline import run_recipe
from judge_r1.training.recipe import Recipe, load_recipe

TINY = ("model=bundled:tiny", "lora=null", "episode.prompt_tokens=4096", "sft.max_steps=1")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("conversations") / "data"
    build("mini-conversations", out, variants=4, limit=6)
    return out


def recipe(folder: Path, *overrides: str) -> Recipe:
    return load_recipe(RECIPES / "conversations" / "sft.yaml", [f"data.train={folder}", *TINY, *overrides])


def test_pairs_carry_their_gold_and_their_document(folder: Path) -> None:
    data = training_pairs(folder)
    assert len(data.pairs) == 24
    assert len(data.cases) == 6
    for pair in data.pairs:
        assert isinstance(pair, TranscriptPair)
        assert pair.gold.verdict == LocatedVerdict(winner=pair.preferred, round=pair.flawed_round, failure=pair.failure)


def test_the_benchmark_shows_the_prompt_that_was_trained(folder: Path) -> None:
    data = training_pairs(folder)
    loaded = BENCHMARKS.get("rankjudge").load(folder, "context=search,joint=true")
    for item, pair in zip(loaded.items, data.pairs, strict=True):
        shown, trained = loaded.task(item, (0, 1)), pairwise_task(pair, data.case_of(pair))
        assert isinstance(shown, PairwiseTask)
        first, second = (
            pairwise_prompt(task, context="none", searches=6, style="conversations") for task in (shown, trained)
        )
        assert first.chat() == second.chat()


def test_sft_takes_conversations(folder: Path, tmp_path: Path) -> None:
    run_recipe(recipe(folder), tmp_path / "sft")
    rows = read_rows(tmp_path / "sft" / "metrics.jsonl")
    assert rows[0]["loss"] > 0


@pytest.mark.parametrize(
    ("overrides", "message"),
    [
        ("episode.prompt=compact", "set episode.prompt to"),
        ("stage=dpo dpo.form=reasoning", "not by stage dpo"),
        ("stage=grpo", "not by stage grpo"),
        ("sft.form=rationales", "not by rationales"),
    ],
)
def test_what_conversations_do_not_train(folder: Path, overrides: str, message: str) -> None:
    with pytest.raises(JudgeError, match=message):
        check_conversations(recipe(folder, *overrides.split()))


def test_the_prompt_needs_conversations(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match="needs conversations"):
        check_conversations(recipe(tmp_path))
    task = PairwiseTask("medical", "treat", "one", "two")
    with pytest.raises(JudgeError, match="these candidates are none"):
        pairwise_prompt(task, context="none", searches=0, style="conversations")
