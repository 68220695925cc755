"""Writes rationales for prose: find where the reasonings differ, search the case for P2 and P4, then name the flaw.

A passage must settle the question, or there is no rationale. Nothing before the first observation depends on the gold
label, so that a model does not learn to decide before it searches.
"""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher

from data_builders.rationales import WRITERS, Rationale
from data_builders.text_units.quantities import values, without
from data_builders.text_units.steps import MARKER, sentences, split_steps
from data_builders.text_units.text_match import content_words
from judge_r1.core.principles import by_number
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.episode.config import EpisodeConfig
from retrieval.differences import difference_query

_GROUND = re.compile(r"\b(?:because|since|given|by virtue of|so|(?<!likely )due to)\b", re.IGNORECASE)
"""What introduces a ground within a sentence. "(un)likely due to" names a cause instead."""
_REMARKS = {
    1: "That does not follow from the ground that it gives",
    3: "That leans on a trait that has nothing to do with the matter",
    5: "That gives the reader nothing to act on",
    6: "Following it could do harm",
}


@WRITERS.register("text")
def write_text(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Rationale:
    """Goes through the flaws in order, with a search for each of P2 and P4, or the whole case without search. It gives
    up if the search budget is spent or no passage settles the question. The others follow from the reasonings' own
    words, so P1 needs a sentence with both ground and conclusion. Their verdicts come at the end."""
    worse, better = ("B", "A") if pair.preferred == "A" else ("A", "B")
    searches = config.effective_budget.max_searches
    left, thoughts, verdicts = searches, "", ""
    for principle, a, b in positions(pair):
        named = by_number(principle)
        thoughts += f"<think>A says: {a or 'nothing'}. B says: {b or 'nothing'}.</think>"
        conclusion = f"{worse} breaks {named.number}, {named.name}.</think>"
        if principle == 1 and not (_GROUND.search(a) and _GROUND.search(b)):
            return
        if principle not in (2, 4):
            verdicts += f"<think>{_REMARKS[principle]}: {conclusion}"
            continue
        texts = [case.context]
        if searches:
            if not left:
                return
            left -= 1
            passages = yield f"{thoughts}<search>{difference_query(a, b)}</search>"
            thoughts, texts = "", [passage.text for passage in passages]
        true, false = (a, b) if better == "A" else (b, a)
        if (found := settling_sentence(principle, true, false, texts)) is None:
            return
        said = f"{better} agrees with it, {worse} does not" if principle == 2 else f"It has nothing of {worse}'s detail"
        verdict = f"<think>The case file has: {found}. {said}: {conclusion}"
        thoughts, verdicts = (thoughts + verdict, verdicts) if searches else (thoughts, verdicts + verdict)
    yield thoughts + verdicts


def settling_sentence(principle: int, true: str, false: str, texts: Sequence[str]) -> str | None:
    """The sentence of the passages from which it follows that `false` breaks P2 or P4 where `true` does not, or None.

    For P2 it has all values and words that only `true` has, and some that both have, and no sentence has those of
    `false`. For P4 it speaks of the same thing, and no passage has what `false` adds.
    """
    kept, added = marks(true), marks(false) - marks(true)
    own, shared = kept - marks(false), kept & marks(false)
    if not added:
        return None
    sentences_found = [plain(text[start:end]) for text in texts for start, end in sentences(text)]
    found = {sentence: marks(sentence) for sentence in sentences_found}
    if any(added <= marks for marks in found.values()):
        return None
    if principle == 2:
        least = min(2, len(shared))
        settling = [one for one, marks in found.items() if own and own <= marks and len(shared & marks) >= least]
        return max(settling, key=lambda sentence: len(found[sentence] & kept), default=None)
    best = max(found, key=lambda sentence: len(found[sentence] & kept), default="")
    absent = not any(added & marks for marks in found.values())
    return best if absent and best and len(found[best] & kept) >= max(3, len(kept) / 2) else None


def marks(text: str) -> set[object]:
    """The values of a text, and its other content words."""
    read = values(text)
    return {*(value.key for value in read), *content_words(without(text, read))}


def positions(pair: ReasoningPair) -> Iterator[tuple[int, str, str]]:
    """For each flaw, in order, its principle and the whole sentences of A and B that differ there, as words."""
    a, b = _sentences_of(pair.reasoning_a), _sentences_of(pair.reasoning_b)
    blocks = SequenceMatcher(None, [text for _, text in a], [text for _, text in b], autojunk=False).get_opcodes()
    flawed = b if pair.preferred == "A" else a
    for flaw in sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start):
        added = pair.flawed[flaw.span.start : flaw.span.end]
        first_word = flaw.span.start + len(added) - len(added.lstrip())  # an added sentence starts with a space
        at = max((i for i, (start, _) in enumerate(flawed) if start <= first_word), default=0)
        until = max(at + 1, sum(start < flaw.span.end for start, _ in flawed))
        found = list[tuple[str, str]]()
        for kind, a1, a2, b1, b2 in blocks:
            first, last = (b1, b2) if flawed is b else (a1, a2)
            left_out = first == last and at <= first <= until
            if kind != "equal" and (left_out or (first < until and at < last)):
                if a2 - a1 == b2 - b1:  # the same number of sentences on both sides: align one to one
                    cut, rest = max(0, at - first), max(0, last - until)
                    a1, a2, b1, b2 = a1 + cut, a2 - rest, b1 + cut, b2 - rest
                found.append((_joined(a[a1:a2]), _joined(b[b1:b2])))
        if found:
            one, other = (plain(" ".join(side)) for side in zip(*found, strict=True))
            yield flaw.principle, one, other


def _joined(found: Sequence[tuple[int, str]]) -> str:
    return " ".join(text for _, text in found)


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


def plain(text: str) -> str:
    """The words on one line, without angle brackets, bold markup and the last full stop."""
    return " ".join(re.sub(r"[<>]|\*\*", "", text).split()).strip(" .")
