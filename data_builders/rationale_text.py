"""How a careful judge of prose works: where the reasonings part, search the case and say what is wrong."""

import re
from collections.abc import Generator, Sequence
from difflib import SequenceMatcher

from judge_r1.config import EpisodeConfig
from judge_r1.principles import by_number
from judge_r1.records import Case, Evidence, Flaw, ReasoningPair

_WORDS_SHOWN = 24
_REMARKS = {
    1: "That does not follow from what was said before",
    2: "The case says otherwise",
    3: "That leans on a trait that has nothing to do with the matter",
    4: "Nothing in the case supports that detail",
    5: "That gives the reader nothing to act on",
    6: "Following it could do harm",
}


def write_text(case: Case, pair: ReasoningPair, config: EpisodeConfig) -> Generator[str, Sequence[Evidence], None]:
    """One stretch of thought for each flaw, with a search for it while the budget lasts."""
    worse = "B" if pair.preferred == "A" else "A"
    searches = config.spending.max_searches
    thoughts = ""
    for number, flaw in enumerate(pair.origin.flaws):
        claim, other = _words(_sentence(pair.flawed, flaw)), _words(_counterpart(pair, flaw))
        thoughts += f"<think>{worse} says: {claim}. The other says: {other}.</think>"
        if number < searches:
            passages = yield f"{thoughts}<search>{other or claim}</search>"
            best = _words(passages[0].text) if passages else "nothing"
            thoughts = f"<think>The case file has: {best}.</think>"
        principle = by_number(flaw.principle)
        thoughts += f"<think>{_REMARKS[flaw.principle]}: {worse} breaks {principle.number}, {principle.name}.</think>"
    yield thoughts


def _sentence(text: str, flaw: Flaw) -> str:
    """The sentence or line around a flaw."""
    starts = [m.end() for m in re.finditer(r"[.!?]\s+|\n", text) if m.end() <= flaw.span.start]
    ends = [m.start() for m in re.finditer(r"[.!?](?=\s)|\n|$", text) if m.start() >= flaw.span.end - 1]
    return text[max(starts, default=0) : min(ends, default=len(text))]


def _counterpart(pair: ReasoningPair, flaw: Flaw) -> str:
    """What the better reasoning says where the worse one has the flaw."""
    matcher = SequenceMatcher(None, pair.flawed, pair.reference, autojunk=False)
    start = end = None
    for tag, f_start, f_end, r_start, r_end in matcher.get_opcodes():
        if tag != "equal" and f_start < flaw.span.end + 1 and flaw.span.start - 1 < f_end:
            start, end = r_start if start is None else start, r_end
    if start is None or end is None:
        return ""
    left = max(pair.reference.rfind(mark, 0, start) for mark in (". ", "\n")) + 1
    stops = [at for mark in (". ", "\n") if (at := pair.reference.find(mark, end)) >= 0]
    return pair.reference[left : min(stops, default=len(pair.reference))]


def _words(text: str) -> str:
    """The first words of a text on one line, without tags' brackets."""
    words = re.sub(r"[<>]", "", text).split()
    return " ".join(words[:_WORDS_SHOWN]).strip(" .")
