"""The toy that needs `calc`: what its pairs hold, and that its rationales earn the whole reward."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from data_builders.rationales.rules import gold_rationale
from judge_r1.core.records import Trajectory
from judge_r1.episode.case_retriever import CaseSearcher
from judge_r1.episode.tokenizer import SafeTokenizer
from judge_r1.episode.tools.base import TOOLS
from judge_r1.models.hub import load_tokenizer
from judge_r1.training.recipe import Recipe, load_recipe
from judge_r1.training.run_folder import RunFolder
from judge_r1.training.trl import sft
from scripts import beyond_tools
from scripts.beyond_tools import CALC, PRIME, RECIPE, TOY, pairs, write_sums


def claim(text: str) -> tuple[int, int, str]:
    a, b, shown = re.fullmatch(r"1\. (\d+) \* (\d+) % 97 = (\d\d), so fine\.", text).groups()  # type: ignore[union-attr]
    return int(a), int(b), shown


def test_the_right_claim_is_right_and_the_other_shares_no_digit() -> None:
    train, test = pairs(300, 0, test=False), pairs(100, 1, test=True)
    seen = []
    for data in (train, test):
        for pair in data.pairs:
            (a, b, right), (c, d, wrong) = claim(pair.reference), claim(pair.flawed)
            assert (a, b) == (c, d)
            assert a * b % PRIME == int(right)
            assert all(one != other for one, other in zip(right, wrong, strict=True))
        seen.append({frozenset(claim(pair.reference)[:2]) for pair in data.pairs})
    assert not seen[0] & seen[1], "the factors of test pairs are not those of training pairs"
    assert 100 < sum(pair.preferred == "A" for pair in train.pairs) < 200


def test_both_rationales_earn_the_whole_reward_and_one_calls() -> None:
    data, tokenizer = pairs(6, 0, test=False), SafeTokenizer(load_tokenizer("bundled:haystack"))
    for options, calls in (([CALC], 1), ([], 0)):
        recipe = load_recipe(TOY, [*RECIPE, *options])
        searcher = CaseSearcher(data.texts, recipe.episode)
        for pair in data.pairs:
            written = gold_rationale(pair, data, recipe.episode, tokenizer, searcher, write_sums)
            assert written.reward is not None
            assert written.reward["r"] == 1
            assert [call.status for call in written.calls] == ["ok"] * calls


def test_a_rerun_keeps_the_seconds_and_a_stop_the_tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run is stopped while it judges with drawn results; the second one trains nothing."""
    trained, calc, stops = [], TOOLS.get("calc"), [True]

    def train_sft(recipe: Recipe, examples: Any, run: RunFolder) -> None:
        trained.append(run.folder.name)
        run.model.mkdir(parents=True)

    def judged(*_: Any) -> list[Trajectory]:
        if TOOLS.get("calc") is not calc and stops.pop():
            raise KeyboardInterrupt
        return [Trajectory.without_ids("answer").model_copy(update={"reward": {"R1": 1.0}})]

    monkeypatch.setattr(sft, "train_sft", train_sft)
    monkeypatch.setattr(beyond_tools, "judged", judged)
    monkeypatch.setattr(sys, "argv", ["beyond_tools", "--out", str(tmp_path), "--seeds", "0"])
    with pytest.raises(KeyboardInterrupt):
        beyond_tools.main()
    assert TOOLS.get("calc") is calc
    (tmp_path / "calc-0/seconds.json").write_text('{"seconds": 77.4}')
    stops.append(False)
    beyond_tools.main()
    assert trained == ["calc-0", "without-0"]
    assert [json.loads((tmp_path / f"{row}-0.json").read_text())["seconds"] for row in ("calc", "drawn")] == [77, 77]
    (tmp_path / "calc-0/seconds.json").unlink()
    stops.append(False)
    beyond_tools.main()
    assert json.loads((tmp_path / "calc-0.json").read_text())["seconds"] is None
