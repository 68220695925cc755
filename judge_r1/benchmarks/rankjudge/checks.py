"""Simple checks of a conversation, each for one failure type. Baselines combine them.

A check returns suspicions: a round, a failure type and a weight. The checks know the taxonomy, but not how a data set
was built. A set on which checks of the form alone do well leaks its labels.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import mean, pstdev
from typing import Literal, NamedTuple

from judge_r1.benchmarks.pairwise import vote_of
from judge_r1.core.conversations import FAILURES
from judge_r1.core.items import AggregatedVerdict, Conversation, Item, ItemResult, Vote, item_result
from judge_r1.core.record_base import content_hash
from judge_r1.core.verdicts import LocatedVerdict

_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_WORD = re.compile(r"[^\W_]+(?:[.,]\d+)?")
SAYS_NOTHING = re.compile(
    r"\b(?:says? nothing|not (?:stated|mentioned|given|covered|enough|included|provided|reported|specified)|silent|"
    r"no (?:information|mention|details?)|cannot (?:say|answer)|does not (?:say|mention|state|give)|"
    r"(?:document|text|source|paper|article|report|filing|passage|it|I) (?:does|do)(?: not|n['’]t) "
    r"(?:say|mention|state|give|contain|cover|describe|discuss|have|include|provide|report|specify))\b",
    re.IGNORECASE,
)
"""An answer that says that the document is silent."""
_LEAVE_OUT = re.compile(
    r"\b(?:leave out (?:anything|everything) about|nothing about|do not mention|without) (?:the |an? )?([^.,;?!]+)",
    re.IGNORECASE,
)
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be been by can do does for from had has have how i in is it its me my no not of on one or "
        "our please say said says so stated that the their them then there these they this to was we were what when "
        "where which who will with would you your about document text recorded mention know"
    )
)


class Suspicion(NamedTuple):
    """A suspected flaw; a higher weight is more certain."""

    weight: float
    round: int
    failure: str


Check = Callable[[Conversation, str], Iterator[Suspicion]]


class Turn(NamedTuple):
    """The question and answer of a round, from 1."""

    round: int
    question: str
    answer: str


def turns(conversation: Conversation) -> list[Turn]:
    """The rounds of a conversation."""
    texts = [message.content for message in conversation]
    return [Turn(index + 1, *texts[2 * index : 2 * index + 2]) for index in range(len(texts) // 2)]


def words(text: str) -> set[str]:
    """The distinct content words of a text, in lower case."""
    return {word for word in (found.lower() for found in _WORD.findall(text)) if word not in _COMMON}


def odd_length(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """The turn whose length differs most from the others. A check of form: it reads no content."""
    found = turns(conversation)
    lengths = [len(turn.answer) for turn in found]
    spread = pstdev(lengths) or 1.0
    for turn, length in zip(found, lengths, strict=True):
        distance = (length - mean(lengths)) / spread
        yield Suspicion(abs(distance), turn.round, "unnecessary_refusal" if distance < 0 else "disorganized")


def refusal(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Turns that say the document is silent. A check of form."""
    for turn in turns(conversation):
        if SAYS_NOTHING.search(turn.answer):
            yield Suspicion(1.0, turn.round, "unnecessary_refusal")


def no_question(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """The shortest question that is answered without a question. A check of form."""
    found = [turn for turn in turns(conversation) if "?" not in turn.answer]
    if found:
        turn = min(found, key=lambda turn: len(turn.question))
        yield Suspicion(1 / len(turn.question), turn.round, "no_clarification")


def wrong_refusal(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Turns that say the document is silent on words that it holds."""
    known = words(document)
    for turn in turns(conversation):
        asked = words(turn.question)
        if SAYS_NOTHING.search(turn.answer) and asked:
            share = len(asked & known) / len(asked)
            if share > 0.5:
                yield Suspicion(1 + share, turn.round, "unnecessary_refusal")


def unsupported(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Sentences whose words the document lacks, outside refusals and questions."""
    known = words(document)
    for turn in turns(conversation):
        for sentence in _SENTENCE.split(turn.answer):
            said = words(sentence)
            missing = said - known
            if len(said) > 2 and missing and not SAYS_NOTHING.search(sentence) and "?" not in sentence:
                yield Suspicion(2 * len(missing) / len(said), turn.round, "fabricated_answer")


def broken_directive(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Turns with a sentence that has all words of what the user asked to leave out."""
    asked = _LEAVE_OUT.search(conversation[0].content)
    unwanted = words(asked[1]) if asked else set()
    for turn in turns(conversation):
        if unwanted and any(unwanted <= words(sentence) for sentence in _SENTENCE.split(turn.answer)):
            yield Suspicion(3.0, turn.round, "instruction_forgetting")


def changed_statement(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Sentences that repeat an earlier one with another number."""
    earlier: list[tuple[set[str], set[str]]] = []
    for turn in turns(conversation):
        own = []
        for sentence in _SENTENCE.split(turn.answer):
            said = words(sentence)
            numbers = {word for word in said if word[0].isdigit()}
            own.append((said - numbers, numbers))
            for rest, given in earlier:
                if rest and given and given != numbers and rest == said - numbers:
                    yield Suspicion(3.0, turn.round, "self_contradiction")
        earlier += own


def missing_answer(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Turns whose answer lacks the words of the question, or has them only after another sentence."""
    known = words(document)
    for turn in turns(conversation):
        asked = words(turn.question) & known
        if not asked or SAYS_NOTHING.search(turn.answer) or "?" in turn.answer:
            continue
        shares = [len(asked & words(sentence)) / len(asked) for sentence in _SENTENCE.split(turn.answer)]
        best = max(shares)
        if best < 0.5:
            yield Suspicion(1.2 - best, turn.round, "evasion")
        elif next(index for index, share in enumerate(shares) if share == best) > 1 or (
            shares[0] < best and _is_statement(turn.answer, known)
        ):
            yield Suspicion(0.4 + best / 10, turn.round, "disorganized")


def _is_statement(answer: str, known: set[str]) -> bool:
    """Does the answer begin with a statement of the document, not with an opening phrase?"""
    first = words(_SENTENCE.split(answer)[0])
    return len(first & known) > 2


def unasked(conversation: Conversation, document: str) -> Iterator[Suspicion]:
    """Turns that ask nothing back, and answer a question that names no single thing: it has no word of the document, or
    several sentences of the document have all of them, and the answer only some of these sentences."""
    known, said = words(document), [words(sentence) for sentence in _SENTENCE.split(document)]
    for turn in turns(conversation):
        asked = words(turn.question) & known
        about = sum(asked <= one for one in said)
        answered = sum(asked <= words(sentence) for sentence in _SENTENCE.split(turn.answer))
        if (not asked or about > max(answered, 1)) and not SAYS_NOTHING.search(turn.answer) and "?" not in turn.answer:
            yield Suspicion(1.1, turn.round, "no_clarification")


CONTENT: Sequence[Check] = (
    wrong_refusal, unsupported, broken_directive, changed_statement, missing_answer, unasked,
)  # fmt: skip


Aggregate = Callable[[Item, Sequence[Vote]], AggregatedVerdict]
PANELS: Mapping[str, Sequence[Check]] = {
    "form: odd length": (odd_length,),
    "form: refusal words": (refusal,),
    "form: no question back": (no_question,),
    "check: directive": (broken_directive,),
    "check: changed value": (changed_statement,),
    "check: wrong refusal": (wrong_refusal,),
    "check: unsupported": (unsupported,),
    "check: answers the question": (missing_answer,),
    "check: directive, value, refusal": (broken_directive, changed_statement, wrong_refusal),
    "check: all but answers": (
        wrong_refusal, unsupported, broken_directive, changed_statement, unasked
    ),
    "check: all": CONTENT,
}  # fmt: skip
"""The checks of each baseline. Those named `form` read no content: well above chance, they show a leak."""
CHANCE = "chance"


def baseline_results(
    items: Sequence[Item], texts: Mapping[str, str], aggregate: Aggregate
) -> dict[str, list[ItemResult]]:
    """The results of every baseline, with both conversations in stored order."""
    names = {CHANCE: (), **PANELS}
    return {
        name: [_result(name, found, item, texts[item.cluster_id], aggregate) for item in items]
        for name, found in names.items()
    }


def _result(name: str, found: Sequence[Check], item: Item, text: str, aggregate: Aggregate) -> ItemResult:
    vote = vote_of((0, 1), verdict_of(name, found, item, text))
    return item_result(name, item, [vote], aggregate(item, [vote]))


def verdict_of(name: str, found: Sequence[Check], item: Item, text: str) -> LocatedVerdict:
    """The conversation with the strongest suspicion is worse. Without any, all three parts are drawn by chance."""
    suspicions = []
    for side, talk in enumerate(item.candidates):
        if not isinstance(talk, str):
            suspicions += [(suspicion, side) for check in found for suspicion in check(talk, text)]
    strongest = max((suspicion.weight for suspicion, _ in suspicions), default=0.0)
    tied = [pair for pair in suspicions if pair[0].weight == strongest]
    draw = int(content_hash("conversation baseline", name, item.item_id), 16)
    if tied:
        suspicion, side = tied[draw % len(tied)]
        return LocatedVerdict(winner=_other(side), round=suspicion.round, failure=suspicion.failure)
    side, draw = draw % 2, draw // 2
    rounds = len(item.candidates[side]) // 2
    return LocatedVerdict(
        winner=_other(side), round=draw % rounds + 1, failure=FAILURES[draw // rounds % len(FAILURES)].key
    )


def _other(side: int) -> Literal["A", "B"]:
    return "B" if side == 0 else "A"
