"""Undoes what the extraction from PDF or HTML did to a text, where the text itself shows it, and counts each change.

    ﬁbrosis           → fibrosis            a ligature, or a soft hyphen
    inves-⏎tigation   → investigation       a word broken at the end of a line
    3.8 × 109/L       → 3.8 × 10^9/L        a lost superscript
    were normal.12 He → were normal. He     a citation or section number that was a superscript

What may be right as it stands stays: `6 × 109 mm` may be a size, and `5 × 10-12` a range.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from retrieval.passages import ABBREVIATIONS

Changes = Counter[str]
"""How often each kind of change was made."""
TEXT_CHANGES = "text_changes"
"""The key in `Case.meta`, and in the build report for the sum over all cases."""
CITATIONS = "citations left out"
JOINED = "broken steps joined"

_LIGATURE = re.compile("[\ufb00-\ufb06]")
_SOFT_HYPHEN = re.compile("\u00ad(?:[^\\S\n]*\n[^\\S\n]*)?")
_BROKEN_WORD = re.compile(r"(?<![^\W\d_]-)\b([^\W\d_]{2,})-[^\S\n]*\n[^\S\n]*([^\W\d_]{2,})")
_VOLUME = r"(?:[µμu]?[lL]|m[lL]|d[lL]|lit(?:er|re)\b|[mc]m[3³]|cmm\b|k?g\b)"
_COUNTED = r"(?:cells|CFU|cfu|PFU|pfu|copies|platelets|parasites|spermatozoa|IU)\b"
_POWERS = (
    re.compile(r"([×xX*·∙⋅][^\S\n]?10)[^\S\n]?(−\d{1,2}(?![\d.,]\d|\d))"),
    re.compile(r"([×xX*·∙⋅][^\S\n]?10)([-–]\d(?![\d.,]\d|\d))"),
    re.compile(rf"([×xX*·∙⋅][^\S\n]?10)([1-9]\d?)(?=\s?/\s?{_VOLUME}|\s{_COUNTED})"),
    re.compile(r"([×xX*·∙⋅] 10) ([1-9]\d?)(?![\d.,]*\d)"),
    re.compile(rf"((?<=\d )10) ?(3|6|9|12)(?=\s?/\s?{_VOLUME})"),
)
_CITATION = re.compile(
    r"(?:(?<![.\w])(?P<word>[^\W\d_]{2,})|[)\]”’])[.?!]"
    r"(?P<marks>[1-9]\d{0,2}(?:(?:, ?|[–-])\d{1,3})*(?:\.\d{1,2})*)(?=[^\S\n]+[A-Z“]|[^\S\n]*(?:\n|$))"
)
_NUMBERED_PART = re.compile(
    "figures?|tables?|scheme|box|appendix|annex|paragraphs?|articles?|sections?|rules?|clauses?|chapters?|"
    "schedules?|sched|ord|fn|absatz|abs|ziff|rn|rz",
    re.IGNORECASE,
)
"""Nouns whose number may follow a full stop: Table.1, and Abs.2 in laws in German."""
_ENDED, _LEADS_ON = re.compile(r"[.!?:;…][\"'”’»)*_\]]*$"), re.compile(r"(?::|[.!?][\"”’»])$")
_GOES_ON = re.compile(r"(?!(?:pp?|vs|eg|ie)\b)[a-z]+(?![\w.-])")
"""A word in small letters, and no abbreviation or name such as `p.` and `mRNA`."""
_QUOTES = tuple('"“‘')
_ADDRESS = 80
"""Characters before a number that may belong to the address it ends."""


def repaired(text: str, changes: Changes) -> str:
    """The text with the changes of this module, which `changes` counts."""
    text, changed = _LIGATURE.subn(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    changes["ligatures"] += changed
    text, changed = _SOFT_HYPHEN.subn("", text)
    changes["soft hyphens"] += changed
    text = _joined_words(text, changes)
    for pattern in _POWERS:
        text, changed = pattern.subn(r"\1^\2", text)
        changes["powers of ten"] += changed
    return _CITATION.sub(lambda match: _without_marks(match, changes), text)


def _joined_words(text: str, changes: Changes) -> str:
    """Joins words that a line break splits at a hyphen. The hyphen goes where the rest of the text has the joined word:
    elsewhere it may be that of a compound (`HIV-⏎positive`)."""
    if not _BROKEN_WORD.search(text):
        return text
    words = set(re.findall(r"[^\W\d_]+", _BROKEN_WORD.sub(" ", text).lower()))

    def join(match: re.Match[str]) -> str:
        changes["words broken at a line end"] += 1
        one, other = match.groups()
        return one + other if (one + other).lower() in words else f"{one}-{other}"

    return _BROKEN_WORD.sub(join, text)


def _without_marks(match: re.Match[str], changes: Changes) -> str:
    before = match.string[max(0, match.start() - _ADDRESS) : match.start()].rsplit(None, 1)
    in_address = bool(before) and any(mark in before[-1] for mark in "/@:")
    word = match["word"] or ""
    if in_address or word.lower() in ABBREVIATIONS or _NUMBERED_PART.fullmatch(word):
        return match[0]
    changes[CITATIONS] += 1
    return match[0].removesuffix(match["marks"])


def joined_steps(steps: Sequence[str], changes: Changes) -> list[str]:
    """The steps, one for each that the corpus breaks in the middle of a sentence.

    A step goes on with the next one if it has no end and the next one begins with a small letter or a quotation, or if
    it ends with a colon or a quotation and the next one begins with a small letter. Fragments of a list are parted by
    semicolons.
    """
    joined: list[str] = []
    before = "."
    for step in steps:
        small, ended = _GOES_ON.match(step), _ENDED.search(before)
        if (small and (not ended or _LEADS_ON.search(before))) or (not ended and step[:1] in _QUOTES):
            fragment = small and _GOES_ON.match(before) and not ended and before[-1] not in ",-–"
            joined[-1] += f"{';' if fragment else ''} {step}"
            changes[JOINED] += 1
        else:
            joined.append(step)
        before = step
    return joined


def changes_as_meta(changes: Mapping[str, int]) -> dict[str, Any]:
    """The entry of `Case.meta`: how often each kind of change was made, or nothing if the text is unchanged."""
    made = {kind: count for kind, count in sorted(changes.items()) if count}
    return {TEXT_CHANGES: made} if made else {}
