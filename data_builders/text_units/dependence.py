"""Tells whether a sentence needs the one before it."""

import re

_LINKS = (
    r"(?:It|This|These|Those|That|They|Their|Its|Such|Both|Here|There|Then|However|But|Nevertheless|Moreover|Therefore"
    r"|Furthermore|Also|Notably|Additionally|Interestingly|Importantly|Besides|Meanwhile|Of note|Thus|Hence|Accordingly"
    r"|Consequently|Otherwise|Instead|Similarly|Likewise|Similar|So|And|Or|Yet|Nor|Neither|Indeed|Another|Others?|As|Some"
    r"|For (?:example|instance|this|that)|Again|Even|Finally|Secondly?|Thirdly?|Rather|Still|Subsequently|Thereafter"
    r"|In (?:addition|particular|this|that|such|these|contrast)|On the (?:other|same|contrary))\b"
)
"""The openings of sentences that need the sentence before."""
_DEPENDENT = re.compile(
    rf"[\"'“‘(\[*]*(?:{_LINKS}|(?:He|She|His|Her|The (?:latter|former|same|other|second))\b"
    r"|(?:\w+,? ){1,5}(?:this|these|those|such)\b"
    r"(?! (?:a |an |as |cases?|court|convention|patient|study|paper|article|manuscript)\b))"
)


def is_dependent(text: str) -> bool:
    return _DEPENDENT.match(text) is not None
