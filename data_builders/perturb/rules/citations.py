"""Adds sentences of the case to a reference reasoning, as citations, and statements on its matters.

Rules then change what a citation says (P2), or replace a statement by one on a matter that the case does not mention
(P4). Either still reads like any other citation or statement.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import log
from random import Random

from data_builders.lexicons import load_lexicon
from data_builders.perturb.rules.corpus_facts import CorpusFacts
from data_builders.perturb.rules.facts import Fact, facts, is_plain
from data_builders.perturb.rules.operators import Interval, Step, seeded_random
from data_builders.perturb.rules.remarks import find_remarks, sound_remarks
from data_builders.perturb.rules.sentence_parts import is_dependent
from data_builders.perturb.rules.statements import Statement, find_statements, is_mentioned, stated
from data_builders.perturb.rules.steps import MARKER, body_sentences, sentences, split_steps
from data_builders.perturb.rules.text_match import content_words, sentence_index
from data_builders.perturb.rules.values import has_value
from data_builders.perturb.rules.word_classes import ATTRIBUTES, OPPOSITES, Classes, classes_of
from data_builders.perturb.rules.wordings import themes_of
from judge_r1.core.records import Case

MAX_RESTATED = 0.6
"""The share of the words of a fact that a sentence of the reference may have already."""
RELATED_SHARE = 0.5
"""The share of the facts that stand near sentences on the same matter. The others may stand anywhere: otherwise a fact
of another case would be the only one out of place."""
NO_VALUE, NO_ATTRIBUTE = 1.0, 2.0
"""How far back a fact without a number or date for P2 to change is sorted, and one without an attribute either. More
than any fact is related to a place (0 to 1)."""
MADE_NO_VALUE, NOT_DETAIL = 0.15, 0.3
"""The same in generated cases for a fact without a number or date, and for one that is no detail."""
PLAIN_SHARE = 0.5
"""The share of the facts that need no quotation marks and get none."""
REMARK_SHARE = 0.7
"""The share of the citations that get a remark."""
AROUND = 200
"""Characters before the end of a sentence that show its topic."""
STATEMENTS = 8
"""The most statements of a reference: more than P4 replaces by default, so that the build can choose."""

_QUOTES = load_lexicon("citations", dict[str, tuple[str, ...]])
"""Templates of quotations by domain."""


@dataclass(frozen=True)
class Citation:
    """A fact in a step: characters `[start, end)` of the step's text. `whole` is the sentence around it."""

    start: int
    end: int
    whole: Interval
    fact: Fact


def cite_facts(case: Case, count: int, seed: int = 0, corpus: CorpusFacts | None = None) -> Case:
    """Return the case with up to `count` sentences of its context in the reference, most of them with a remark.

    About half of them stand near sentences on the same matter (`RELATED_SHARE`). The reference also gets statements, a
    third more than `count` and at most `STATEMENTS`. `meta["citations"]` and `meta["statements"]` count them, and the
    id changes. A case that gets neither is returned as it is. With a `corpus` of generated cases, the reference cites
    details instead of statements.
    """
    rng = seeded_random(case, seed, "citations")
    steps = split_steps(case.reference)
    places = [(step.start + end, step.index) for step in steps for end in _sentence_ends(step)]
    sites = {end: step for end, step in places if not is_dependent(case.reference[end:].lstrip())}
    remarks = sound_remarks(case, count, rng)
    found = corpus.of_case(case) if corpus else facts(case.context)
    placed: dict[int, str] = {}
    for fact, site in _chosen(case, found, list(sites), count, corpus, rng):
        placed[site] = cited(fact, case.domain, rng)
        if remarks and rng.random() < REMARK_SHARE:
            placed[site] += f" {remarks.pop()}"
    citations, statements = len(placed), 0
    if corpus is None:
        shown = " ".join(placed.values())
        for text, site in _placed_statements(case, shown, sites, min(4 * count // 3, STATEMENTS), seed):
            placed[site] = f"{text} {placed.get(site, '')}".rstrip()
            statements += 1
    if not placed:
        return case
    text, position = "", 0
    for site in sorted(placed):
        text += case.reference[position:site] + _opening(case.reference, site) + placed[site]
        position = site
    counts = {"citations": citations} | ({"statements": statements} if statements else {})
    return Case.of(
        domain=case.domain,
        context=case.context,
        decision=case.decision,
        reference=text + case.reference[position:],
        source=case.source,
        license=case.license,
        meta={**case.meta, **counts},
    )


def _placed_statements(
    case: Case, shown: str, sites: Mapping[int, int], count: int, seed: int
) -> Iterator[tuple[str, int]]:
    """Yield up to `count` statements that the case supports, and the ends of sentences behind which they stand.

    Neither the reference, the citations (`shown`) nor another statement mentions the matter of a statement: the rest
    of the text would confirm a true one, and never an invented one. A site has one at most. Sites on the same topic
    come first, then those in steps with the fewest statements: the variants of P4 change different steps.
    """
    rng = seeded_random(case, seed, "statements")
    in_step, free = Counter[int](), rng.sample(list(sites), len(sites))
    themes = {site: themes_of(case.domain, case.reference[max(0, site - AROUND) : site]) for site in sites}
    true, taken = stated(case, shown), list[Statement]()
    for statement in rng.sample(true, len(true)):
        if count == 0 or not free:
            return
        if any(_related(case.domain, statement, other) for other in taken):
            continue
        taken.append(statement)
        site = min(free, key=lambda end: (in_step[sites[end]], statement.topic not in themes[end]))
        in_step[sites[site]] += 1
        free.remove(site)
        count -= 1
        yield statement.wording(rng), site


def _related(domain: str, one: Statement, other: Statement) -> bool:
    """Whether one of two statements mentions the matter of the other."""
    return is_mentioned(domain, one.matter, " ".join(other.texts)) or is_mentioned(
        domain, other.matter, " ".join(one.texts)
    )


def _sentence_ends(step: Step) -> Iterator[int]:
    """Yield the ends of the sentences of a step."""
    for _, end in body_sentences(step, 5):
        if step.text[:end].rstrip("* ")[-1] not in ":;,—–-?":
            yield end


def _opening(reference: str, site: int) -> str:
    return " " if reference[:site].rstrip("*)]’'”\"»")[-1:] in (".", "!") else ". "


def _weights(context: str) -> dict[str, float]:
    """Return how rare each stem is among the sentences of a context: log of the inverse share of sentences."""
    index = sentence_index(context)
    counts = Counter(stem for sentence in index for stem in sentence.stems)
    return {stem: log((1 + len(index)) / count) for stem, count in counts.items()}


def _chosen(
    case: Case, found: Sequence[Fact], sites: Sequence[int], count: int, corpus: CorpusFacts | None, rng: Random
) -> Iterator[tuple[Fact, int]]:
    """Yield facts and their sites: those that P2 can change first, then the most related. No site is used twice."""
    around = {site: set(content_words(case.reference[max(0, site - 300) : site])) for site in sites}
    weight = _weights(case.context)
    known = [set(content_words(case.reference[a:b])) for a, b in sentences(case.reference)]
    classes = (*classes_of(case.domain, ATTRIBUTES), *classes_of(case.domain, OPPOSITES))
    related: list[tuple[float, float, Fact, int]] = []
    for fact in found:
        if _is_restated(fact, known):
            continue
        weights = {stem: weight.get(stem, 1.0) for stem in content_words(fact.text)}
        total = sum(weights.values())
        if corpus is None:
            penalty = _penalty(fact, classes)
        else:
            penalty = 0.0 if has_value(fact.text) else MADE_NO_VALUE
            penalty += 0.0 if corpus.is_detail(case.domain, fact) else NOT_DETAIL
        for site, words in around.items():
            share = sum(value for stem, value in weights.items() if stem in words) / total
            related.append((penalty - share, rng.random(), fact, site))
    free, used = list(sites), set[int]()
    cited_words: list[set[str]] = []
    for _, _, fact, site in sorted(related, key=lambda entry: entry[:2]):
        if len(used) == count or not free:
            return
        if fact.start not in used and site in free and not _is_restated(fact, cited_words):
            if rng.random() >= RELATED_SHARE:
                site = rng.choice(free)
            used.add(fact.start)
            cited_words.append(set(content_words(fact.text)))
            free.remove(site)
            yield fact, site


def _penalty(fact: Fact, classes: Classes) -> float:
    """How far back a fact is sorted because P2 can change little in it."""
    if has_value(fact.text):
        return 0.0
    return NO_VALUE if any(one.find(fact.text, 0, len(fact.text)) for one in classes) else NO_ATTRIBUTE


def _is_restated(fact: Fact, known: Iterable[Set[str]]) -> bool:
    """Whether one of the known sentences, each a set of stems, has most words of a fact."""
    named = content_words(fact.text)
    return any(sum(stem in sentence for stem in named) > MAX_RESTATED * len(named) for sentence in known)


def cited(fact: Fact, domain: str, rng: Random) -> str:
    """Return a sentence that states a fact: as it stands, or quoted."""
    if is_plain(fact) and rng.random() < PLAIN_SHARE:
        return fact.text
    quoted = rng.choice(_templates(domain)).replace("{fact}", fact.text)
    return quoted if fact.text.endswith(".") else f"{quoted}."


def with_citations(case: Case, steps: Sequence[Step]) -> list[Step]:
    """Return the steps with their citations (facts of the context, word by word), remarks and statements."""
    found = facts(case.context)
    return [
        replace(
            step,
            citations=tuple(_citations(step, found, case.domain)),
            remarks=find_remarks(step.text, case.domain),
            statements=tuple(find_statements(step.text, case.domain)),
        )
        for step in steps
    ]


def _citations(step: Step, found: Sequence[Fact], domain: str) -> Iterator[Citation]:
    marker = MARKER.match(step.text)
    first = marker.end() if marker else 0  # the numbering stays
    for fact in found:
        start = step.text.find(fact.text, first)
        if start >= 0:
            whole = _as_written(step.text, start, fact, domain) or _sentence_around(step.text, start, fact)
            if whole is not None:
                yield Citation(start, start + len(fact.text), (max(whole[0], first), whole[1]), fact)


def _as_written(text: str, start: int, fact: Fact, domain: str) -> Interval | None:
    """The sentence that `cited` wrote. Sentences are not split behind `mg/L.` or an initial, and must not be here."""
    end = start + len(fact.text)
    if is_plain(fact) and text[start - 1 : start].strip() == text[end : end + 1].strip() == "":
        return start, end
    for template in _templates(domain):
        before, after = template.split("{fact}")
        if text.endswith(before, 0, start) and text.startswith(after, end):
            end += len(after)
            return start - len(before), end + (text.startswith(".", end) and not fact.text.endswith("."))
    return None


def _sentence_around(text: str, start: int, fact: Fact) -> Interval | None:
    end = start + len(fact.text)
    return next(((a, b) for a, b in sentences(text) if a <= start and end <= b), None)


def _templates(domain: str) -> tuple[str, ...]:
    return _QUOTES.get(domain) or _QUOTES["general"]
