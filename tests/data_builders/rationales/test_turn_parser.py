import json

import pytest
from factories import make_case, make_pair
from hypothesis import given
from hypothesis import strategies as st

from data_builders.rationales.turn_parser import ParsedTurn, RejectedTurn, read_turn, thoughts_of
from judge_r1.core.records import ReasoningPair

PAIR = make_pair(make_case())
GOLD = json.dumps({"comparison": PAIR.gold.comparison, "violated_principles": [2]})
OTHER = json.dumps({"comparison": PAIR.gold.comparison, "violated_principles": [3]})
THOUGHT = "<think>B has 35, which breaks 2, Factual Consistency.</think>"
GOOD = f"{THOUGHT}<answer>{GOLD}</answer>"


def read(text: str, pair: ReasoningPair = PAIR, **fields: object) -> ParsedTurn | RejectedTurn:
    return read_turn(text, pair, **{"may_search": True, "may_answer": True, **fields})  # type: ignore[arg-type]


def test_valid_turns_are_parsed() -> None:
    assert read(GOOD) == ParsedTurn(GOOD, None, False)
    search = "<think>a</think>\n<think>b</think> <search> ana paid </search>"
    assert read(f"\n{search}\n") == ParsedTurn(search, "ana paid", False)
    assert thoughts_of(search) == ["a", "b"]


def test_text_after_the_action_is_dropped_and_flagged() -> None:
    assert read(GOOD + "<information>made up</information><answer>{}</answer>") == ParsedTurn(GOOD, None, True)


@pytest.mark.parametrize(
    ("thought", "evidence", "reason"),
    [
        ('B has "35", the case "Ana paid 34.": it breaks 2, Factual Consistency.', ["When ana paid 34, …"], None),
        ('B has "and ana paid 35": it breaks 2, Factual Consistency.', ["ana paid 34"], "no quotation of the case"),
        ('The case has "paid 34": B breaks 2, Factual Consistency.', ["ana paid 34"], "no quotation of the case"),
        ("B breaks 2, Factual Consistency.", ["ana paid 34"], "no quotation of the case"),
        ("B breaks 2, Factual Consistency.", [], None),
    ],
)
def test_a_conclusion_about_the_case_quotes_it(thought: str, evidence: list[str], reason: str | None) -> None:
    turn = read(
        f"<think>{thought}</think><answer>{GOLD}</answer>", shown=["and ana paid 35", *evidence], evidence=evidence
    )
    assert (turn.reason if isinstance(turn, RejectedTurn) else None) == reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no action"),
        (THOUGHT, "no action"),
        (f"Sure! {GOOD}", "text outside the tags"),
        (f"```\n{GOOD}\n```", "text outside the tags"),
        (f"{THOUGHT} so {GOOD}", "text outside the tags"),
        (f"<answer>{GOLD}</answer>", "no thought"),
        (f"<think> </think><answer>{GOLD}</answer>", "no thought"),
        (f"<think>a <information>x</information></think>{GOOD}", "a tag inside a tag"),
        (f"<think>never closed<search>x</search>{GOOD}", "a tag inside a tag"),
        ("<think>never closed<search>x</search>", "text outside the tags"),
        ("<think>a</think><search> </search>", "empty search"),
        (GOOD.replace("B has", "I was told that B has"), "giveaway"),
        (GOOD.replace("B has 35", 'B has "thirty five and a half"'), "quotation of nothing shown"),
        (f"{THOUGHT}<answer>{GOLD} </answer>".replace('"A', '"a'), "answer: bad_comparison"),
        (f"{THOUGHT}<answer>it is A</answer>", "answer: no_json"),
        (GOOD.replace("]}", '], "explanation": "x"}'), "answer: unknown_key"),
        (f"{THOUGHT}<answer>{OTHER}</answer>", "another judgment"),
        (GOOD.replace("Factual Consistency", "it"), "a principle is not named"),
    ],
)
def test_invalid_turns_are_rejected_with_a_reason(text: str, reason: str) -> None:
    bad = read(text, shown=["ana paid 34"])
    assert isinstance(bad, RejectedTurn)
    assert bad.reason == reason
    assert bad.detail.endswith(".")
    assert "\n" not in bad.detail


def test_search_and_answer_can_be_disallowed() -> None:
    bad = read("<think>a</think><search>b</search>", may_search=False)
    assert isinstance(bad, RejectedTurn)
    assert bad.reason == "search past the budget"
    bad = read(GOOD, may_answer=False)
    assert isinstance(bad, RejectedTurn)
    assert bad.reason == "no search"


def test_a_principle_can_be_named_in_an_earlier_turn() -> None:
    text = f"<think>So it is.</think><answer>{GOLD}</answer>"
    assert isinstance(read(text), RejectedTurn)
    assert isinstance(read(text, thoughts=["This breaks factual consistency."]), ParsedTurn)


@pytest.mark.parametrize(
    "quote",
    [
        "ana paid 34. ben left", "Ana  paid 34; Ben left.", "paid 34 … ben left rome", "ana paid 34 [later] ben",
        "something short", "ana paid 34 … and went",
    ],
)  # fmt: skip
def test_quotations_of_shown_text_are_valid_in_any_formatting(quote: str) -> None:
    assert isinstance(
        read(GOOD.replace("B has", f"“{quote}”, B has"), shown=["x", "ana paid 34. ben left rome."]), ParsedTurn
    )


@given(st.text(alphabet='<>/thinksearchanswer ab\n"', max_size=80))
def test_any_text_is_parsed_or_rejected(text: str) -> None:
    found = read(text)
    if isinstance(found, ParsedTurn):
        assert found.text in text
        assert found.text.endswith(("</search>", "</answer>"))
