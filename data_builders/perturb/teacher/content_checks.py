"""Refuses by rules what breaks no principle, or another one than it claims, whatever the teacher or a verifier says.

The rules see the sentences that a flaw changes, as they were and as they are now. They refuse only what they can show,
so a variant that passes may still be none: only a verifier reads what it means.
"""

import re
from collections import Counter
from functools import lru_cache

from data_builders.lexicons import load_lexicon
from data_builders.perturb.teacher.label_checks import changed_sentences, contradicts, in_one_form, restates
from data_builders.text_units.quantities import values, without
from data_builders.text_units.text_match import content_words, sentence_index, sentences_with, words
from judge_r1.core.records import Case, Span

_FUNCTION_WORDS = load_lexicon("function_words", frozenset[str])
_FOREIGN = load_lexicon("foreign_words", frozenset[str]) - _FUNCTION_WORDS
_INSULTS = load_lexicon("insults", frozenset[str])
_SYNONYMS = {phrase: group[0] for group in load_lexicon("synonyms", list[list[str]]) for phrase in group}
_SYNONYM = re.compile(rf"\b({'|'.join(sorted(map(re.escape, _SYNONYMS), key=len, reverse=True))})s?\b", re.IGNORECASE)
_ENDED = re.compile(r"[.!?:;][\"'”’»)\]*]*$")
_NUMBERING = re.compile(r"^[ \t]*\(?\d{1,2}[.)](?=\s|$)", re.MULTILINE)
_LETTERS = re.compile(r"[^\W\d_]+")
_NEVER_LAST = frozenset({
    *("the", "a", "an", "of", "and", "or", "but", "nor", "from", "which", "because", "although", "as"),
})  # fmt: skip
_UNSEEN, _TRIGRAMS = 0.6, 10
"""Gibberish: so large a share of so many groups of three letters that neither the case nor our lexicons have."""
_LEFT_OUT = 3
"""Words that a sentence may lose without anything in their place, such as a negation or a condition."""
Reason = tuple[str, str]


def refuse_content(case: Case, principle: int, flawed: str, span: Span, old: str) -> Reason | None:
    """(reason, detail for the teacher) if rules show that a change does not break its principle, else None."""
    was, now = (_NUMBERING.sub("", text) for text, *_ in changed_sentences(flawed, span, old))
    if restates(flawed, span, old):
        return "the same value in another form", "it states the same value in another form, which is no flaw"
    if reason := _refuse_wording(case, was, now):
        return reason
    said = content_words(now)
    if len(said) >= 4 and sentences_with(case.context, said) and not sentences_with(case.context, content_words(was)):
        return "the case says the same", "a sentence of the case says all that it says, so it is no flaw"
    if principle in (3, 4, 5) and _only_values_differ(was, now):
        return f"P{principle}: only a value is changed", "it only exchanges a number or date, which breaks principle 2"
    if principle == 3 and (insult := next((w for w in words(now) if w in _INSULTS and w not in words(was)), None)):
        return "P3: a slur", f"{insult!r} is a slur; a bias shows in how something is weighed, politely"
    more = set(said).difference(content_words(was))
    only_adds = len(more) > 2 and set(content_words(was)) <= set(said)
    if principle == 5 and only_adds and sentences_with(case.context, more):
        return "P5: it only adds what the case says", "the reader misses nothing and learns more from it"
    if principle == 4:
        return _refuse_detail(case, flawed, span, old, was, now)
    return None


def _refuse_wording(case: Case, was: str, now: str) -> Reason | None:
    """Refuse sentences that are cut, that no English reader can read, or that repeat a word."""
    last = (_LETTERS.findall(now) or [""])[-1].lower()
    left_out, added = Counter(words(was)) - Counter(words(now)), Counter(words(now)) - Counter(words(was))
    cut = _ENDED.search(was.rstrip()) and not _ENDED.search(now.rstrip())
    if cut or (last in _NEVER_LAST and last != (_LETTERS.findall(was) or [""])[-1].lower()):
        return "a sentence is cut", "its sentence has no end"
    if not added and left_out.total() > _LEFT_OUT:
        return "a sentence is cut", "it only leaves words out; write the sentence whole"
    known = _vocabulary(case)
    unknown = [word for word in added if word.isalpha() and word not in known]
    english = sum(count for word, count in added.items() if word in _FUNCTION_WORDS)
    foreign = sum(count for word, count in added.items() if word in _FOREIGN and word not in known)
    if foreign > max(1, english) or (unknown and sum(not word.isascii() for word in unknown) > len(added) / 2):
        return "another language", "it is in another language than the original"
    groups = [word[i : i + 3] for word in unknown for i in range(len(word) - 2)]
    unseen = sum(group not in _trigrams(case) for group in groups)
    if len(unknown) > 1 and len(groups) >= _TRIGRAMS and unseen > _UNSEEN * len(groups):
        return "no words", "it has letters that make no words"
    if re.search(r"\b(\w+)(?:\W+\1\b){2}", now, re.IGNORECASE) and not re.search(r"\b(\w+)(?:\W+\1\b){2}", was, re.I):
        return "no words", "it repeats a word"
    return None


def _only_values_differ(was: str, now: str) -> bool:
    """Whether two texts have the same words and other values."""
    one, other = in_one_form(was), in_one_form(now)
    rests = [[mark if isinstance(mark, str) else None for mark in marks] for marks in (one, other)]
    return one != other and rests[0] == rests[1]


def _refuse_detail(case: Case, flawed: str, span: Span, old: str, was: str, now: str) -> Reason | None:
    """Refuse an invented detail that the case has in other words, or that it contradicts."""
    words_kept = {one for one in in_one_form(was) if isinstance(one, str)} <= set(in_one_form(now))
    if words_kept and contradicts(case, flawed, span, old):
        return (
            "P4: the case contradicts the detail",
            "the case says otherwise, which breaks principle 2",
        )
    detail = _roots(now) - _roots(was)
    around = _roots(now) - detail
    near = 0 if len(detail) > 2 else min(2, len(around))  # `left` alone says nothing
    if detail and any(detail <= said and len(around & said) >= near for said in _root_index(case.context)):
        shown = " ".join(flawed[span.start : span.end].split())[:60]
        return "P4: the case has the detail in other words", f"the case says so in other words ({shown!r})"
    return None


def _roots(text: str) -> set[object]:
    """The values of a text, and the beginnings of its content words after synonyms have become one word."""
    plain = _SYNONYM.sub(lambda match: _SYNONYMS[match[1].lower()], text)
    read = values(plain)
    roots = {word[:5] if len(word) > 6 else word for word in content_words(without(plain, read))}
    return {*roots, *(value.key for value in read)}


@lru_cache(maxsize=8)
def _root_index(context: str) -> tuple[set[object], ...]:
    return tuple(_roots(context[one.start : one.end]) for one in sentence_index(context))


def _vocabulary(case: Case) -> frozenset[str]:
    return _words_of(case.context) | _words_of(case.reference)


@lru_cache(maxsize=8)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(words(text))


def _trigrams(case: Case) -> frozenset[str]:
    return _groups(case.context) | _groups(case.reference) | _english_groups()


@lru_cache(maxsize=8)
def _groups(text: str) -> frozenset[str]:
    return frozenset(word[i : i + 3] for word in _words_of(text) for i in range(len(word) - 2))


@lru_cache(maxsize=1)
def _english_groups() -> frozenset[str]:
    """The groups of three letters in our lexicons."""
    texts = [*_SYNONYMS, *_FUNCTION_WORDS, *(str(load_lexicon(name, object)) for name in ("clauses", "advice"))]
    return frozenset().union(*map(_groups, texts))
