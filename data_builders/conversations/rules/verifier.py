"""Verifies candidates by rule, from their texts and plans alone: coherence, adherence and grounding.

The checks read the finished messages; they share the phrases with the writer, but none of its decisions.
"""

import re
from collections.abc import Sequence
from typing import Any

from data_builders.conversations.rules.material import mentions, topic
from data_builders.conversations.rules.phrases import (
    AMBIGUOUS,
    CLARIFY,
    DIRECTIVE,
    OPENINGS,
    OUTSIDE,
    OUTSIDE_QUESTION,
    SILENT,
)
from data_builders.perturb.rules.facts import Fact, facts
from judge_r1.core.conversation_types import failure_type
from judge_r1.core.conversations import ConversationPair, Document, Verification
from judge_r1.core.items import Conversation

_OUTSIDE_TOPICS = tuple(topic_name for topic_name, _ in OUTSIDE.values())
_CLARIFICATIONS = tuple(
    re.compile(re.escape(text).replace(r"\{one\}", "(.+?)").replace(r"\{other\}", "(.+?)") + "$") for text in CLARIFY
)
_DIRECTIVES = tuple(re.compile(" ?" + re.escape(text).replace(r"\{word\}", r"(\w+)")) for text in DIRECTIVE)
_ASKED_AGAIN = re.compile(r"^(?:Back to|Once more on|Before we go on)")


def verify(pair: ConversationPair, document: Document) -> Verification:
    """The first layer that fails ends the check, so later layers are None."""
    base: dict[str, Any] = {
        "pair_id": pair.pair_id, "domain": pair.domain, "failure": pair.failure, "user_behaviour": pair.user_behaviour
    }  # fmt: skip
    if issue := incoherent(pair):
        return Verification(**base, coherence=False, issue=issue)
    known = facts(document.context)
    flaws = {name: flawed_rounds(talk, known, document.context) for name, talk in _sides(pair)}
    wanted = {"better": dict[int, str](), "worse": {pair.flawed_round: pair.failure}}
    if other := [name for name in wanted if flaws[name] != wanted[name]]:
        issue = f"{other[0]}: expected {wanted[other[0]]}, found {flaws[other[0]]}"
        return Verification(**base, coherence=True, adherence=False, issue=issue)
    better, empty = grounded(pair.better, known, None)
    worse, more_empty = grounded(pair.worse, known, pair.flawed_round)
    return Verification(
        **base, coherence=True, adherence=True, grounded_better=better, grounded_worse=worse,
        empty_turns=empty + more_empty,
        issue="" if better == worse == 1.0 else "a sentence is not in the document",
    )  # fmt: skip


def _sides(pair: ConversationPair) -> Sequence[tuple[str, Conversation]]:
    return (("better", pair.better), ("worse", pair.worse))


def incoherent(pair: ConversationPair) -> str:
    """Why the plan cannot hold its conditions, or an empty text."""
    failure = failure_type(pair.failure)
    assert failure is not None, "the record checks the failure"
    if failure.needs_earlier and pair.flawed_round < 2:
        return f"{pair.failure} needs an earlier turn"
    if not len(pair.plan_better) == len(pair.plan_worse) == pair.rounds:
        return "a plan does not have one entry for each round"
    return ""


def flawed_rounds(talk: Conversation, known: Sequence[Fact], context: str) -> dict[int, str]:
    """The flaws that the texts show, by round. A round with several gets their names joined."""
    named = {topic(fact, context): fact for fact in known if topic(fact, context)}
    word = next((found[1] for pattern in _DIRECTIVES if (found := pattern.search(talk[0].content))), None)
    seen: set[str] = set()
    flaws: dict[int, str] = {}
    for number in range(len(talk) // 2):
        question, answer = talk[2 * number].content, talk[2 * number + 1].content
        for pattern in _DIRECTIVES:
            question = pattern.sub("", question)
        if shown := _round_flaws(question, answer, named, word, seen):
            flaws[number + 1] = "+".join(shown)
        seen.update(fact.text for fact in known if fact.text in answer)
    return flaws


def _round_flaws(question: str, answer: str, named: dict[str, Fact], word: str | None, seen: set[str]) -> Sequence[str]:
    flaws = []
    silent = any(phrase in answer for phrase in SILENT)
    body = _body(answer)
    outside = any(OUT.format(topic=name) == question for OUT in OUTSIDE_QUESTION for name in _OUTSIDE_TOPICS)
    asked = max((name for name in named if name.lower() in question.lower()), key=len, default=None)
    if word and mentions(answer, word):
        flaws.append("instruction_forgetting")
    if outside:
        return flaws if silent else [*flaws, "fabricated_answer"]
    if question in AMBIGUOUS:
        return flaws if any(pattern.search(answer) for pattern in _CLARIFICATIONS) else [*flaws, "no_clarification"]
    if asked is None:
        return [*flaws, "unknown question"]
    fact = named[asked]
    if silent:
        flaws.append("unnecessary_refusal")
    elif _ASKED_AGAIN.match(question) and fact.text in seen and fact.text not in answer:
        flaws.append("self_contradiction")
    elif fact.text not in answer:
        flaws.append("evasion")
    elif not body.startswith(fact.text):
        flaws.append("disorganized")
    return flaws


def _body(answer: str) -> str:
    """The answer without its opening phrase."""
    return next((answer[len(phrase) :].lstrip() for phrase in OPENINGS if phrase and answer.startswith(phrase)), answer)


def grounded(talk: Conversation, known: Sequence[Fact], skipped: int | None) -> tuple[float | None, int]:
    """The share of claims that are in the document, and the turns without a claim. Claims are facts, and whatever is
    left of a turn after its phrases. The round `skipped` does not count."""
    right = wrong = empty = 0
    for number in range(len(talk) // 2):
        if number + 1 == skipped:
            continue
        rest = _body(talk[2 * number + 1].content)
        for pattern in _CLARIFICATIONS:
            rest = pattern.sub("", rest)
        for phrase in SILENT:
            rest = rest.replace(phrase, "", 1)
        claims = 0
        for fact in sorted(known, key=lambda fact: -len(fact.text)):
            claims += rest.count(fact.text)
            rest = rest.replace(fact.text, "")
        right += claims
        wrong += bool(rest.strip())
        empty += not claims
    return (right / (right + wrong) if right + wrong else None), empty
