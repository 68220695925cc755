"""A tagger without a model: a list of common verbs with their forms, and names by their capitals and neighbours.

It is made for the stories of this package and fits novels; in other texts it takes terms for names. It leaves out
what is not certain. A form that is also a noun counts as a verb only behind a pronoun. A past form behind `have` or
`be` is a participle, also with an adverb between them. A capitalised word at the start of a sentence is a name only if
the text has it elsewhere too.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Final

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.manipulations.operator import CannotManipulate
from data_builders.manipulations.tagger import Kind, Mention, Verb, like
from data_builders.manipulations.units import CHAPTER, sentence_starts, words
from retrieval.prose import prose_sentences

_PLURAL: Final = frozenset({"i", "you", "we", "they"})
_PLURAL_SUBJECT: Final = _PLURAL | {"them", "us", "both", "all", "people", "men", "women", "children"}
"""The last words of subjects in the plural, as far as they are listed."""
_ADVERBS: Final = frozenset([
    "already", "just", "always", "also", "still", "often", "once", "now", "soon", "finally", "suddenly", "quickly",
])  # fmt: skip
"""Words that may stand between an auxiliary, or a subject, and its verb."""
_SINGULAR: Final = frozenset({"he", "she", "it", "who", "which"})
_NOT_FINITE: Final = frozenset([
    "have", "has", "had", "having", "be", "been", "being", "is", "are", "was", "were", "am", "'s", "'ve", "'d", "to",
    "the", "a", "an", "his", "her", "its", "their", "my", "your", "our", "not", "never", "get", "got", "gets",
])  # fmt: skip
"""No finite verb follows these words."""
_PLACES_AFTER: Final = frozenset([
    "in", "at", "from", "to", "near", "into", "towards", "toward", "of", "through", "beyond", "outside", "across",
])  # fmt: skip
_NO_NAMES: Final = frozenset([
    "oh", "ah", "i", "mr", "mrs", "miss", "ms", "dr", "rev", "esq", "st", "madam", "mama", "mamma", "papa", "admiral",
    "colonel", "general", "major", "captain", "doctor", "sir", "lady", "lord", "uncle", "aunt", "judge", "sergeant",
    "god", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday", "january", "february",
    "march", "april", "may", "june", "july", "august", "september", "october", "november", "december", "christmas",
    "easter", "michaelmas", "american", "british", "christian", "dutch", "english", "french", "german", "greek",
    "indian", "irish", "italian", "latin", "roman", "russian", "scotch", "scottish", "spanish", "welsh",
])  # fmt: skip
"""Words with a capital that name nobody."""
_BE: Final = {"was": "is", "were": "are", "is": "was", "are": "were", "am": "was", "has": "had", "does": "did"}
_CAPITAL = re.compile(r"\b[A-Z][a-z]+\b")
_QUOTES: Final = "\"“‘'(—"


class VerbList(Lexicon):
    """Base forms of regular verbs, and base form -> past form of the others."""

    regular: tuple[str, ...]
    irregular: dict[str, str]


@cache
def _forms() -> tuple[dict[str, str], dict[str, str], dict[str, str]]:
    """Past form -> base, base -> past form, form of the third person -> base."""
    listed = load_lexicon("verbs", VerbList)
    past = {base: _regular_past(base) for base in listed.regular} | listed.irregular
    clear = {form: base for base, form in past.items() if form != base}
    return clear, past, {_third(base): base for base in past}


def _regular_past(base: str) -> str:
    if base.endswith("e"):
        return base + "d"
    return base[:-1] + "ied" if base.endswith("y") and base[-2] not in "aeiou" else base + "ed"


def _third(base: str) -> str:
    if base == "have":
        return "has"
    if base.endswith(("s", "sh", "ch", "x", "z", "o")):
        return base + "es"
    return base[:-1] + "ies" if base.endswith("y") and base[-2] not in "aeiou" else base + "s"


class RuleTagger:
    """Needs no package and no model."""

    name = "rules"

    def sentences(self, text: str) -> Sequence[tuple[int, int]]:
        return prose_sentences(text)

    def verbs(self, text: str) -> Sequence[Verb]:
        found, before = [], ""
        for start, end in words(text):
            word = text[start:end]
            if (other := _other_tense(word.lower(), before)) is not None:
                found.append(Verb(start, end, like(other, word)))
            before = before if word.lower() in _ADVERBS else word.lower()
        return found

    def mentions(self, text: str) -> Sequence[Mention]:
        starts = sentence_starts(text, self.sentences(text))
        headings = [match.span() for match in re.finditer(rf"^{CHAPTER}.*$", text, re.MULTILINE)]
        lower = set(re.findall(r"[a-z]+", text))
        spans = [
            match.span()
            for match in _CAPITAL.finditer(text)
            if match[0].lower() not in lower | _NO_NAMES
            and not any(first <= match.start() < last for first, last in headings)
        ]
        sure = [(start, end) for start, end in spans if start not in starts and text[start - 1] not in _QUOTES]
        known = {text[start:end] for start, end in sure}
        joined = _joined(text, [span for span in spans if text[span[0] : span[1]] in known])
        names = [" ".join(text[start:end].split()) for start, end in joined]
        behind: dict[str, list[bool]] = {}
        for name, (start, _) in zip(names, joined, strict=True):
            if start not in starts:
                behind.setdefault(name, []).append(_last_word(text, start) in _PLACES_AFTER)
        places = {name for name, after in behind.items() if sum(after) * 2 > len(after)}
        kinds: list[Kind] = ["place" if name in places else "person" for name in names]
        return [Mention(start, end, kind) for (start, end), kind in zip(joined, kinds, strict=True)]


class NoTagger(RuleTagger):
    """Knows sentences only, where spaCy is not installed: what needs verbs or names abstains."""

    name = "none"

    def verbs(self, text: str) -> Sequence[Verb]:
        raise CannotManipulate("no tagger: pip install 'judge-r1[tagger]'")

    def mentions(self, text: str) -> Sequence[Mention]:
        raise CannotManipulate("no tagger: pip install 'judge-r1[tagger]'")


def _joined(text: str, spans: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Neighbouring words with one space or line break between them become one name."""
    found: list[tuple[int, int]] = []
    for start, end in spans:
        if found and text[found[-1][1] : start] in (" ", "\n"):
            found[-1] = (found[-1][0], end)
        else:
            found.append((start, end))
    return found


def _other_tense(word: str, before: str) -> str | None:
    """The form in the other tense of a word that is a finite verb behind `before`; None for any other word."""
    clear, past, third = _forms()
    if word in ("was", "were", "is", "are"):
        return "am" if (word, before) == ("was", "i") else _BE[word]
    if before in _NOT_FINITE:
        return None
    if word in _BE:
        return _BE[word]
    if word == "had":
        return "have" if before in _PLURAL_SUBJECT else "has"
    if word == "did":
        return "do" if before in _PLURAL_SUBJECT else "does"
    if word in clear:
        return clear[word] if before in _PLURAL_SUBJECT else _third(clear[word])
    if word in third and before in _SINGULAR:
        return past[third[word]]
    if word in past and before in _PLURAL and past[word] != word:
        return past[word]
    return None


def _last_word(text: str, start: int) -> str:
    before = text[max(0, start - 30) : start].split()
    return before[-1].lower() if before else ""
