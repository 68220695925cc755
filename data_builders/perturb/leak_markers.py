"""Detects leak markers: notes, labels and emphasis that reveal a flaw and that the reference does not have."""

import re

from judge_r1.core.principles import PRINCIPLES

_REVEALING_WORDS = (
    r"flaw(?:s|ed)?|incorrect(?:ly)?|wrong(?:ly)?|mistakes?|biased|unfounded|ungrounded|invented|fabricated|illogical|"
    r"non sequitur|contradict(?:s|ed|ion)|violat(?:es|ed|ion|ions)|clue|hint|sic|modified|altered"
)
_PRINCIPLE_NAMES = "|".join(re.escape(p.name).replace("and", "(?:and|&)") for p in PRINCIPLES)
_NOUNS = r"(?:step|claim|conclusion|inference|statement|reasoning|value|number|detail|assertion|sentence|fact)s?"
_SURE = r"(?:of course|course|of|clearly|obviously|plainly|simply|in fact|fact|in|actually|certainly)"
_FALSE = r"wrong|false|incorrect|flawed|mistaken|untrue|illogical|fabricated|invented|unfounded|erroneous"
_NOTES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\[[^\]\n]{{0,80}}\b(?:{_REVEALING_WORDS}|errors?|principles?|changed|added|inserted)\b[^\]\n]{{0,80}}\]",
        rf"\((?:(?:this|it|which|the|a|an|is|step)\s+){{0,3}}(?:{_REVEALING_WORDS})(?:\s+{_NOUNS})?\s*(?:[:;,–—-][^)\n]{{0,80}})?\)",
        rf"\((?:this|it|which)\s+(?:(?:is|was|the|a|an|step)\s+){{0,2}}(?:{_REVEALING_WORDS})\b[^)\n]{{0,80}}\)",
        rf"\b(?:which|this|that|it)\s+(?:is|was)\s+(?:{_SURE}[\s,]+){{0,2}}(?:an?\s+)?(?:{_FALSE})(?:\s+{_NOUNS})?(?=\s*(?:[.,;)]|$))",
        r"\((?:errors?|changed|added|inserted)\)",
        r"\b(?:clue|hint|flaw|annotation|note to (?:the )?(?:reader|judge))s?\s*:",
        r"\bviolated principles?\b|\bflawed (?:variant|reasoning|step)\b",
        rf"\b(?:violat\w+|breach\w*|break\w*|principle)\b[^.\n]{{0,40}}(?:{_PRINCIPLE_NAMES}|\bP[1-6]\b)",
        r"\bprinciple (?:no\. ?)?[1-6]\b",
        r"</?[a-z][^<>\n]{0,40}>|<!--",
    )
)
_MARKUP = ("*", "~~", "`", "__", "{", "}", "==", "←", "⚠", "❌", "✗")


def find_leak_marker(old: str, new: str) -> str | None:
    """Return the first leak marker of `new` that the text it replaces, `old`, does not have."""
    for pattern in _NOTES:
        for match in pattern.finditer(new):
            if match[0] not in old:
                return match[0]
    return next((mark for mark in _MARKUP if new.count(mark) > old.count(mark)), None)
