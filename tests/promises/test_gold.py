"""Promise 4: every built pair, judged by its gold, gets r = 1.0; `validate` checks any file."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import real_tokenizers
from factories import make_case, mini_cases, mini_pairs
from scripted_backend import ScriptedBackend

from data_builders.perturb.rules.engine import perturb
from data_builders.rationales.rules import answer_text
from data_builders.sources import SOURCES
from data_builders.validate import validate
from judge_r1.core.records import Case, Flaw, Origin, ReasoningPair, Span
from judge_r1.episode.config import Budget, EpisodeConfig
from judge_r1.episode.parsing import parse_strict, parse_tolerant
from judge_r1.episode.reward import score
from judge_r1.episode.rollout import RolloutRunner
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE, PairSet, load_pairs
from judge_r1.models.base import Sampling


def built(count: int, seed: int) -> PairSet:
    cases = mini_cases(count, seed)
    pairs = [p for case in cases for p in perturb(case, seed=seed, rule_set="mini", abstained=Counter())]
    return PairSet.of(cases, pairs)


def check_gold(pair: ReasoningPair, case: Case) -> None:
    assert score(pair.gold, pair)["r"] == 1.0
    assert parse_strict(answer_text(pair).removeprefix("<answer>").removesuffix("</answer>")) == pair.gold
    assert parse_tolerant(answer_text(pair)) == pair.gold
    assert pair.reference == case.reference
    assert pair.flawed != case.reference


def test_the_gold_of_every_built_mini_pair_scores_1() -> None:
    data = built(30, seed=3)
    for pair in data.pairs:
        check_gold(pair, data.case_of(pair))
    assert len(data.pairs) > 300
    assert {n for pair in data.pairs for n in pair.violated} == set(range(1, 7))
    assert {pair.preferred for pair in data.pairs} == {"A", "B"}
    assert {pair.kind for pair in data.pairs} == {"single", "multi"}


def test_gold_sampled_by_a_judge_scores_1() -> None:
    """Through tokens, episode, strict parser and reward."""
    data = mini_pairs(40)
    tokenizer = real_tokenizers.load("tiny")
    config = EpisodeConfig(search=False, prompt="compact", retriever="bm25", budget=Budget(response_tokens=80))
    lines = [[answer_text(pair)] for pair in data.pairs]
    trajectories = RolloutRunner(data, config, tokenizer, ScriptedBackend(tokenizer, lines), ()).run(
        data.pairs, Sampling()
    )
    assert [trajectory.reward and trajectory.reward["r"] for trajectory in trajectories] == [1.0] * len(data.pairs)


def test_validate_accepts_built_pairs_and_they_load_unchanged(tmp_path: Path) -> None:
    data = built(12, seed=0)
    write_jsonl(tmp_path / CASES_FILE, data.cases.values())
    write_jsonl(tmp_path / PAIRS_FILE, data.pairs)
    report = validate(tmp_path)
    assert report.good, report.problems
    assert (report.records, report.valid) == (len(data.pairs), len(data.pairs))
    loaded = load_pairs(tmp_path)
    assert (list(loaded.pairs), dict(loaded.cases)) == (list(data.pairs), dict(data.cases))


def test_validate_finds_invalid_pairs(tmp_path: Path) -> None:
    """The file loads, but the case contains the invented detail."""
    case = make_case()
    flaw = Flaw(principle=4, operator="test", span=Span(start=3, end=16))
    origin = Origin(teacher="test", seed=0, flaws=(flaw,))
    flawed = "1. ben left rome, so this counts."
    write_jsonl(tmp_path / CASES_FILE, [case])
    write_jsonl(tmp_path / PAIRS_FILE, [ReasoningPair.of(case, flawed, variant=1, origin=origin, seed=0)])
    report = validate(tmp_path)
    assert not report.good
    assert report.valid == 0
    assert list(report.problems) == ["P4: the case has the invented detail"]


def test_building_twice_gives_the_same_bytes() -> None:
    def lines(seed: int) -> list[str]:
        return [json.dumps(pair.model_dump(mode="json", by_alias=True)) for pair in built(6, seed).pairs]

    assert lines(5) == lines(5)
    assert lines(5) != lines(6)


def real_pairs(folder: Path, source: str) -> Iterator[tuple[Case, ReasoningPair]]:
    for case in SOURCES.get(source).read(folder, 16, 0, Counter()):
        for pair in perturb(case, seed=0, variants=2, abstained=Counter()):
            yield case, pair


@pytest.mark.real_data
@pytest.mark.parametrize("source", ["medrbench", "echr", "f1000rd"])
def test_the_gold_of_real_pairs_scores_1(real_data: Path, source: str) -> None:
    count = 0
    for case, pair in real_pairs(real_data, source):
        check_gold(pair, case)
        count += 1
    assert count >= 10
