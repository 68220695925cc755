"""How a careful judge of prose works: go to where the reasonings part, search the case there, then say what is wrong.

Nothing before the first observation depends on which reasoning is the better one: who learns to write it must not learn
to decide before looking.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from data_builders.perturb.match import content_words
from data_builders.perturb.steps import body_sentences, sentences, split_steps
from data_builders.writers import WRITERS, Rationale
from judge_r1.config import EpisodeConfig
from judge_r1.principles import by_number
from judge_r1.records import Case, Evidence, ReasoningPair

_SHOWN, _BEFORE = 24, 8
"""Words of a sentence that are shown, and how many of them may stand before the first difference."""
_REMARKS = {
    1: "That does not follow from what was said before",
    2: "The case says otherwise",
    3: "That leans on a trait that has nothing to do with the matter",
    4: "Nothing in the case supports that detail",
    5: "That gives the reader nothing to act on",
    6: "Following it could do harm",
}


@WRITERS.register("text")
def write_text(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """The places of the flaws in turn, each searched for while the budget lasts; a verdict without a search of its own
    waits for the end."""
    worse = "B" if pair.preferred == "A" else "A"
    searches = config.spending.max_searches
    thoughts = verdicts = ""
    for number, (principle, a, b) in enumerate(_places(pair)):
        thoughts += f"<think>A says: {a or 'nothing'}. B says: {b or 'nothing'}.</think>"
        named = by_number(principle)
        verdict = f"<think>{_REMARKS[principle]}: {worse} breaks {named.number}, {named.name}.</think>"
        if number < searches:
            query = " ".join(dict.fromkeys(f"{a} {b}".split()))
            passages = yield f"{thoughts}<search>{query}</search>"
            thoughts = f"<think>{_finding(passages, query)}.</think>{verdict}"
        else:
            verdicts += verdict
    yield thoughts + verdicts


def _places(pair: ReasoningPair) -> Iterator[tuple[int, str, str]]:
    """For each flaw, in order, its principle and what A and B say at its place."""
    a, b = _sentences(pair.reasoning_a), _sentences(pair.reasoning_b)
    blocks = SequenceMatcher(None, [text for _, text in a], [text for _, text in b], autojunk=False).get_opcodes()
    flawed = b if pair.preferred == "A" else a
    for flaw in sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start):
        at = max((i for i, (start, _) in enumerate(flawed) if start <= flaw.span.start), default=0)
        for _, a1, a2, b1, b2 in blocks:
            first, last = (b1, b2) if flawed is b else (a1, a2)
            if first <= at < last:
                if a2 - a1 == b2 - b1:  # as many sentences on both sides: one stands for one
                    a1, b1 = a1 + at - first, b1 + at - first
                    a2, b2 = a1 + 1, b1 + 1
                yield flaw.principle, *_shown(*(" ".join(text for _, text in s) for s in (a[a1:a2], b[b1:b2])))


def _sentences(text: str) -> list[tuple[int, str]]:
    """Where the sentences of a reasoning start, and their words, without numbering and headings."""
    spans = [
        (step.start + start, step.text[start:end])
        for step in split_steps(text)
        for start, end in body_sentences(step, least=1)
    ]
    return spans or [(0, text)]


def _shown(a: str, b: str) -> tuple[str, str]:
    """The words of two sentences from shortly before their first difference, without tags' brackets."""
    one, other = (re.sub(r"[<>]", "", text).split() for text in (a, b))
    same = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    start = max(0, min(same - _BEFORE, max(len(one), len(other)) - _SHOWN))
    first, second = (" ".join(words[start : start + _SHOWN]).strip(" .") for words in (one, other))
    return first, second


def _finding(passages: Sequence[Evidence], query: str) -> str:
    """The sentence of the passages that has most words of the query."""
    wanted = set(content_words(query))
    found = [p.text[start:end] for p in passages for start, end in sentences(p.text)]
    if not found:
        return "The search shows nothing"
    best = max(found, key=lambda text: len(wanted.intersection(content_words(text))))
    return f"The case file has: {_shown(best, best)[0]}"
