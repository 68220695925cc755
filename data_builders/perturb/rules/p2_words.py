"""P2, factual consistency: an attribute or a name that the case states is replaced by another one of its kind."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from functools import cache
from itertools import chain
from random import Random

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.operators import operator, sentence_around, supporting_span
from data_builders.perturb.rules.p2_values import LEAST, OPEN
from data_builders.text_units.edits import Edit
from data_builders.text_units.steps import Step
from data_builders.text_units.text_match import contains, content_words, occurrences
from judge_r1.core.records import Case

_CLASSES = load_lexicon("attributes", dict[str, tuple[tuple[str, ...], ...]])
"""Domain → words that exclude each other. Those of `shared` belong to each domain."""
_NEXT = re.compile(r"[ -]([A-Za-z][A-Za-z-]{2,})(?: ([a-z][a-z-]{2,}))?")
_OWNER = re.compile(r"(\w+['’]s?) $")
_COORDINATED = re.compile(r"\b(?:and|or|than|versus|to) $"), re.compile(r",? (?:and|or|than|versus|to|as well)\b|[-/]")
_DENIED = re.compile(r"\b(?:no|not|neither|nor|never|without|any|other)\b[^.;,]{0,25}$", re.IGNORECASE)
_ACRONYM = re.compile(r"[\w -]{1,50}\(([A-Z]{2,6})\)")
"""The acronym of a phrase, whose letters keep the word that the flaw replaces: selective internal radiation (SIR)."""
SAME_NAME = 0.8
"""How much the words of two spellings of a name have in common: twice the shared characters by all."""
_TITLES = ("Mr", "Mrs", "Ms", "Dr", "Judge", "Professor")
_NAME = re.compile(
    r"\b(?!(?:The|This|That|In|On|At|By|A|An|His|Her|Its|Their|However|Moreover|Both|When|After|Before)\b)"
    rf"(?:(?:{'|'.join(_TITLES)}) (?:(?:[A-ZÀ-Ž]\.)+|[A-ZÀ-Ž][\w’'-]*)(?: [A-ZÀ-Ž][\w’'-]+)?"
    r"|(?:[A-ZÀ-Ž][\w’'-]+ ){1,3}(?:Court|Prison|Hospital|University|Ministry|Committee|Office|Council|Centre|Institute"
    r"|Police|Agency|Commission|Board)(?! of\b))(?![\w-])"
)
_POSSESSIVE = re.compile("['’]s?$")


@operator(2, "other_attribute")
def other_attribute(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace an attribute by another of its class: left by right, mother by father.

    The case has the attribute of the same thing (its next word, or its owner) and nowhere another one of the class. The
    reference has no other word of the class, which would show which is right.
    """
    own = _CLASSES.get(case.domain)
    for words in chain(_CLASSES["shared"], own if own is not None else chain.from_iterable(_CLASSES.values())):
        pattern = _any_of(words)
        found = list(pattern.finditer(step.text))
        if len(found) != 1 or len(re.findall(pattern, case.reference)) > 1:
            continue
        [match] = found
        before, sentence = step.text[: match.start()], sentence_around(step, match.start())
        if OPEN.search(sentence) or _COORDINATED[0].search(before) or _COORDINATED[1].match(step.text, match.end()):
            continue
        owner, following = _OWNER.search(before), _NEXT.match(step.text, match.end())
        acronym = _ACRONYM.match(step.text, match.end())
        if _DENIED.search(before) or (acronym and match[0][0].upper() in acronym[1]):
            continue
        if owner:
            forms = f"{owner[1]} {{}}"
        elif following and content_words(following[1]) and not following[1].endswith("ly"):  # "left entirely to them"
            forms = f"{{}} {_thing(following)}"
        else:
            continue
        span = supporting_span(case, step, match.span(), forms.format(match[0]), LEAST)
        others = [word for word in words if word != match[0] and _same_article(before, match[0], word)]
        if (
            span
            and others
            and not any(contains(case.context, forms.format(word)) for word in words if word != match[0])
        ):
            yield step.edit(match.span(), rng.choice(others), span)


@cache
def _any_of(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, words))})(?![\w]|['’]s)")


def _thing(following: re.Match[str]) -> str:
    """The word or two behind an attribute that say what it is of: `arm`, `femoral hernia`."""
    second = following[2] if following[2] and content_words(following[2]) else ""
    return f"{following[1]} {second}".strip()


def _same_article(before: str, old: str, new: str) -> bool:
    return not re.search(r"\b[Aa]n? $", before) or (old[0] in "aeiou") == (new[0] in "aeiou")


@operator(2, "other_name")
def other_name(case: Case, step: Step, rng: Random) -> Iterator[Edit]:
    """Replace a person or institution by another one of the case. The reference names neither elsewhere."""
    for match in _NAME.finditer(step.text):
        name = match[0]
        general = re.search(r"\b[Aa]n? $", step.text[: match.start()])  # "a Supreme Court" names none
        if general or _POSSESSIVE.search(name) or " v. " in sentence_around(step, match.start()):
            continue
        others = [
            other
            for other in dict.fromkeys(_POSSESSIVE.sub("", found[0]) for found in _NAME.finditer(case.context))
            if _kind(other) == _kind(name)
            and not _is_spelling(name, other)
            and not contains(case.reference, _telling_part(other))
        ]
        span = supporting_span(case, step, match.span(), name, LEAST)
        if others and span and len(occurrences(case.reference, _telling_part(name))) == 1:
            yield step.edit(match.span(), rng.choice(others), span)


def _kind(name: str) -> str:
    """The title of a person, or the last word of an institution."""
    first, last = name.split()[0], name.split()[-1]
    return first if first in _TITLES else last


def _telling_part(name: str) -> str:
    """The surname of a person with a title, or the whole name."""
    return name.split()[-1] if name.split()[0] in _TITLES else name


def _is_spelling(name: str, other: str) -> bool:
    """Whether two names may be spellings of one, or one is fuller: Białystok and Bialystok, Mr Lis and Mr Jan Lis."""
    shorter, longer = sorted((name.split(), other.split()), key=len)
    return all(any(SequenceMatcher(None, one, two).ratio() >= SAME_NAME for two in longer) for one in shorter)
