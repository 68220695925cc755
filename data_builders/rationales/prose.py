"""Writes rationales for prose: find where the reasonings differ, search the case, then name the flaw.

Nothing before the first observation depends on the gold label, so that a model does not learn to decide before it
searches.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from data_builders.rationales.base import WRITERS, Rationale
from data_builders.text_units.steps import MARKER, sentences, split_steps
from data_builders.text_units.text_match import content_words
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.core.verdicts import Evidence
from judge_r1.episode.config import EpisodeConfig

_SHOWN, _BEFORE = 24, 8
"""Words of a sentence that are shown; words before the first difference."""
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
    """Goes through the flaws in order, with a search for each while the budget lasts. Verdicts without a search come at
    the end."""
    worse = "B" if pair.preferred == "A" else "A"
    searches = config.effective_budget.max_searches
    thoughts = verdicts = ""
    for number, (principle, a, b) in enumerate(_positions(pair)):
        thoughts += f"<think>A says: {a or 'nothing'}. B says: {b or 'nothing'}.</think>"
        named = by_number(principle)
        verdict = f"<think>{_REMARKS[principle]}: {worse} breaks {named.number}, {named.name}.</think>"
        if number < searches:
            query = " ".join(dict.fromkeys(f"{a} {b}".split()))
            passages = yield f"{thoughts}<search>{query}</search>"
            if not passages and principle in (2, 4):
                return  # only the case can show these
            thoughts = f"<think>{_finding(passages, query)}.</think>{verdict}"
        else:
            verdicts += verdict
    yield thoughts + verdicts


def _positions(pair: ReasoningPair) -> Iterator[tuple[int, str, str]]:
    """For each flaw, in order, its principle and the sentences of A and B at its position."""
    a, b = _sentences_of(pair.reasoning_a), _sentences_of(pair.reasoning_b)
    worse = pair.reasoning_b if pair.preferred == "A" else pair.reasoning_a
    blocks = SequenceMatcher(None, [text for _, text in a], [text for _, text in b], autojunk=False).get_opcodes()
    flawed = b if pair.preferred == "A" else a
    for flaw in sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start):
        added = worse[flaw.span.start : flaw.span.end]
        first_word = flaw.span.start + len(added) - len(added.lstrip())  # an added sentence starts with a space
        at = max((i for i, (start, _) in enumerate(flawed) if start <= first_word), default=0)
        for _, a1, a2, b1, b2 in blocks:
            first, last = (b1, b2) if flawed is b else (a1, a2)
            if first <= at < last:
                if a2 - a1 == b2 - b1:  # the same number of sentences on both sides: align one to one
                    a1, b1 = a1 + at - first, b1 + at - first
                    a2, b2 = a1 + 1, b1 + 1
                yield flaw.principle, *_shown(*(" ".join(text for _, text in s) for s in (a[a1:a2], b[b1:b2])))


def _sentences_of(text: str) -> list[tuple[int, str]]:
    """The start and text of the sentences of a reasoning, without numbering."""
    found = []
    for step in split_steps(text):
        marker = MARKER.match(step.text)
        first = marker.end() if marker else 0
        found += [
            (step.start + first + start, step.text[first + start : first + end])
            for start, end in sentences(step.text[first:])
        ]
    return found


def _shown(a: str, b: str) -> tuple[str, str]:
    """The words of two sentences, from shortly before their first difference."""
    one, other = _plain_words(a), _plain_words(b)
    same = next((i for i, (x, y) in enumerate(zip(one, other, strict=False)) if x != y), min(len(one), len(other)))
    start = max(0, min(same - _BEFORE, max(len(one), len(other)) - _SHOWN))
    return _line(one[start : start + _SHOWN]), _line(other[start : start + _SHOWN])


def _finding(passages: Sequence[Evidence], query: str) -> str:
    """What a rationale says after a search: the window of words in the passages that shares most with the query."""
    wanted = set(content_words(query))
    texts = [_plain_words(passage.text[start:end]) for passage in passages for start, end in sentences(passage.text)]
    windows = [_line(words[i : i + _SHOWN]) for words in texts for i in range(max(1, len(words) - _SHOWN + 1))]
    best = max(windows, key=lambda words: len(wanted.intersection(content_words(words))), default="")
    return f"The case file has: {best}" if best else "The search shows nothing"


def _plain_words(text: str) -> list[str]:
    """The words without angle brackets and bold markup."""
    return re.sub(r"[<>]|\*\*", "", text).split()


def _line(words: Sequence[str]) -> str:
    return " ".join(words).strip(" .")
