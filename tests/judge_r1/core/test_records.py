import json
import unicodedata
from typing import Any

import pytest
from factories import evidence, make_case, make_pair, mini_pairs
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair, Span, Trajectory, Turn, evidence_of
from judge_r1.core.verdicts import Judgment
from judge_r1.files.jsonl import dump_line

CASE = make_case()
PAIR = make_pair(CASE)
TEXT = st.text(st.characters(codec="utf-8"), min_size=1).filter(lambda text: text.strip())


def changed(record: Case | ReasoningPair, **changes: Any) -> str:
    return json.dumps(json.loads(dump_line(record)) | changes)


def test_ids_depend_on_content_alone() -> None:
    base = {"domain": "legal", "context": "c", "decision": "d", "reference": "r", "source": "s", "license": "l"}
    case = Case.of(**base)
    assert Case.of(**base | {"source": "x", "license": "y", "meta": {"n": 1}}).case_id == case.case_id
    for field in ("domain", "context", "decision", "reference"):
        assert Case.of(**base | {field: "other"}).case_id != case.case_id
    assert case.case_id == content_hash("legal", "c", "d", "r")


@pytest.mark.parametrize("meta", [None, {"group": ""}, {"group": None}, {"other": "7"}])
def test_a_case_without_a_group_stands_alone(meta: dict[str, Any] | None) -> None:
    assert make_case(meta=meta).group == make_case(meta=meta).case_id
    assert make_case(meta={"group": 7}).group == "legal/7"


def test_pair_ids_do_not_depend_on_placement_seed_or_variant() -> None:
    pairs = [make_pair(CASE, seed=seed) for seed in range(20)]
    assert {pair.pair_id for pair in pairs} == {content_hash(CASE.case_id, CASE.reference, PAIR.flawed, [2])}
    assert {pair.preferred for pair in pairs} == {"A", "B"}
    assert make_pair(CASE, violated=[2, 3]).pair_id != PAIR.pair_id


@given(TEXT)
def test_ids_normalise_text(text: str) -> None:
    composed, decomposed = unicodedata.normalize("NFC", text), unicodedata.normalize("NFD", text)
    assert content_hash(composed) == content_hash(decomposed)
    assert content_hash({"b": decomposed, "a": [1]}) == content_hash({"a": (1,), "b": composed})


def test_placement_is_random_by_seed() -> None:
    pairs = [pair for seed in range(4) for pair in mini_pairs(60, seed).pairs]
    share = sum(pair.preferred == "A" for pair in pairs) / len(pairs)
    assert 0.35 < share < 0.65
    for pair in pairs:
        assert (pair.reference, pair.flawed) in (
            (pair.reasoning_a, pair.reasoning_b) if pair.preferred == "A" else (pair.reasoning_b, pair.reasoning_a),
        )
        assert pair.gold.comparison == ("A>B" if pair.preferred == "A" else "A<B")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"violated": []}, "violated"),
        ({"violated": [0]}, "violated.0"),
        ({"violated": [7]}, "violated.0"),
        ({"violated": [2.0]}, "violated.0"),
        ({"violated": [True]}, "violated.0"),
        ({"violated": ["2"]}, "violated.0"),
        ({"violated": [2, 2]}, "must be sorted and without repeats"),
        ({"violated": [3, 2]}, "must be sorted and without repeats"),
        ({"violated": [3]}, "differ from violated"),
        ({"kind": "multi"}, "does not fit"),
        ({"reasoning_a": ""}, "reasoning_a"),
        ({"reasoning_a": " \n"}, "must not be blank"),
        ({"reasoning_a": PAIR.reasoning_b}, "identical"),
        ({"preferred": "C"}, "preferred"),
        ({"pair_id": "0" * 16}, "does not match its content"),
        ({"variant": 0}, "variant"),
        ({"note": "x"}, "note"),
    ],
)
def test_an_invalid_pair_raises(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ReasoningPair.model_validate_json(changed(PAIR, **changes))


def test_a_swapped_gold_raises() -> None:
    other = "B" if PAIR.preferred == "A" else "A"
    with pytest.raises(ValidationError, match="does not match its content"):
        ReasoningPair.model_validate_json(changed(PAIR, preferred=other))


def test_a_flaw_outside_its_reasoning_raises() -> None:
    origin = json.loads(dump_line(PAIR))["origin"]
    origin["flaws"][0]["span"] = {"start": 0, "end": len(PAIR.flawed) + 1}
    with pytest.raises(ValidationError, match="ends outside the flawed reasoning"):
        ReasoningPair.model_validate_json(changed(PAIR, origin=origin))


def test_records_are_frozen_and_round_trip() -> None:
    assert ReasoningPair.model_validate_json(dump_line(PAIR)) == PAIR
    with pytest.raises(ValidationError, match="frozen"):
        PAIR.kind = "multi"  # type: ignore[misc]


@pytest.mark.parametrize("domain", ["", "Law", "law\n", "law\nIgnore this", "<think>", "läw", "law.", "1law"])
def test_a_domain_is_a_plain_name(domain: str) -> None:
    with pytest.raises(ValidationError, match="domain"):
        make_case(domain=domain)


def test_an_empty_span_raises() -> None:
    for start, end in ((3, 3), (4, 3), (-1, 3)):
        with pytest.raises(ValidationError):
            Span(start=start, end=end)


@pytest.mark.parametrize("confidence", [-0.1, 1.1])
def test_invalid_judgments_raise(confidence: float) -> None:
    with pytest.raises(ValidationError, match="confidence"):
        Judgment(comparison="A>B", violated_principles=(1,), confidence=confidence)
    with pytest.raises(ValidationError, match="comparison"):
        Judgment(comparison="B>A", violated_principles=(1,))  # type: ignore[arg-type]


def test_trajectory_lists_are_parallel_and_searches_are_counted() -> None:
    turns = (
        Turn(text="a", query="q", passages=tuple(evidence("x", "y"))),
        Turn(text="b", query="r", passages=tuple(evidence("y", "z"))),
        Turn(text="c", query="s", notice="no searches left: answer now"),
        Turn(text="d"),
    )
    lists = {"prompt_ids": (1,), "token_ids": (1, 2), "loss_mask": (1, 0), "logprobs": (-1.0, 0.0)}
    trajectory = Trajectory(**lists, turns=turns, judgment=None, ended="no_answer")
    assert trajectory.searches == 2
    assert [passage.text for passage in evidence_of(turns)] == ["x", "y", "z"]
    for name in ("token_ids", "loss_mask", "logprobs"):
        with pytest.raises(ValidationError, match="same length"):
            Trajectory(**lists | {name: (1,)}, turns=(), judgment=None, ended="x")


@given(st.lists(st.floats(-50, 0), max_size=5), st.text(st.characters(codec="utf-8")))
def test_trajectories_round_trip_exactly(logprobs: list[float], text: str) -> None:
    n = tuple(range(len(logprobs)))
    one = Trajectory(
        prompt_ids=(),
        token_ids=n,
        loss_mask=n,
        logprobs=tuple(logprobs),
        turns=(Turn(text=text),),
        judgment=None,
        ended="x",
    )
    assert Trajectory.model_validate_json(dump_line(one)) == one
