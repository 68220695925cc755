"""`mini`: generated cases with a vocabulary of about 150 words, for models that train on a laptop in minutes.

A case is a list of facts `who did what.`, each pair of who and did unique. Its reference restates two or three facts,
draws a fixed kind of inference from each, and ends with one piece of advice. Names, events and values are drawn
independently, so that only the case shows a changed value or an invented event.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from random import Random

from data_builders.lexicons import Lexicon, load_lexicon
from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import numbered
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case


class MiniWords(Lexicon):
    """The vocabulary. `values` lists the values of each kind, and `events` gives the kind of value of each event."""

    names: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    events: dict[str, dict[str, str]]
    decisions: dict[str, tuple[str, ...]]
    inferences: tuple[str, ...]
    documents: tuple[str, ...]
    non_sequiturs: dict[str, str]
    prejudices: dict[str, str]
    vague: dict[str, str]
    harmful: dict[str, str]


WORDS = load_lexicon("words", MiniWords, Path(__file__).parent)
NAMES, INFERENCES, DOCUMENTS, MONTHS = WORDS.names, WORDS.inferences, WORDS.documents, WORDS.values["month"]
EVENTS = {domain: {did: WORDS.values[kind] for did, kind in kinds.items()} for domain, kinds in WORDS.events.items()}
"""The events of each domain, with their values."""

FACT = re.compile(r"(?P<who>[A-Za-z]+) (?P<did>[a-z]+) (?P<value>[a-z0-9]+)")


@dataclass(frozen=True)
class Fact:
    who: str
    did: str
    value: str

    def __str__(self) -> str:
        return f"{self.who} {self.did} {self.value}"


def facts_of(context: str) -> list[Fact]:
    """The facts that a mini context states, in order."""
    return list(_facts(context))


@lru_cache(maxsize=8)  # the rules read the context of a case for each edit
def _facts(context: str) -> tuple[Fact, ...]:
    return tuple(Fact(who, did, value) for who, did, value in FACT.findall(context))


def _case(domain: str, rng: Random) -> Case:
    events = EVENTS[domain]
    keys = [(who, did) for who in rng.sample(NAMES, 5) for did in events]
    facts = [Fact(who, did, rng.choice(events[did])) for who, did in rng.sample(keys, rng.randint(14, 18))]
    claims = rng.sample(facts, rng.choice([2, 3]))
    steps = [f"{claim}, {rng.choice(INFERENCES)}." for claim in claims]
    steps.append(f"next ask {rng.choice(NAMES)} for the {rng.choice(DOCUMENTS)} by {rng.choice(MONTHS)}.")
    return Case.of(
        domain=domain,
        context=" ".join(f"{fact}." for fact in facts),
        decision=rng.choice(WORDS.decisions[domain]),
        reference=numbered(steps),
        source="mini",
        license="Apache-2.0",
    )


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """`limit` cases (300 by default), the three domains in turn. Case i depends on the seed and i alone."""
    domains = sorted(EVENTS)
    for number in range(300 if limit is None else limit):
        yield _case(domains[number % len(domains)], Random(content_hash("mini", seed, number)))


SOURCES.register("mini")(
    Source(
        read=read,
        help="generated cases in a small vocabulary (no data needed)",
        operators="mini",
        reads_path=False,
        balanced=False,  # the demo and the documented results use the pairs as they are
    )
)
