"""Pairs from checklist scores: preference, labels, held-out instructions, exports and the reward."""

import json
from pathlib import Path

import pytest
from hellobench_factories import BEST_AND_MID, make_judged_checkout, write_responses
from pydantic import ValidationError

from data_builders.build import build
from data_builders.checklist_pairs import ChecklistPairDataset
from data_builders.export import export
from data_builders.exports import Options
from data_builders.generators.checklist_pairs import OTHER, TEST, TRAIN, part_of
from data_builders.validate import validate
from judge_r1.benchmarks.hellobench.files import read_instructions
from judge_r1.core.errors import JudgeError
from judge_r1.core.jsonl import read_jsonl
from judge_r1.core.record_base import content_hash
from judge_r1.episode.checklist_pair import ChecklistPair
from judge_r1.episode.checklist_reward import checklist_reward, comparison_score

EACH = 20


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Three systems: `best`, `mid` (lower on the last question of each checklist), and `close` (a small step below)."""
    systems = {
        "best": {"travel": [1, 1], "rewrite": [1, 1, 1]},
        "mid": {"travel": [1, 0.25], "rewrite": [1, 1, 0.25]},
        "close": {"travel": [1, 0.75], "rewrite": [0.75, 1, 1]},
    }
    return make_judged_checkout(tmp_path / "HelloBench", EACH, systems)


def pairs_of(folder: Path) -> list[ChecklistPair]:
    return list(read_jsonl(folder / "pairs.jsonl", ChecklistPair))


def test_preference_by_margin_and_labels_by_question(root: Path, tmp_path: Path) -> None:
    report = build("checklist-pairs", tmp_path / "train", path=root)
    pairs = pairs_of(tmp_path / "train")
    for pair in pairs:
        winner, loser = pair.systems if pair.preferred == "A" else pair.systems[::-1]
        assert (winner, loser) in {("best", "mid"), ("close", "mid")}
        assert abs(pair.scores[0] - pair.scores[1]) >= 10
        last = len(pair.questions) - 1
        assert pair.lower == (last,)
        assert pair.weights.startswith("weighted_scores.txt ")
    assert report["abstained"]["less than 10 points apart"] > 0
    assert {pair.preferred for pair in pairs} == {"A", "B"}
    assert validate(tmp_path / "train").good


def test_the_same_options_give_the_same_bytes(root: Path, tmp_path: Path) -> None:
    for name in ("one", "two"):
        build("checklist-pairs", tmp_path / name, path=root, variants=1)
    assert (tmp_path / "one" / "pairs.jsonl").read_bytes() == (tmp_path / "two" / "pairs.jsonl").read_bytes()
    ids = [pair.instruction_id for pair in pairs_of(tmp_path / "one")]
    assert len(ids) == len(set(ids))


def test_instructions_are_held_out_and_exports_keep_the_parts(root: Path, tmp_path: Path) -> None:
    build("checklist-pairs", tmp_path / "data" / "train", path=root)
    build("checklist-pairs-test", tmp_path / "data" / "test", path=root)
    parts = {name: {pair.instruction_id for pair in pairs_of(tmp_path / "data" / name)} for name in ("train", "test")}
    assert parts["train"] and parts["test"]  # noqa: PT018
    assert not parts["train"] & parts["test"]
    instructions = read_instructions(root).values()
    assert parts["test"] == {one.id for one in instructions if part_of(one, 0) == TEST}
    export(tmp_path / "data", tmp_path / "trl", "trl", Options())
    export(tmp_path / "data", tmp_path / "sft", "sft", Options())
    rows = [json.loads(line) for line in (tmp_path / "trl" / "grpo" / "train.jsonl").read_text().splitlines()]
    gold = [json.dumps({"comparison": row["comparison"], "lower_items": row["lower_items"]}) for row in rows]
    columns = {name: [row[name] for row in rows] for name in ("comparison", "lower_items")}
    assert checklist_reward(gold, **columns, prompts=rows) == [1.0] * len(rows)  # gold scores 1
    sft = [json.loads(line) for line in (tmp_path / "sft" / "test.jsonl").read_text().splitlines()]
    assert [row["output"] for row in sft] == [pair.answer for pair in pairs_of(tmp_path / "data" / "test")]
    assert (tmp_path / "sft" / "dataset_info.json").exists()
    assert "held" not in ChecklistPairDataset.title


def test_whole_categories_are_held_out(root: Path, tmp_path: Path) -> None:
    instructions = read_instructions(root).values()
    travel = [one for one in instructions if one.category == "travel"]
    seed = next(seed for seed in range(100) if part_of(travel[0], seed) == OTHER)
    found = {}
    for name, source in ((OTHER, "checklist-pairs-other"), (TRAIN, "checklist-pairs")):
        build(source, tmp_path / name, path=root, seed=seed)
        found[name] = {pair.category for pair in pairs_of(tmp_path / name)}
    assert found == {OTHER: {"travel"}, TRAIN: {"rewrite"}}


def test_systems_with_the_same_text_give_one_pair(tmp_path: Path) -> None:
    """A copy of a text makes no second pair with the same id."""
    root = make_judged_checkout(tmp_path / "HelloBench", 3, BEST_AND_MID)
    copy = root / "results" / "judgements" / "main_exp" / "copy"
    write_responses(copy, "By best", each=3, scores=BEST_AND_MID["best"])
    report = build("checklist-pairs", tmp_path / "train", path=root)
    instructions = [pair.instruction_id for pair in pairs_of(tmp_path / "train")]
    assert len(instructions) == len(set(instructions)) > 0
    assert report["abstained"]["equal responses"] == 2 * len(instructions)
    assert validate(tmp_path / "train").good


@pytest.mark.real_data
def test_pairs_of_the_release(real_data: Path, tmp_path: Path) -> None:
    parts = {}
    for name in ("", "-test", "-other"):
        build(f"checklist-pairs{name}", tmp_path / f"data{name}", path=real_data / "hellobench")
        pairs = pairs_of(tmp_path / f"data{name}")
        assert [comparison_score(pair.answer, pair.comparison, pair.lower) for pair in pairs] == [1.0] * len(pairs)
        parts[name] = {pair.instruction_id for pair in pairs}
    assert all(parts.values())
    assert len(set.union(*parts.values())) == sum(map(len, parts.values()))


@pytest.mark.parametrize(
    ("text", "reward"),
    [
        ('{"comparison": "A>B", "lower_items": [1]}', 1.0),
        ('I think {"comparison": "A>B", "lower_items": [0, 1]}', (2 + 2 * (2 / 3 - 0.5) + 3) / 6),
        ('{"comparison": "A<B", "lower_items": [1]}', (-2 + 1 + 3) / 6),
        ('{"comparison": "A>B", "lower_items": []}', (2 - 1 + 3) / 6),
        ('{"comparison": "A=B", "lower_items": [1]}', 0.0),
        ('{"comparison": "A>B", "lower_items": ["1"]}', 0.0),
        ("A is better", 0.0),
        ('<think>{"comparison": "A>B", "lower_items": [1]}</think>A is better', 0.0),
        ('{"comparison": "A<B", "lower_items": [0]}, no: {"comparison": "A>B", "lower_items": [1]}', 1.0),
        ('{"comparison": "?", "lower_items": [0]}, then {"comparison": "A>B", "lower_items": [1]}', 1.0),
    ],
)
def test_the_reward_is_that_of_the_paper_with_questions(text: str, reward: float) -> None:
    assert comparison_score(text, "A>B", [1]) == pytest.approx(reward)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"preferred": "B"}, "preferred is 'B', but the scores are 90.0 and 50.0"),
        ({"scores": (50.0, 50.0)}, "but the scores are 50.0 and 50.0"),
        ({"lower": (2,)}, "must be sorted numbers of the 2 questions"),
        ({"lower": (1, 0)}, "must be sorted numbers"),
        ({"response_a": "Other."}, "does not match its content: build the file again"),
    ],
)
def test_a_pair_whose_fields_contradict_each_other_is_refused(change: dict[str, object], message: str) -> None:
    fields: dict[str, object] = {
        "schema": 1, "pair_id": content_hash("chat_001", ["Bad.", "Good."]), "instruction_id": "chat_001",
        "task": "chat", "category": "rewrite", "instruction": "Write.", "questions": ("Is it?", "Is it so?"),
        "response_a": "Good.", "response_b": "Bad.", "systems": ("x", "y"), "preferred": "A", "lower": (1,),
        "scores": (90.0, 50.0), "weights": "average",
    }  # fmt: skip
    assert ChecklistPair.model_validate(fields).comparison == "A>B"
    with pytest.raises(ValidationError, match=message):
        ChecklistPair.model_validate({**fields, **change})


def test_a_build_without_a_checkout_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(JudgeError, match=r"checklist-pairs needs --path, a checkout of Quehry/HelloBench"):
        build("checklist-pairs", tmp_path / "out")
