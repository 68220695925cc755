"""Words of a text in any script: how many there are, and the terms by which a search matches them.

Chinese, Japanese, Thai, Lao, Khmer, Burmese and related scripts write no spaces between words. A text in other scripts
has as many words as `str.split` finds.
"""

import re
import unicodedata
from collections import Counter
from functools import cache
from itertools import pairwise

IDEOGRAPHS = (
    "\u3005-\u3007\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua48c"
    "\uf900-\ufaff\uff66-\uff9f\U00020000-\U0003ffff"
)
"""Chinese characters, kana, bopomofo and Yi syllables."""
_BLOCKS = (
    *(range(0x0E01, 0x0F00), range(0x1000, 0x10A0), range(0x1780, 0x1800), range(0x1950, 0x1A00)),
    *(range(0x1A20, 0x1AB0), range(0x1B00, 0x1B80), range(0xA980, 0xAA00), range(0xAA60, 0xAAE0)),
)
"""Thai, Lao, Burmese, Khmer, Tai scripts, Balinese and Javanese."""
_LETTERS = "".join(f"{chr(block.start)}-{chr(block.stop - 1)}" for block in _BLOCKS)
_TIBETAN = "\u0f40-\u0fbf"
UNSPACED = f"{IDEOGRAPHS}{_LETTERS}{_TIBETAN}"
"""The letters of scripts without spaces between words, for a class of a regular expression."""
_HANGUL = "\uac00-\ud7af"
_JOINED = rf"{IDEOGRAPHS}{_LETTERS}{_HANGUL}"
"""Letters that `terms` reads in pairs: a Korean word carries its particles."""
_TERM = re.compile(r"\w+")
_IGNORED = re.compile("[\u00ad\u200c\u200d\u2060\ufe00-\ufe0f\ufeff\U000e0100-\U000e01ef]")
_SCRIPT_DIGIT = re.compile(r"(?<=\d)(?=[\u00b2\u00b3\u00b9\u00bc-\u00be\u2070-\u2079\u2150-\u215f])")

_PART = r"[^\W_]+"
_COMPOUND = re.compile(rf"{_PART}(?:[-\u2010\u2011_\u200b]+{_PART})+")
_SEPARATOR = re.compile(r"[\W_]+")
_UNIT = re.compile(r"(?<!\w)(\d+)([^\W\d_]{1,4})(?!\w)")
_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[, '\u2019]\d{3})+(?!\d)")
_ACCENTED = re.compile(r"(?<=[a-z])[\u0300-\u036f]+")


# Patterns of many characters are compiled at their first use: a text in English needs none of them.
@cache
def word_pattern() -> re.Pattern[str]:
    """A word for a count: a run without spaces, one Chinese or Japanese character, or four letters of a script such as
    Thai, whose words have about four."""
    letters = f"(?:[{_LETTERS}][{_letter_marks()}]*){{1,4}}"
    return re.compile(rf"[{IDEOGRAPHS}]|{letters}|[{_TIBETAN}]+[\u0f00-\u0f3f]*|[^\s{UNSPACED}]+")


@cache
def _unspaced() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}]")


@cache
def _run() -> re.Pattern[str]:
    return re.compile(rf"[{_JOINED}]+|[^{_JOINED}]+")


@cache
def _character() -> re.Pattern[str]:
    return re.compile(rf"[{_JOINED}][{_letter_marks()}\u3099\u309a]*")


@cache
def _letter_marks() -> str:
    return "".join(chr(c) for block in _BLOCKS for c in block if unicodedata.category(chr(c)) in ("Mn", "Mc"))


def has_unspaced(text: str) -> bool:
    """Whether a text has letters of a script without spaces between words."""
    return not text.isascii() and _unspaced().search(text) is not None


def count_words(text: str) -> int:
    """The number of words of a text."""
    return sum(1 for _ in word_pattern().finditer(text)) if has_unspaced(text) else len(text.split())


def folded(text: str) -> str:
    """The text for comparisons: NFKC without case, soft hyphens and joiners. A raised digit behind a digit stays apart,
    so `10⁹` is `10^9` and not 109."""
    if text.isascii():
        return text.lower()
    text = _SCRIPT_DIGIT.sub("^", _IGNORED.sub("", text))
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


def terms(text: str) -> list[str]:
    """The terms of a text or query: its `folded` runs of word characters. Runs of scripts without spaces, and of
    Hangul, are read as overlapping pairs of characters; a single character is a term of its own."""
    return [term for run in _runs(text) for term in _pairs(run)]


def characters(text: str) -> list[str]:
    """The single characters of the runs that `terms` reads as pairs, so that a query of one character is found."""
    if text.isascii():
        return []
    return [one for run in _runs(text) if len(found := _character().findall(run)) > 1 for one in found]


def spellings(text: str) -> list[str]:
    """What other spellings of the text have as terms, beside `terms`: `il6` for `IL-6`, `max`, `tokens` and `maxtokens`
    for `max_tokens`, `5` and `mg` for `5mg`, `1000` for `1,000`, `cafe` for `café`, and a word that a zero-width space
    splits. Measured in docs/experiments/bm25_spellings.csv."""
    text = folded(text)
    found: list[str] = []
    for compound in _COMPOUND.findall(text):
        found.append(_SEPARATOR.sub("", compound))
        found += [part for word in _TERM.findall(compound) if "_" in word for part in word.split("_") if part]
    found += [part for number in _UNIT.findall(text) for part in number]
    found += [_SEPARATOR.sub("", number) for number in _GROUPED.findall(text)]
    if not text.isascii():
        plain = unicodedata.normalize("NFC", _ACCENTED.sub("", unicodedata.normalize("NFD", text)))
        found += (Counter(_TERM.findall(plain)) - Counter(_TERM.findall(text))).elements() if plain != text else ()
    return found


def tokens(text: str) -> list[str]:
    """The `folded` words between spaces, with their punctuation; those of scripts without spaces as `terms`."""
    return [token for word in folded(text).split() for token in (terms(word) if has_unspaced(word) else [word])]


def _runs(text: str) -> list[str]:
    """The words of a text, cut where a script without spaces begins or ends."""
    text = folded(text)
    words: list[str] = (_TERM if text.isascii() or not _mark().search(text) else _term_with_marks()).findall(text)
    return words if text.isascii() else [run for word in words for run in _run().findall(word)]


def _pairs(run: str) -> list[str]:
    if run.isascii():
        return [run]
    found = _character().findall(run)
    return [one + other for one, other in pairwise(found)] if len(found) > 1 else [run]


@cache
def _marks() -> str:
    """The combining marks of the basic plane, such as the vowel signs of Hindi, which `\\w` leaves out."""
    return "".join(chr(code) for code in range(0x0300, 0xFE00) if unicodedata.category(chr(code))[0] == "M")


@cache
def _mark() -> re.Pattern[str]:
    return re.compile(f"[{_marks()}]")


@cache
def _term_with_marks() -> re.Pattern[str]:
    return re.compile(rf"[\w{_marks()}]+")
