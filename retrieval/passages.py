"""Splits a text into passages of about 100 words that consist of whole sentences (paper, section 4.1).

The sentence splitter applies rules to whitespace-separated words. It is written for English court judgments, case
reports and papers. Its spans are exact and its time is linear. No library that was measured finds as many of their
sentences (docs/experiments/sentences.csv). pysbd also loses text that contains its placeholder characters (`♬`, `∯`).

An ambiguous mark does not end a sentence: a sentence that is too long costs a passage a few words, but half a sentence
can lose a negation. Full stops of other scripts are not ambiguous and need no space behind them.

`prose_sentences` is for running prose, such as a novel. `sentences` ends a sentence at every line break, which suits
reports with headings and numbered paragraphs. A book in plain text breaks its lines at about 70 characters; there such
a break is white space.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from retrieval.errors import at_least_one
from retrieval.events import EventHeader, event_parts, is_trace
from retrieval.words import IDEOGRAPHS, UNSPACED, count_words, word_pattern

SPLITTER = 1
"""Version of the rules. Increase it when all texts are split differently, so that stored vectors are made again."""
OTHER_SCRIPTS, UNITS = 2, 4
"""Versions of the rules for other scripts and for units before a capital. They concern the texts that
`splitter_version` names."""
EVENTS = 3
"""Version of the rules for traces (`retrieval.events`)."""
_ENDS = "。｡！？‼⁇⁈⁉।॥؟۔։።፧။។៕།༎᠃"
_CLAUSE = re.compile(r"[^\s，、；：]+[，、；：]*|[，、；：]+")
_MARKS = ".!?…"
_OPENERS = "\"'“‘„«([{<*_"
_CLOSERS = "\"'”’»)]}>*_"


@cache
def _full_stop() -> re.Pattern[str]:  # compiled at its first use: a text in English has none
    """A full stop that needs no space behind it, with what closes behind it, such as a quotation mark."""
    return re.compile(
        rf"(?:[{_ENDS}]+|．(?!\d)|(?<=[{IDEOGRAPHS}])[.!?]+(?=[{IDEOGRAPHS}]))(?![」』”’）】》〉〕)\]]*[，、；：,;:])[」』”’）】》〉〕)\]]*"
    )


@cache
def _other_script() -> re.Pattern[str]:
    return re.compile(f"[{UNSPACED}{_ENDS}．]")


def _word_set(words: str) -> frozenset[str]:
    """The set of the whitespace-separated words."""
    return frozenset(words.split())


# Abbreviations that never end a sentence.
_NEVER = _word_set(
    "mr mrs ms messrs dr prof hon rev st mt v vs cf e.g i.e eg ie viz approx ca c.f fig figs eq eqs suppl resp esp "
    "incl excl gen gov sen rep lt col sgt capt dept govt"
)
# Abbreviations if a number or a letter follows, else ordinary words ("He said no. Later ...").
_NUMBERED = _word_set(
    "no nos nr art arts para paras par pt pts p pp vol vols ch chap sec sect sects s ss reg regs r rr cl cll app "
    "appl appls ser ed eds § §§ n nn ex exh tab tabs ref refs"
)
# Abbreviations that end a sentence only if one of `_STARTERS` follows. The same holds for `i.v`, `U.S` and single
# letters.
_DOUBTFUL = _word_set(
    "inc ltd co corp cos plc llc bros jr sr al etc seq ibid cit id loc "
    "jan feb mar apr jun jul aug sep sept oct nov dec "
    "g l h cap caps inj max temp wt ht hx dx tx rx bid tid qid prn po univ spp sp var subsp"
)
_UNIT_NAMES = (
    "mg mcg µg μg ug kg ng ml cl dl µl μl mm cm km nm µm μm mmol mol mmhg bpm iu meq kcal hz khz mhz hr hrs min mins "
    "secs wk wks mo mos yr yrs"
)
# Units, which end a sentence before a capital.
_UNITS = _word_set(_UNIT_NAMES)
_UNIT_BEFORE = re.compile(
    rf"(?i:\b(?:{_UNIT_NAMES.replace(' ', '|')}))\.[{re.escape(_CLOSERS)}]*\s+[{re.escape(_OPENERS)}]*([^\W\d_])"
)
ABBREVIATIONS = _NEVER | _NUMBERED | _DOUBTFUL | _UNITS
# Ordinary words of three letters. Before a lower-case word, all other words of up to three letters count as
# abbreviations.
_SHORT_WORDS = _word_set("ago all day her him law may not now one out six tax ten two war yes yet you")
# Words that, with a capital letter, clearly start a sentence.
_STARTERS = _word_set(
    "The An This That These Those There Here He She It They We I You His Her Its Their Our A In On At By For From "
    "With Without After Before During Since When While Where If As Although Though However Moreover Furthermore "
    "Therefore Thus Hence Then Later Finally Afterwards Subsequently Nevertheless Accordingly Consequently Both All "
    "Some Each No Not Neither Such Another Other One Two Three But And Yet So Or According Following Under Upon "
    "To Having Once Only Because Until Despite Given Of What Which Who Why How"
)
_DOTTED = re.compile(r"[^\W\d_]{1,3}(\.[^\W\d_]{1,3})+")
_ENUMERATOR = re.compile(r"\d+(\.\d+)*|[A-Za-z]|[IVXLC]+|[ivx]+")
_ROMAN_OR_LETTER = re.compile(r"[IVXLC]+|[A-Z]\d*|[A-Z]{1,2}\d+")
_LINE = re.compile(r"[^\n\r\v\f\x1c-\x1e\x85\u2028\u2029]+")
# A word. Scraped papers often lack the space after a period, so "of life.The" and "[1,2].In" are split there.
_WORD = re.compile(r"\S*?(?:[a-z]{3}|[)\]%])[.!?](?=(?:[A-Z][^\W\dA-Z_]*|[A-Z]+)[,;:]?(?:\s|$))|\S+")


@dataclass(frozen=True)
class Passage:
    """Whole sentences of a source text: `text == source[start:end]`, in characters. `index` is its position, from 0."""

    index: int
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class EventPassage(Passage):
    """A part of one event of a trace, with its header line."""

    header: EventHeader


def split_passages(text: str, words: int = 100) -> list[Passage]:
    """Packs sentences in order into passages of at most `words` words (`retrieval.words.count_words`).

    The passages of a trace are the parts of its events, whatever `words` is.

    A longer sentence becomes a passage of its own. In a script without spaces, where a paragraph may have no full stop,
    it is cut at spaces and commas, and a longer part between words. Every non-space character is in exactly one
    passage. A blank text has no passages.

    Raises:
        InvalidSize: `words` is below 1.
    """
    at_least_one("words per passage", words)
    if is_trace(text):
        parts = enumerate(event_parts(text))
        return [EventPassage(index, start, end, text[start:end], header) for index, (header, start, end) in parts]
    spans: list[tuple[int, int]] = []
    words_left = 0
    for start, end in _pieces(text, words):
        length = count_words(text[start:end])
        if spans and length <= words_left:
            spans[-1] = (spans[-1][0], end)
            words_left -= length
        else:
            spans.append((start, end))
            words_left = words - length
    return [Passage(index, start, end, text[start:end]) for index, (start, end) in enumerate(spans)]


def splitter_version(text: str) -> int:
    """The version of the rules that split a text: `EVENTS` if it is a trace, else `UNITS` if it has a unit before a
    capital, else `OTHER_SCRIPTS` if it has a letter of a script without spaces or a full stop of another script, else
    `SPLITTER`."""
    if is_trace(text):
        return EVENTS
    if any(match[1].isupper() for match in _UNIT_BEFORE.finditer(text)):
        return UNITS
    return SPLITTER if text.isascii() or not _other_script().search(text) else OTHER_SCRIPTS


def _pieces(text: str, words: int) -> Iterator[tuple[int, int]]:
    """The sentences of a text. A sentence of more than `words` words is cut if most of them are not between spaces."""
    for start, end in sentences(text):
        sentence = text[start:end]
        count = count_words(sentence)
        if count <= words or count < 2 * len(sentence.split()):
            yield start, end
            continue
        for clause in _CLAUSE.finditer(text, start, end):
            starts = [word.start() for word in word_pattern().finditer(text, clause.start(), clause.end())][::words]
            yield from pairwise([*starts, clause.end()])


def sentences(text: str) -> list[tuple[int, int]]:
    """The character spans `[start, end)` of the sentences, in order, without surrounding whitespace.

    A line break always ends a sentence, because headings, bullets and numbered paragraphs end there.
    """
    spans: list[tuple[int, int]] = []
    for segment in _segments(text):
        line_words = list(_WORD.finditer(text, *segment))
        first, final = 0, len(line_words) - 1
        for last, word in enumerate(line_words):
            if last < final and (
                text[word.end() - 1].isalnum()  # most words, which no mark ends
                or not _ends(word.group(), line_words[last + 1].group(), is_first=last == first)
            ):
                continue
            spans.append((line_words[first].start(), word.end()))
            first = last + 1
    return spans


def _segments(text: str) -> Iterator[tuple[int, int]]:
    """The lines of a text, cut behind full stops that need no space."""
    has_ends = not text.isascii() and _full_stop().search(text) is not None
    for line in _LINE.finditer(text):
        start = line.start()
        for end in _full_stop().finditer(text, *line.span()) if has_ends else ():
            yield start, end.end()
            start = end.end()
        yield start, line.end()


def _ends(word: str, following: str, *, is_first: bool) -> bool:
    """Whether a sentence ends after `word`. `following` is the next word.

    `is_first`: `word` is the first of its sentence, so "3." or "a." is the number of a list item.
    """
    core = word.rstrip(_CLOSERS)
    stem = core.rstrip(_MARKS)
    marks = core[len(stem) :]
    if not marks:
        return False
    stem = stem.lstrip(_OPENERS)
    following = following.lstrip(_OPENERS) or following
    if not stem and len(marks) == 1:  # a mark with spaces around it: "paid 34 . olga"; ". . ." ends at the last mark
        return bool(following.strip(_MARKS))
    if is_first and _ENUMERATOR.fullmatch(stem):
        return False
    if "!" in marks or "?" in marks:
        return not following[0].islower()
    if marks != ".":
        return following[0].isupper()
    return _period_ends(stem, following)


def _period_ends(stem: str, following: str) -> bool:
    """Whether a sentence ends after a word with one final period. `stem` is the word without the period."""
    part = re.split(r"[/\-–]", stem.lower())[-1]
    bare = following.rstrip(".,;:" + _CLOSERS)
    if part in _NEVER:
        return False
    if part in _NUMBERED and (following[0].isdigit() or following[0] == "§" or _ROMAN_OR_LETTER.fullmatch(bare)):
        return False
    if part in _UNITS:
        return following[0].isupper()
    if part in _DOUBTFUL or _DOTTED.fullmatch(part) or (len(part) == 1 and part.isalpha()):
        return following.rstrip(",;:") in _STARTERS
    if following[0].islower():  # an unknown abbreviation, or a text without capitals
        is_word = len(part) >= 4 or part in _SHORT_WORDS or part.isdigit() or not part[-1:].isalpha()
        return part not in _NUMBERED and is_word
    return True


WRAPPED = range(40, 121)
"""The lengths of a line that may be broken for its width alone. Shorter lines are headings or verses, longer ones
whole paragraphs."""
LONGEST = 2_000
"""Characters of the longest sentence that may span lines. A longer one is a table or a list without full stops: it is
split at its lines."""
_BREAK = re.compile(r"[^\S\n]*\n[^\S\n]*(?=\S)(?![-*•|#>]\s|\d+[.)]\s)")
"""One line break, unless a list item, a quotation or a table row follows."""


def prose_sentences(text: str) -> list[tuple[int, int]]:
    """The character spans `[start, end)` of the sentences, in order, without surrounding white space. Every character
    that is not white space is in exactly one."""
    found: list[tuple[int, int]] = []
    for start, end in sentences(_unwrapped(text)):
        if end - start <= LONGEST:
            found.append((start, end))
        else:
            found += [(start + first, start + last) for first, last in sentences(text[start:end])]
    return found


def _unwrapped(text: str) -> str:
    """The text with spaces in the place of line breaks inside a sentence; positions stay."""
    parts, at = [], 0
    for match in _BREAK.finditer(text):
        line = text[text.rfind("\n", 0, match.start()) + 1 : match.start()].strip()
        if line and not line.startswith(("#", "|")) and (len(line) in WRAPPED or text[match.end()].islower()):
            parts += [text[at : match.start()], " " * (match.end() - match.start())]
            at = match.end()
    return "".join([*parts, text[at:]])
