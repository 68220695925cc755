"""Writes rationales for prose and small models: search the case for the first sentence that differs, quote the case,
quote what A and B have there, say which of the two the case supports, and name the flaw.

Sides stand behind their quotes, so that a model that repeats a quote also repeats its side. The prompt
`compact-differences` marks the words to quote, so that everything up to the verdict can be copied.
"""

import re
from collections.abc import Sequence

from data_builders.rationales.base import WRITERS, Rationale
from data_builders.rationales.prose import REMARKS, best_window, finding
from data_builders.text_units.text_match import content_words
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from judge_r1.episode.differences import SentencePair, align

_SHOWN, _QUERY = 12, 24
"""The most words of a difference that a rationale quotes, and of a sentence that it searches for."""
_ENOUGH = 0.5
"""The least share of a side's own words that the case must have to support it."""


@WRITERS.register("text-differences")
def write_differences(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """Ends at the first difference. Gives up on pairs with several flaws or without a word that differs, and on P2 and
    P4 if what it quotes of the case does not support the better reasoning."""
    first = first_difference(pair)
    if len(pair.violated) > 1 or first is None:
        return
    principle, worse = by_number(pair.violated[0]), "B" if pair.preferred == "A" else "A"
    thought = "<think>"
    if config.search:
        query = trace_query(pair, first)
        passages = yield f"<search>{query}</search>"
        side = supported(best_window(passages, query), first)
        if principle.number in (2, 4) and side != pair.preferred:
            return
        thought += f"{finding(passages, query)}. "
    quotes = {side: _quote(words, _SHOWN) or "nothing" for side, words in zip("AB", first.bracketed, strict=True)}
    thought += f"The reasonings have: {quotes['A']} (A), {quotes['B']} (B). "
    if config.search:
        thought += f"The case supports: {quotes[side]} ({side}). " if side in quotes else "The case supports neither. "
    yield (
        f"{thought}{REMARKS[principle.number]}: {quotes[worse]} ({worse}). "
        f"{worse} breaks {principle.number}, {principle.name}.</think>"
    )


def first_difference(pair: ReasoningPair) -> SentencePair | None:
    """The first sentence of A and its counterpart in B that differ; None if only white space does."""
    return next((sentence for sentence in align(pair.reasoning_a, pair.reasoning_b) if not sentence.shared), None)


def trace_query(pair: ReasoningPair, first: SentencePair) -> str:
    """The query of the trace of a pair. Half of the queries begin with B, so that a search does not favor a side."""
    return query_for(first, "AB"[int(pair.pair_id[-1], 16) % 2])


def query_for(sentence: SentencePair, begin: str = "A") -> str:
    """The first words of the sentence on side `begin`, or on the other where that has none, and the words in brackets
    that they lack."""
    sides, bracketed = (sentence.a, sentence.b), sentence.bracketed
    if begin == "B":
        sides, bracketed = sides[::-1], bracketed[::-1]
    words = _quote(sides[0] or sides[1], _QUERY).split()
    for quote in bracketed:
        words += [word for word in _quote(quote, _SHOWN).split() if word not in words]
    return " ".join(words)


def supported(window: str, sentence: SentencePair) -> str:
    """The side that words of the case support: of the words that only this side has, at least half are in the window,
    and a larger share than of the other side's. A, B or neither."""
    seen = set(content_words(window))
    words_a, words_b = (set(content_words(" ".join(words))) for words in (sentence.a, sentence.b))
    share_a, share_b = (len(own & seen) / len(own) if own else 0.0 for own in (words_a - words_b, words_b - words_a))
    if max(share_a, share_b) < _ENOUGH or share_a == share_b:
        return "neither"
    return "A" if share_a > share_b else "B"


def _quote(words: Sequence[str], most: int) -> str:
    """The first words, without quotation marks and the marks of tags and bold text. "" if nothing is left."""
    plain = re.sub(r"[<>“”]|\*\*", "", " ".join(words))
    return " ".join(plain.split()[:most]).strip(" .")
