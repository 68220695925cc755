"""`mini`: generated cases with a vocabulary of about 150 words, for models that train on a laptop in minutes.

A case is a list of facts `who did what.` ("kara paid 34."), each pair of who and did unique. Its reference reasoning
restates two or three facts, draws a fixed kind of inference from each, and ends with one concrete piece of advice.
Names, events and values are drawn independently, so that a changed value or an invented event can be found only by
consulting the case. All cases are pure functions of the seed.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import SourceError, numbered
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case

NAMES = [
    "ana", "ben", "carl", "dora", "eva", "finn", "gina", "hugo", "iris", "jack", "kara", "liam", "mona", "nils", "olga",
    "paul",
]  # fmt: skip
NUMBERS = [str(n) for n in range(20, 40)]
MONTHS = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
]  # fmt: skip
PLACES = ["oslo", "rome", "paris", "delhi", "cairo", "lima", "kyoto", "quito"]
DRUGS = ["aspirin", "iron", "zinc", "insulin", "codeine", "morphine", "steroid", "vaccine"]
METHODS = ["lasso", "ridge", "boosting", "forest", "kernel", "tree", "spline", "cluster"]

EVENTS: dict[str, dict[str, list[str]]] = {
    "medical": {
        "weighed": NUMBERS, "scored": NUMBERS, "arrived": MONTHS, "relapsed": MONTHS, "took": DRUGS, "refused": DRUGS,
    },
    "legal": {
        "paid": NUMBERS, "owed": NUMBERS, "signed": MONTHS, "appealed": MONTHS, "rented": PLACES, "left": PLACES,
    },
    "academic": {
        "sampled": NUMBERS, "reported": NUMBERS, "submitted": MONTHS, "revised": MONTHS, "fitted": METHODS,
        "dropped": METHODS,
    },
}  # fmt: skip
"""The events of each domain, with their values."""

DECISIONS = {"medical": ["treat", "discharge"], "legal": ["grant", "dismiss"], "academic": ["accept", "revise"]}
INFERENCES = ["so this counts", "so this is clear", "so this stands"]
DOCUMENTS = ["letter", "record", "receipt", "scan"]

FACT = re.compile(r"(?P<who>[a-z]+) (?P<did>[a-z]+) (?P<value>[a-z0-9]+)")


@dataclass(frozen=True)
class Fact:
    who: str
    did: str
    value: str

    def __str__(self) -> str:
        return f"{self.who} {self.did} {self.value}"


def facts_of(context: str) -> list[Fact]:
    """The facts that a mini context states, in order."""
    return [Fact(**match.groupdict()) for match in FACT.finditer(context)]


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
        decision=rng.choice(DECISIONS[domain]),
        reference=numbered(steps),
        source="mini",
        license="Apache-2.0",
    )


def read(path: Path | None, limit: int | None, seed: int, skipped: Counter[str]) -> Iterator[Case]:
    """`limit` cases (300 by default), the three domains in turn. Case i depends on the seed and i alone."""
    if path is not None:
        raise SourceError("source 'mini' generates its cases: leave --path out")
    domains = sorted(EVENTS)
    for number in range(300 if limit is None else limit):
        yield _case(domains[number % len(domains)], Random(content_hash("mini", seed, number)))


SOURCES.register("mini")(
    Source(read=read, help="generated cases in a small vocabulary (no data needed)", operators="mini")
)
