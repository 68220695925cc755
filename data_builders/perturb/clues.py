"""Traces by which a flaw would give itself away: notes, labels and emphasis that the reference does not have."""

import re

from judge_r1.principles import PRINCIPLES

_TELLING = (
    r"flaw(?:s|ed)?|errors?|incorrect(?:ly)?|wrong(?:ly)?|mistakes?|bias(?:ed)?|unfounded|ungrounded|invented|fabricated|"
    r"unsupported|illogical|non sequitur|contradict(?:s|ed|ion)|violat(?:es|ed|ion|ions)|principles?|variant|modified|"
    r"changed|altered|inserted|added|original(?:ly)?|clue|hint|note|sic"
)
_NAMES = "|".join(re.escape(p.name).replace("and", "(?:and|&)") for p in PRINCIPLES)
_NOTES = (
    re.compile(rf"\[[^\]\n]{{0,80}}\b(?:{_TELLING})\b[^\]\n]{{0,80}}\]", re.IGNORECASE),
    re.compile(rf"\((?:[^)\n]{{0,20}}\b)?(?:{_TELLING})\b[^)\n]{{0,80}}\)", re.IGNORECASE),
    re.compile(
        r"\b(?:clue|hint|flaw|error|violation|annotation|note to (?:the )?(?:reader|judge))s?\s*:", re.IGNORECASE
    ),
    re.compile(r"\bviolated principles?\b|\bflawed (?:variant|reasoning|step)\b", re.IGNORECASE),
    re.compile(rf"\b(?:violat\w+|breach\w*|break\w*|principle)\b[^.\n]{{0,40}}(?:{_NAMES}|\bP[1-6]\b)", re.IGNORECASE),
    re.compile(r"\bprinciple (?:no\. ?)?[1-6]\b", re.IGNORECASE),
    re.compile(r"</?[a-z][^<>\n]{0,40}>|<!--", re.IGNORECASE),
)
_MARKS = ("*", "~~", "`", "__", "{", "}", "==", "←", "⚠", "❌", "✗")


def clue(old: str, new: str) -> str | None:
    """The first trace in `new` that `old`, which it replaces, does not have."""
    for pattern in _NOTES:
        for match in pattern.finditer(new):
            if match[0] not in old:
                return match[0]
    return next((mark for mark in _MARKS if new.count(mark) > old.count(mark)), None)
