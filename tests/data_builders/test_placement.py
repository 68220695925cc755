"""Builds balance in how many pairs A is better, in every stratum, whatever the order in which calls return."""

import json
from collections import Counter
from pathlib import Path

from factories import make_case, make_pair, mini_pairs
from hypothesis import given
from hypothesis import strategies as st
from test_build import RuleTeacher, by_teacher, hashes

from data_builders.build import build
from data_builders.export import export
from data_builders.exports import Options
from data_builders.placement import BalancedPlacement, set_name
from data_builders.second_opinion import Opinion
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import ReasoningPair
from judge_r1.files.jsonl import read_jsonl
from judge_r1.files.pair_set import load_pairs

PAIRS = mini_pairs(120).pairs


def imbalance(pairs: list[ReasoningPair]) -> dict[tuple[str, str], int]:
    counts = Counter[tuple[str, str]]()
    for pair in pairs:
        counts[pair.domain, set_name(pair)] += 1 if pair.preferred == "A" else -1
    return dict(counts)


@given(st.lists(st.sampled_from(PAIRS), max_size=60))
def test_every_stratum_differs_by_at_most_one_after_every_pair(pairs: list[ReasoningPair]) -> None:
    placement = BalancedPlacement()
    placed = [placement.place(pair) for pair in pairs]
    for end in range(len(placed) + 1):
        assert all(abs(difference) <= 1 for difference in imbalance(placed[:end]).values())


def test_a_placed_pair_keeps_its_id_and_texts() -> None:
    pair = make_pair(make_case())
    other = pair.placed("B" if pair.preferred == "A" else "A")
    assert ReasoningPair.model_validate(other.model_dump(by_alias=True)) == other
    assert (other.pair_id, other.reference, other.flawed) == (pair.pair_id, pair.reference, pair.flawed)
    assert (other.reasoning_a, other.reasoning_b) == (pair.reasoning_b, pair.reasoning_a)
    assert other.placed(pair.preferred) == pair
    assert pair.placed(pair.preferred) is pair


def by_hash(pair: ReasoningPair, seed: int) -> bool:
    return (pair.preferred == "A") == (int(content_hash(pair.pair_id, seed), 16) % 2 == 0)


def test_a_build_by_rules_is_balanced_and_its_card_shows_the_counts(tmp_path: Path) -> None:
    build("builtin", tmp_path / "three", limit=3)
    build("builtin", tmp_path / "two", limit=2)
    pairs = list(load_pairs(tmp_path / "three").pairs)
    assert max(map(abs, imbalance(pairs).values())) <= 1
    assert {pair.preferred for pair in pairs} == {"A", "B"}
    assert 0 < sum(by_hash(pair, 0) for pair in pairs) < len(pairs)
    fewer = load_pairs(tmp_path / "two").pairs
    assert pairs[: len(fewer)] == list(fewer)
    export(tmp_path / "three", tmp_path / "out", "sft", Options())
    card = (tmp_path / "out" / "README.md").read_text()
    academic = [pair for pair in pairs if (pair.domain, set_name(pair)) == ("academic", "P1")]
    better = sum(pair.preferred == "A" for pair in academic)
    assert f"| train | academic | {better} of {len(academic)} |" in card


def test_mini_keeps_the_placement_by_hash(tmp_path: Path) -> None:
    build("mini", tmp_path, limit=30, seed=3)
    assert all(by_hash(pair, 3) for pair in load_pairs(tmp_path).pairs)


def test_a_teacher_build_is_balanced_for_any_concurrency_and_its_opinions_follow(tmp_path: Path) -> None:
    for name, delay, concurrency in (("one", 0.0, 1), ("eight", 0.004, 8)):
        teachers = RuleTeacher(delay, seed=1), RuleTeacher(delay, seed=2)
        report = by_teacher(tmp_path / name, *teachers, source="builtin", limit=4, concurrency=concurrency, keep="all")
    assert hashes(tmp_path / "one") == hashes(tmp_path / "eight")
    pairs = load_pairs(tmp_path / "one").by_id()
    assert max(map(abs, imbalance(list(pairs.values())).values())) == 1
    opinions = list(read_jsonl(tmp_path / "one" / "opinions.jsonl", Opinion))
    agreed = sum(opinion.agrees(pairs[opinion.pair_id]) for opinion in opinions)
    shares = json.loads((tmp_path / "one" / "build.json").read_text())["verifier"]["agreement"]["all"]
    assert shares == report["verifier"]["agreement"]["all"]
    assert shares["worse_agreed"] == round(agreed / len(pairs), 4)
    assert {opinion.shown_first for opinion in opinions} == {"A", "B"}
    for opinion in opinions:
        pair = pairs[opinion.pair_id]
        assert by_hash(pair, 0) == (opinion.shown_first == "A")
