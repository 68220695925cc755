"""Statements: plain sentences on one matter each, which a case states or says nothing about.

A lexicon (`statements_DOMAIN.json`) lists matters such as smoking or an expert report. Patterns find in a context
whether it mentions a matter, and which of the statements on it are true. A reference gets some true statements, and P4
replaces one by a statement on a matter that the case does not mention. Each statement is true of some cases and
unsupported in others, so the sentence alone does not tell which it is.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import NamedTuple

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.perturb.rules.text_match import content_words, stems
from judge_r1.core.records import Case

DOMAINS = ("medical", "legal", "academic")
"""Domains with statements of their own. Others use those of `statements_general.json`."""
_ALTERNATIVES = re.compile(r"\{([^{}|]*)\|([^{}|]*)\}")
_SINGULAR, _PLURAL = re.compile(r"\bapplicant(?!s)\b", re.IGNORECASE), re.compile(r"\bapplicants\b", re.IGNORECASE)


class _Variant(Lexicon):
    """A statement is true of a case whose context matches `stated`. `texts` are wordings of it."""

    stated: str
    texts: tuple[str, ...]


class Matter(Lexicon):
    """What statements are about.

    A text that does not match `mention` says nothing about it. The statements make sense in contexts that match `fits`
    and do not match `unfit`. `topic` is a theme of `topics.json`.
    """

    name: str
    topic: str = ""
    mention: str
    fits: str = ""
    unfit: str = ""
    statements: tuple[_Variant, ...]

    def makes_sense(self, context: str) -> bool:
        """Whether the statements make sense in a case."""
        return (not self.fits or _search(self.fits, context)) and not (self.unfit and _search(self.unfit, context))

    def is_mentioned(self, text: str) -> bool:
        """Whether a text says anything about the matter."""
        return _search(self.mention, text)


class Statement(NamedTuple):
    """A statement: the topic of its matter, and wordings in the number of the case's people."""

    matter: str
    topic: str
    texts: tuple[str, ...]

    def wording(self, rng: Random) -> str:
        return rng.choice(self.texts)


def stated(case: Case, cited: str = "") -> Sequence[Statement]:
    """Return the statements that a case supports, on matters that neither its reference nor `cited` mentions."""
    return _of_case(case.domain, case.context, f"{case.reference}\n{cited}")[0]


def unstated(case: Case) -> Sequence[Statement]:
    """Return the statements on matters that neither the context nor the reference of a case mentions."""
    return _of_case(case.domain, case.context, case.reference)[1]


def supported(domain: str, context: str) -> tuple[list[str], list[str]]:
    """Return the keys of the statements that a context supports, and of those on matters that it does not mention."""
    known = _wordings(domain)
    true, unknown = ([known[found.texts[0]].key for _, found in some] for some in _of_context(domain, context))
    return true, unknown


def statement_key(domain: str, text: str) -> str | None:
    """Return the key of a statement in any wording, or None for another text."""
    found = _wordings(domain).get(text.strip())
    return found and found.key


def is_mentioned(domain: str, matter: str, text: str) -> bool:
    """Whether a text says anything about the matter of this name."""
    return _by_name(domain)[matter].is_mentioned(text)


def find_statements(text: str, domain: str) -> list[tuple[int, int, str]]:
    """Return where statements stand in a text, in any wording, and the topics of their matters."""
    known = _wordings(domain)
    return [(*match.span(), known[match[0]].topic) for match in _any_statement(domain).finditer(text)]


def matters(domain: str) -> tuple[Matter, ...]:
    """Return the matters of a domain."""
    return _load(domain if domain in DOMAINS else "general")


@lru_cache(maxsize=4)
def _load(name: str) -> tuple[Matter, ...]:
    return load_lexicon(f"statements_{name}", tuple[Matter, ...])


@lru_cache(maxsize=8)
def _of_case(domain: str, context: str, reference: str) -> tuple[list[Statement], list[Statement]]:
    """The statements of `stated` and `unstated`.

    A reference that has a word of all wordings of a statement may speak of its matter in a way that `mention` misses.
    """
    known, key_words = stems(reference), _key_words(domain)
    true, unknown = (
        [
            statement
            for matter, statement in found
            if not matter.is_mentioned(reference) and not key_words[statement.texts] & known
        ]
        for found in _of_context(domain, context)
    )
    return true, unknown


@lru_cache(maxsize=4)
def _key_words(domain: str) -> dict[tuple[str, ...], set[str]]:
    """The stems that all wordings of a statement share, and no other statement has, by the wordings."""
    counts, shared = Counter[str](), dict[tuple[str, ...], set[str]]()
    for matter in matters(domain):
        for variant in matter.statements:
            wordings = [set(content_words(_ALTERNATIVES.sub("", text))) for text in variant.texts]
            counts.update(set.union(*wordings))
            for several in (False, True):
                texts = _statement(matter, variant, several).texts
                shared[texts] = set.intersection(*wordings)
    return {texts: {word for word in found if counts[word] == 1} for texts, found in shared.items()}


@lru_cache(maxsize=8)
def _of_context(domain: str, context: str) -> tuple[list[tuple[Matter, Statement]], list[tuple[Matter, Statement]]]:
    """The statements that a context supports, and those on matters that it does not mention.

    If a context matches several statements on a matter, none of them is certain.
    """
    several = len(_PLURAL.findall(context)) > len(_SINGULAR.findall(context))
    true, unknown = list[tuple[Matter, Statement]](), list[tuple[Matter, Statement]]()
    for matter in matters(domain):
        if not matter.makes_sense(context):
            continue
        if not matter.is_mentioned(context):
            unknown += [(matter, _statement(matter, variant, several)) for variant in matter.statements]
            continue
        found = [variant for variant in matter.statements if _search(variant.stated, context)]
        if len(found) == 1:
            true.append((matter, _statement(matter, found[0], several)))
    return true, unknown


def _statement(matter: Matter, variant: _Variant, several: bool) -> Statement:
    return Statement(matter.name, matter.topic, tuple(_in_number(text, several) for text in variant.texts))


def _in_number(text: str, several: bool) -> str:
    """Choose between the alternatives `{singular|plural}` of a text."""
    return _ALTERNATIVES.sub(lambda match: match[2 if several else 1], text)


class _Wording(NamedTuple):
    """The statement of a wording: its key, which is the name of its matter and a number, and the topic."""

    key: str
    topic: str


@lru_cache(maxsize=8)
def _wordings(domain: str) -> dict[str, _Wording]:
    """The statement of each wording, in singular and plural."""
    return {
        _in_number(text, several): _Wording(f"{matter.name} {number}", matter.topic)
        for matter in matters(domain)
        for number, variant in enumerate(matter.statements)
        for text in variant.texts
        for several in (False, True)
    }


@lru_cache(maxsize=8)
def _by_name(domain: str) -> dict[str, Matter]:
    return {matter.name: matter for matter in matters(domain)}


@lru_cache(maxsize=8)
def _any_statement(domain: str) -> re.Pattern[str]:
    texts = sorted(_wordings(domain), key=len, reverse=True)
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, texts))})(?!\S)")


def _search(pattern: str, text: str) -> bool:
    return _compiled(pattern).search(text) is not None


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE)
