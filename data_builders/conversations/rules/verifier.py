"""Verifies candidates by rule, from their texts and plans alone: coherence, adherence and grounding.

The checks read the finished messages; they share the phrases with the writer, but none of its decisions.
"""

import re
from collections.abc import Sequence
from typing import Any

from data_builders.conversations.rules.material import Topic, topics
from data_builders.conversations.rules.phrases import (
    AMBIGUOUS,
    CLARIFY,
    CORRECTION,
    DIRECTIVE,
    OUTSIDE,
    OUTSIDE_QUESTION,
    REVISIT,
    SILENT,
)
from data_builders.text_units.steps import sentences
from data_builders.text_units.text_match import content_words
from judge_r1.core.conversation_types import failure_type
from judge_r1.core.conversations import ConversationPair, Document, Verification
from judge_r1.core.items import Conversation


def _pattern(phrase: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>.+?)", re.escape(phrase)) + "$", re.DOTALL)


_DIRECTIVES, _AGAIN, _AMBIGUOUS, _CLARIFICATIONS, _SILENT = (
    [*map(_pattern, phrases)] for phrases in (DIRECTIVE, REVISIT, AMBIGUOUS, CLARIFY, SILENT)
)
_OUTSIDE_QUESTIONS = {phrase.format(topic=name) for phrase in OUTSIDE_QUESTION for name, _ in OUTSIDE.values()}


def verify(pair: ConversationPair, document: Document) -> Verification:
    """The first layer that fails ends the check, so later layers are None."""
    base: dict[str, Any] = {
        "pair_id": pair.pair_id, "domain": pair.domain, "failure": pair.failure, "user_behaviour": pair.user_behaviour
    }  # fmt: skip
    if issue := incoherent(pair):
        return Verification(**base, coherence=False, issue=issue)
    sides = {"better": pair.better, "worse": pair.worse}
    flaws = {name: flawed_rounds(talk, document.context) for name, talk in sides.items()}
    wanted = {"better": dict[int, str](), "worse": {pair.flawed_round: pair.failure}}
    if other := [name for name in wanted if flaws[name] != wanted[name]]:
        issue = f"{other[0]}: expected {wanted[other[0]]}, found {flaws[other[0]]}"
        return Verification(**base, coherence=True, adherence=False, issue=issue)
    better, empty = grounded(pair.better, document.context, None)
    worse, more_empty = grounded(pair.worse, document.context, pair.flawed_round)
    return Verification(
        **base, coherence=True, adherence=True, grounded_better=better, grounded_worse=worse,
        empty_turns=empty + more_empty, issue=ungrounded(better, worse),
    )  # fmt: skip


def ungrounded(*shares: float | None) -> str:
    """Why conversations with these shares of grounded claims fail at grounding, or an empty text."""
    if None in shares:
        return "a conversation without a claim"
    return "" if set(shares) == {1.0} else "a claim is not grounded"


def incoherent(pair: ConversationPair) -> str:
    """Why the plan cannot hold its conditions, or an empty text."""
    failure = failure_type(pair.failure)
    assert failure is not None, "the record checks the failure"
    if failure.needs_earlier and pair.flawed_round < 2:
        return f"{pair.failure} needs an earlier turn"
    if not len(pair.plan_better) == len(pair.plan_worse) == pair.rounds:
        return "a plan does not have one entry for each round"
    return ""


def flawed_rounds(talk: Conversation, context: str) -> dict[int, str]:
    """The flaws that the texts show, by round. A round with several gets their names joined. Besides the failures of
    the taxonomy there are `drift`, a sentence without a word of the question, and `repetition`, a sentence of an
    earlier answer that is not asked for again."""
    known = topics(context)
    excluded = None
    seen: set[str] = set()
    flaws: dict[int, str] = {}
    for number in range(len(talk) // 2):
        question, answer = talk[2 * number].content, talk[2 * number + 1].content
        if number == 0 and (found := _match(_DIRECTIVES, question)):
            excluded = next((topic for topic in known if topic.name == found["topic"]), None)
            question = question[: found.start()].rstrip()
        said = [answer[start:end] for start, end in sentences(answer)]
        again = _match(_AGAIN, question) is not None
        shown = _failures(question, answer, known, seen if again else set())
        if excluded and not set(excluded.facts).isdisjoint(said):
            shown.append("instruction_forgetting")
        if any(set(content_words(question)).isdisjoint(content_words(sentence)) for sentence in said):
            shown.append("drift")
        if not again and not seen.isdisjoint(said):
            shown.append("repetition")
        if shown:
            flaws[number + 1] = "+".join(shown)
        seen.update(said)
    return flaws


def _match(patterns: Sequence[re.Pattern[str]], text: str) -> re.Match[str] | None:
    return next((found for pattern in patterns if (found := pattern.search(text))), None)


def _failures(question: str, answer: str, known: Sequence[Topic], repeated: set[str]) -> list[str]:
    """The failures of one round; `repeated` holds earlier sentences where the question asks again."""
    silent = _match(_SILENT, answer) is not None
    asked = max((t for t in known if t.name.lower() in question.lower()), key=lambda t: len(t.name), default=None)
    if question in _OUTSIDE_QUESTIONS:
        return [] if silent else ["fabricated_answer"]
    if asked is None:
        short = _match(_AMBIGUOUS, question)
        if short is None or sum(topic.head == short["head"] for topic in known) < 2:
            return ["unknown question"]
        return [] if _match(_CLARIFICATIONS, answer) else ["no_clarification"]
    if silent:
        return ["unnecessary_refusal"]
    if any(fact not in answer for fact in asked.facts):
        return ["self_contradiction"] if repeated.issuperset(asked.facts) else ["evasion"]
    return [] if _body(answer, [asked]).startswith(asked.facts[0]) else ["disorganized"]


def _body(answer: str, known: Sequence[Topic]) -> str:
    """The answer without the phrase that corrects the user."""
    openings = (CORRECTION.format(topic=topic.name) for topic in known)
    return next((answer.removeprefix(opening).lstrip() for opening in openings if answer.startswith(opening)), answer)


def grounded(talk: Conversation, context: str, skipped: int | None) -> tuple[float | None, int]:
    """The share of claims that are in the document, and the turns without a claim. A claim is a sentence other than the
    phrases. The round `skipped` does not count."""
    known = topics(context)
    facts = {fact for topic in known for fact in topic.facts}
    right = wrong = empty = 0
    for number in range(len(talk) // 2):
        if number + 1 == skipped:
            continue
        rest = _body(talk[2 * number + 1].content, known)
        claims = [rest[start:end] in facts for start, end in sentences(rest)]
        if _match((*_CLARIFICATIONS, *_SILENT), rest):
            claims = []
        right += sum(claims)
        wrong += len(claims) - sum(claims)
        empty += not claims
    return (right / (right + wrong) if right + wrong else None), empty
