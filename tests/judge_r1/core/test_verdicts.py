import json

import pytest
from factories import evidence
from pydantic import ValidationError

from judge_r1.core.items import ChatMessage, Item, Vote, candidate_text
from judge_r1.core.verdicts import (
    ChecklistVerdict,
    InvalidVerdict,
    Judgment,
    PairwiseVerdict,
    RankingVerdict,
    ScoresVerdict,
    Verdict,
    preference,
    reorder,
)

VERDICTS: list[Verdict] = [
    PairwiseVerdict(winner="tie"),
    ScoresVerdict(scores=(3.0, 7.5)),
    RankingVerdict(order=(1, 0)),
    ChecklistVerdict(scores={"clear": 1.0, "complete": 0.0}),
    InvalidVerdict(reason="no_json"),
]


@pytest.mark.parametrize("comparison", ["A>B", "A<B"])
def test_a_pairwise_judgment_keeps_the_papers_key(comparison: str) -> None:
    old = {"comparison": comparison, "violated_principles": [2], "explanation": None, "evidence": [], "confidence": 0.5}
    judgment = Judgment.model_validate(old)
    assert judgment.verdict == PairwiseVerdict(winner="A" if comparison == "A>B" else "B")
    assert (judgment.comparison, judgment.confidence) == (comparison, 0.5)
    assert judgment.model_dump_json() == json.dumps(old, separators=(",", ":"))
    assert judgment.model_dump(mode="json") == old
    verdict = judgment.verdict.model_dump()
    assert Judgment.model_validate({"verdict": verdict, "violated_principles": (2,), "confidence": 0.5}) == judgment


@pytest.mark.parametrize("verdict", VERDICTS)
def test_other_verdicts_are_written_under_verdict(verdict: Verdict) -> None:
    judgment = Judgment(verdict=verdict, explanation="why", evidence=tuple(evidence("x")))
    data = json.loads(judgment.model_dump_json())
    assert data["verdict"] == verdict.model_dump(mode="json")
    assert "comparison" not in data
    assert Judgment.model_validate_json(judgment.model_dump_json()) == judgment


def test_a_judgment_has_exactly_one_verdict() -> None:
    with pytest.raises(ValidationError, match="give verdict or comparison, not both"):
        Judgment.model_validate({"comparison": "A>B", "verdict": {"kind": "comparison", "winner": "A"}})
    with pytest.raises(ValidationError, match="verdict"):
        Judgment.model_validate({"violated_principles": [1]})
    for comparison in ("B>A", ["A>B"], {}):
        with pytest.raises(ValidationError, match="comparison must be 'A>B' or 'A<B'"):
            Judgment.model_validate({"comparison": comparison})


@pytest.mark.parametrize(
    ("verdict", "expected"),
    [
        (PairwiseVerdict(winner="B"), "B"),
        (PairwiseVerdict(winner="tie"), "tie"),
        (ScoresVerdict(scores=(3.0, 7.5)), "B"),
        (ScoresVerdict(scores=(4.0, 4.0)), "tie"),
        (ScoresVerdict(scores=(4.0,)), None),
        (ScoresVerdict(scores=(1.0, 2.0, 3.0)), None),
        (RankingVerdict(order=(0, 1)), "A"),
        (RankingVerdict(order=(2, 0, 1)), None),
        (ChecklistVerdict(scores={"A": 1.0, "B": 0.0}), None),
        (InvalidVerdict(reason="no_json"), None),
    ],
)
def test_the_preference_between_two_candidates(verdict: Verdict, expected: str | None) -> None:
    assert preference(verdict) == expected
    assert Judgment(verdict=verdict).comparison == {"A": "A>B", "B": "A<B"}.get(expected or "")
    vote = Vote(order=(5, 3), sample=0, member=0, verdict=verdict, ended="answer", searches=0)
    assert vote.winner == {"A": 5, "B": 3}.get(expected or "")


def test_reorder() -> None:
    assert reorder(PairwiseVerdict(winner="A"), (1, 0)) == PairwiseVerdict(winner="B")
    assert reorder(PairwiseVerdict(winner="A"), (0, 1)) == PairwiseVerdict(winner="A")
    assert reorder(PairwiseVerdict(winner="tie"), (1, 0)) == PairwiseVerdict(winner="tie")
    assert reorder(ScoresVerdict(scores=(1, 2, 3)), (2, 0, 1)) == ScoresVerdict(scores=(2, 3, 1))
    assert reorder(RankingVerdict(order=(1, 2, 0)), (2, 0, 1)) == RankingVerdict(order=(0, 1, 2))
    for verdict in VERDICTS[3:]:
        assert reorder(verdict, (1, 0)) == verdict
    assert Judgment.pairwise("A>B", (1,)).swapped() == Judgment.pairwise("A<B", (1,))


def test_items_hold_conversations_and_systems() -> None:
    chat = (ChatMessage(role="user", content="Hi"), ChatMessage(role="assistant", content="Hello.\nHow are you?"))
    item = Item(item_id="i", cluster_id="c", instruction="", candidates=(chat, "a text"), systems=("x", "y"), gold="A")
    assert item.texts == ("User: Hi\n\nAssistant: Hello.\nHow are you?", "a text")
    assert candidate_text(chat) == item.texts[0]
    assert Item.model_validate_json(item.model_dump_json()) == item
    with pytest.raises(ValidationError, match=r"systems names 1 system for 2 candidates"):
        Item(**{**dict(item), "systems": ("x",)})
