"""Writes rationales for prose line by line, for small models: quote some words of A and their counterpart in B, say
whether they are the same, and at the first difference search the case and name the flaw.

A small model cannot find a difference between two long texts in one glance. Here it copies a few words at a time and
compares what it has just written.
"""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from data_builders.perturb.rules.text_match import content_words
from data_builders.rationales.base import WRITERS, Rationale
from data_builders.rationales.prose import REMARKS, finding, plain_words, sentences_of
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig

_QUOTED, _DIFFERING, _BEFORE = 20, 14, 5
"""Words in a line of quotes; words of a difference; words of it before the first that differs."""


@WRITERS.register("text-aligned")
def write_aligned(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """Ends at the first difference, and gives up on pairs with several flaws, and on P2 and P4 if the passages found do
    not support the better reasoning."""
    if len(pair.violated) > 1:
        return
    thought = "<think>"
    for number, (a, b) in enumerate(_aligned(pair), 1):
        for start in range(0, max(len(a), len(b)), _QUOTED):
            line_a, line_b = (words[start : start + _QUOTED] for words in (a, b))
            thought += f"{number} A: {_quote(line_a)} B: {_quote(line_b)} {'same' if line_a == line_b else 'differ'}\n"
            if line_a != line_b:
                break
        if a == b:
            continue
        part_a, part_b = _parts(a, b)
        thought += f"A has: {part_a}\nB has: {part_b}"
        principle, worse = by_number(pair.violated[0]), "B" if pair.preferred == "A" else "A"
        if config.search:
            passages = yield f"{thought}</think><search>{part_a} {part_b}</search>"
            supported = _supported([passage.text for passage in passages], a, b)
            if principle.number in (2, 4) and supported != pair.preferred:
                return
            thought = f"<think>{finding(passages, f'{part_a} {part_b}')}. It supports {supported}"
        yield f"{thought}. {REMARKS[principle.number]}: {worse} breaks {principle.number}, {principle.name}.</think>"
        return


def _aligned(pair: ReasoningPair) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each sentence of A and of its counterpart in B; [] where there is none."""
    a, b = ([plain_words(text) for _, text in sentences_of(text)] for text in (pair.reasoning_a, pair.reasoning_b))
    blocks = SequenceMatcher(None, list(map(tuple, a)), list(map(tuple, b)), autojunk=False).get_opcodes()
    for _, a1, a2, b1, b2 in blocks:
        for i in range(max(a2 - a1, b2 - b1)):
            yield (a[a1 + i] if a1 + i < a2 else []), (b[b1 + i] if b1 + i < b2 else [])


def _quote(words: Sequence[str]) -> str:
    return " ".join(words).strip(" .") or "nothing"


def _parts(a: Sequence[str], b: Sequence[str]) -> tuple[str, str]:
    """Where two sentences begin to differ, with some words before."""
    same = next((i for i, (x, y) in enumerate(zip(a, b, strict=False)) if x != y), min(len(a), len(b)))
    start = max(0, same - _BEFORE)
    return _quote(a[start : start + _DIFFERING]), _quote(b[start : start + _DIFFERING])


def _supported(texts: Sequence[str], a: Sequence[str], b: Sequence[str]) -> str:
    """The side of which the larger share of words is in the passages, among the words that only one side has: A, B or
    neither."""
    seen = set(content_words(" ".join(texts)))
    words_a, words_b = (set(content_words(" ".join(words))) for words in (a, b))
    share_a, share_b = (len(own & seen) / len(own) if own else 0.0 for own in (words_a - words_b, words_b - words_a))
    return "neither" if share_a == share_b else "A" if share_a > share_b else "B"
