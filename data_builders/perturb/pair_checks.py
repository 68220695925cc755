"""What every pair must be, whoever wrote its flawed reasoning: checked at building, and by `validate` for any file."""

import re

from data_builders.perturb.leak_markers import clue
from data_builders.perturb.rules.steps import numbering, sentences
from data_builders.perturb.rules.text_match import WORD, content_words, holding, index, stem, words
from judge_r1.core.records import Case, Flaw, ReasoningPair, Span

SHORTEST, LONGEST = 0.8, 1.25
"""Bounds of the flawed reasoning's length, in characters, as a share of the reference's."""

_SAID = re.compile(rf"{WORD.pattern}|[<>=≤≥±+%]|-(?=\d)")


def check_pair(case: Case, pair: ReasoningPair) -> str | None:
    """Why the pair is no valid pair of the case, or None.

    Flaws that rules made have their facts and details checked by string match. A teacher that was prompted may put
    them in other words, so there only what must hold in any wording is checked.
    """
    if pair.case_id != case.case_id or pair.reference != case.reference:
        return "the better reasoning is not the case's reference"
    if numbering(pair.flawed) != numbering(pair.reference):
        return "the numbering of the steps differs"
    ratio = len(pair.flawed) / len(pair.reference)
    if not SHORTEST <= ratio <= LONGEST:
        return f"the flawed reasoning is not {SHORTEST} to {LONGEST} times as long as the reference"
    olds = replaced(pair)
    if olds is None:
        return "outside the spans of its flaws the flawed reasoning differs from the reference"
    for flaw, old in zip(in_order(pair), olds, strict=True):
        new = pair.flawed[flaw.span.start : flaw.span.end]
        check = _made_by_rules if pair.origin.prompt_hash is None else _written
        if reason := check(case, pair, flaw, old, new):
            return reason
    return None


def said(text: str) -> list[str]:
    """What a text says: its words and the signs between numbers, without punctuation and capitals."""
    return [match[0].lower() for match in _SAID.finditer(text)]


def detail_in_case(case: Case, text: str, span: Span) -> bool:
    """Whether one sentence of the context, or of the reference, has all the content words of `text[span]`; to fewer
    than three of them the nearest ones in the sentence around them are added, for `left` alone says nothing."""
    detail = content_words(text[span.start : span.end])
    if not detail:
        return False
    if len(detail) < 3:
        start, end = next(((a, b) for a, b in sentences(text) if a <= span.start < b), (span.start, span.end))
        before, after = content_words(text[start : span.start]), content_words(text[span.end : end])
        detail += before[-1:] + after[:1]
    return bool(holding(case.context, detail) or holding(case.reference, detail))


def _made_by_rules(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    if flaw.principle == 2:
        return _contradicted(case, pair, flaw, old, new)
    return _unknown(case, flaw, old, new) if flaw.principle == 4 else None


def _written(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    """A flaw by a prompted teacher changes words, leaves no clue, and P4 adds what the case does not have."""
    if said(old) == said(new):
        return "a flaw changes no word"
    if clue(old, new) is not None:
        return "a flaw gives itself away by an annotation or a clue"
    if any(span.end > len(case.context) for span in flaw.context_spans):
        return "a context span ends outside the context"
    if flaw.principle == 4 and detail_in_case(case, pair.flawed, flaw.span):
        return "P4: the case has the invented detail"
    return None


def in_order(pair: ReasoningPair) -> list[Flaw]:
    """The flaws of a pair as they stand in its flawed reasoning."""
    return sorted(pair.origin.flaws, key=lambda flaw: flaw.span.start)


def replaced(pair: ReasoningPair) -> list[str] | None:
    """What the reference has in the place of each flaw, in order; None where the texts differ elsewhere.

    The text between two flaws is the same in both reasonings. It is looked for from the left, so an ambiguous place
    can only give a shorter or longer neighbour, never a difference outside the flaws.
    """
    olds: list[str] = []
    behind, at = 0, 0
    for flaw in in_order(pair):
        kept = pair.flawed[behind : flaw.span.start]
        found = pair.reference.find(kept, at)
        if (not olds and found != 0) or found < 0:
            return None
        if olds:
            olds[-1] = pair.reference[at:found]
        olds.append("")
        at, behind = found + len(kept), flaw.span.end
    tail = pair.flawed[behind:]
    if len(pair.reference) - len(tail) < at or not pair.reference.endswith(tail):
        return None
    olds[-1] = pair.reference[at : len(pair.reference) - len(tail)]
    return olds


def _contradicted(case: Case, pair: ReasoningPair, flaw: Flaw, old: str, new: str) -> str | None:
    """P2: the context has the old value, and nowhere the new one beside the words that the old one stands beside."""
    gone, come = _difference(old, new), _difference(new, old)
    if not flaw.context_spans:
        return "P2: no place of the context is named"
    if not come:
        return "P2: no new value"
    role = set(content_words(new)) - come
    for span in flaw.context_spans:
        if span.end > len(case.context):
            return "P2: a context span ends outside the context"
        told = set(map(stem, words(case.context[span.start : span.end])))
        if (gone and not gone & told) or come <= told:
            return "P2: the named place of the context does not have the old value"
    if not role or _is_name(new):
        role |= _shared(case.context, flaw.context_spans[0], pair.flawed, flaw.span) - come
    if not role or any(come <= sentence.words for sentence in holding(case.context, role)):
        return "P2: the context has the new value too"
    return None


def _is_name(text: str) -> bool:
    """Whether each word has a capital: a name may stand in another role of the case, so its own words are no role."""
    return all(word[0].isupper() for word in re.findall(r"\w+", text))


def _shared(context: str, place: Span, flawed: str, span: Span) -> set[str]:
    """The content words that the context's sentence at `place` has in common with the flawed one around `span`."""
    told = next((s.words for s in index(context) if s.start <= place.start < s.end), frozenset())
    said = next((flawed[a:b] for a, b in sentences(flawed) if a <= span.start < b), "")
    return set(told.intersection(content_words(said)))


def _unknown(case: Case, flaw: Flaw, old: str, new: str) -> str | None:
    """P4: no sentence of the context has all the words of the new detail, nor has the reference."""
    if flaw.context_spans:
        return "P4: an invented detail contradicts no place of the context"
    detail = content_words(new)
    if not _difference(new, old):
        return "P4: no new detail"
    if holding(case.context, detail) or holding(case.reference, detail):
        return "P4: the case has the invented detail"
    return None


def _difference(one: str, other: str) -> set[str]:
    return set(map(stem, words(one))) - set(map(stem, words(other)))
