"""Adds sentences of the case to a reference reasoning, as citations. Rules then change what a citation says.

A sentence of the case can be changed into something false, or exchanged for a sentence of another case, and still read
like any other citation.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import log
from random import Random

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.clauses import FINITE, is_balanced
from data_builders.perturb.rules.operators import Interval, Step, seeded_random
from data_builders.perturb.rules.sentence_parts import has_dependent
from data_builders.perturb.rules.steps import MARKER, body_sentences, sentences, split_steps
from data_builders.perturb.rules.text_match import content_words, sentence_index
from judge_r1.core.records import Case, Span

MIN_WORDS, MAX_WORDS, MAX_RESTATED = 6, 30, 0.6
"""Words of a fact, and the share of its words that a sentence of the reference may have already."""
RELATED_SHARE = 0.5
"""The share of the facts that stand near sentences on the same matter. The others may stand anywhere: otherwise a fact
of another case would be the only one out of place."""
NO_NUMBER = 0.15
"""How much more related a fact without a number must be: a number can be changed."""
PLAIN_SHARE = 0.5
"""The share of the facts that need no quotation marks and get none."""


_QUOTES = load_lexicon("citations", dict[str, tuple[str, ...]])
"""Templates of quotations by domain."""
_LABEL = re.compile(r"\s*(?:\*\*)?(?:\[[^\]\n]{3,50}\]|[A-Z][\w /&()-]{2,44}:)(?:\*\*)?\s+")
_NOT_CITED = re.compile(
    r"[“”\"‘:;*|{}<>=~\[\]#?]|\bet al\b|https?:|www\.|\.\.\.|…"
    r"|\b(?:Figs?|Figures?|Tables?|paragraphs?|Supplementary|above|below)\b"
    r"|[a-z)]\.[A-Z\d]|\s\.$|[a-z)%] \d{1,2}(?:[,–\s]+\d{1,2})+\.$"  # two sentences, and marks of footnotes
    r"|\b(?:not (?:documented|detailed|available|provided|specified|reported|applicable)|[Nn]one|[Uu]nremarkable)\b"
    r"|[A-Z]{6,} [A-Z]{6,}"
)
"""What refers to other text, or cannot stand in quotation marks."""
_DEPENDENT = re.compile(
    r"(?:It|This|These|Those|That|They|Their|Its|Such|Both|Here|There|Then|However|But|Nevertheless|Moreover|Therefore"
    r"|Furthermore|Also|Notably|Additionally|Interestingly|Importantly|Besides|Meanwhile|Of note|Thus|Hence|Accordingly"
    r"|Consequently|Otherwise|Instead|Similarly|Likewise|So|And|Or|Yet|Nor"
    r"|For (?:example|instance|this|that)|Neither|Indeed|Another|Others?|As|Some|Again|Even|Finally|Secondly?|Rather"
    r"|Still|Subsequently|Thereafter|In (?:addition|particular|this|that|such|these|contrast)|On the (?:other|same))\b"
)
_PERSONAL = re.compile(r"\b(?:I|we|our|us|my|you|he|she|his|her|they|their|it|this|these|those)\b", re.IGNORECASE)
"""Words that need a quotation: the fact is not said by the author of the reasoning."""


@dataclass(frozen=True)
class Fact:
    """A sentence of a context that can stand alone: characters `[start, end)`."""

    start: int
    end: int
    text: str

    @property
    def span(self) -> Span:
        return Span(start=self.start, end=self.end)


@dataclass(frozen=True)
class Citation:
    """A fact in a step: characters `[start, end)` of the step's text. `whole` is the sentence around it."""

    start: int
    end: int
    whole: Interval
    fact: Fact


@lru_cache(maxsize=256)
def facts(context: str) -> tuple[Fact, ...]:
    """Return the sentences of a context that can stand alone: complete, without a reference to other text."""
    found: dict[str, Fact] = {}
    for line in re.finditer(r"[^\n]+", context):
        marker = MARKER.match(line[0])
        label = _LABEL.match(line[0], marker.end() if marker else 0)
        body = label.end() if label else marker.end() if marker else 0
        for start, end in sentences(line[0][body:]):
            text = line[0][body + start : body + end]
            if _can_be_cited(text, label is not None):
                first = line.start() + body + start
                found.setdefault(text, Fact(first, first + len(text), text))
    return tuple(found.values())


def _can_be_cited(text: str, labelled: bool) -> bool:
    ends = text.endswith(".") or (labelled and text[-1:].isalnum())
    return (
        MIN_WORDS <= len(text.split()) <= MAX_WORDS
        and ends
        and (text[0].isupper() or text[0].isdigit())
        and is_balanced(text)
        and not _NOT_CITED.search(text)
        and not _DEPENDENT.match(text)
        and (labelled or FINITE.search(text) is not None)
        and len(content_words(text)) >= MIN_WORDS // 2
    )


def cite_facts(case: Case, count: int, seed: int = 0) -> Case:
    """Return the case with up to `count` sentences of its context in the reference.

    About half of them stand near sentences on the same matter (`RELATED_SHARE`). `meta["citations"]` counts them,
    and the id changes. A case that gets no citation is returned as it is.
    """
    rng = seeded_random(case, seed, "citations")
    steps = split_steps(case.reference)
    sites = [step.start + end for step in steps for end in _sites(step)]
    placed: dict[int, str] = {}
    weight = _weights(case.context)
    for fact, site in _chosen(case, sites, weight, count, rng):
        placed[site] = _opening(case.reference, site) + cited(fact, case.domain, rng)
    if not placed:
        return case
    text, position = "", 0
    for site in sorted(placed):
        text += case.reference[position:site] + placed[site]
        position = site
    return Case.of(
        domain=case.domain,
        context=case.context,
        decision=case.decision,
        reference=text + case.reference[position:],
        source=case.source,
        license=case.license,
        meta={**case.meta, "citations": len(placed)},
    )


def _sites(step: Step) -> Iterator[int]:
    """Yield the ends of the sentences of a step that no other sentence refers to."""
    for _, end in body_sentences(step, 5):
        if step.text[:end].rstrip("* ")[-1] not in ":;,—–-?" and not has_dependent(step, end):
            yield end


def _opening(reference: str, site: int) -> str:
    return " " if reference[:site].rstrip("*)]’'”\"»")[-1:] in (".", "!") else ". "


def _weights(context: str) -> dict[str, float]:
    """Return how rare each stem is among the sentences of a context: log of the inverse share of sentences."""
    index = sentence_index(context)
    counts = Counter(stem for sentence in index for stem in sentence.stems)
    return {stem: log((1 + len(index)) / count) for stem, count in counts.items()}


def _chosen(
    case: Case, sites: Sequence[int], weight: dict[str, float], count: int, rng: Random
) -> Iterator[tuple[Fact, int]]:
    """Yield facts and their sites, the most related pairs first. No site is used twice."""
    around = {site: set(content_words(case.reference[max(0, site - 300) : site])) for site in sites}
    known = [set(content_words(case.reference[a:b])) for a, b in sentences(case.reference)]
    related: list[tuple[float, float, Fact, int]] = []
    for fact in facts(case.context):
        named = content_words(fact.text)
        if any(len(sentence.intersection(named)) > MAX_RESTATED * len(named) for sentence in known):
            continue
        weights = {stem: weight.get(stem, 1.0) for stem in named}
        total, penalty = sum(weights.values()), 0.0 if re.search(r"\d", fact.text) else NO_NUMBER
        for site, words in around.items():
            share = sum(value for stem, value in weights.items() if stem in words) / total
            related.append((penalty - share, rng.random(), fact, site))
    free, used = list(sites), set[int]()
    for _, _, fact, site in sorted(related, key=lambda entry: entry[:2]):
        if len(used) == count or not free:
            return
        if fact.start not in used and site in free:
            if rng.random() >= RELATED_SHARE:
                site = rng.choice(free)
            used.add(fact.start)
            free.remove(site)
            yield fact, site


def cited(fact: Fact, domain: str, rng: Random) -> str:
    """Return a sentence that states a fact: as it stands, or quoted."""
    if is_plain(fact) and rng.random() < PLAIN_SHARE:
        return fact.text
    quoted = rng.choice(_QUOTES.get(domain) or _QUOTES["general"]).replace("{fact}", fact.text)
    return quoted if fact.text.endswith(".") else f"{quoted}."


def is_plain(fact: Fact) -> bool:
    """Whether a fact is a full sentence that reads well without quotation marks."""
    return fact.text.endswith(".") and FINITE.search(fact.text) is not None and _PERSONAL.search(fact.text) is None


def with_citations(case: Case, steps: Sequence[Step]) -> list[Step]:
    """Return the steps with their citations: the facts of the context that stand in them word by word."""
    found = facts(case.context)
    return [replace(step, citations=tuple(_citations(step, found))) for step in steps]


def _citations(step: Step, found: Sequence[Fact]) -> Iterator[Citation]:
    whole = sentences(step.text)
    for fact in found:
        start = step.text.find(fact.text)
        if start >= 0:
            end = start + len(fact.text)
            around = next(((a, b) for a, b in whole if a <= start and end <= b), None)
            if around is not None:
                yield Citation(start, end, around, fact)
