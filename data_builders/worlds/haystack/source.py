"""`haystack`: generated cases of 200 to 240 facts, of which the reasonings claim six (docs/haystack.md). The cases of
`haystack-short` have 16 to 20, few enough to read the whole case.

A case is a list of facts `who did what.` about as many people. Names, events and values are drawn independently, so
that only the case shows which of two claims is right. Base, train, dev, test and the demo have reserved seeds.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import lru_cache, partial
from itertools import combinations
from pathlib import Path
from random import Random

from data_builders.sources import SOURCES, Source
from data_builders.sources.corpus_io import numbered
from data_builders.worlds.mini.source import WORDS as MINI_WORDS
from data_builders.worlds.mini.source import Fact
from judge_r1.core.errors import JudgeError
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case

FIRST = re.findall("..", "BaBeBoDaDeDoFaFeKaKeKoLaLeLoMaMoNaNeRaRo")
SECOND = re.findall("..", "bibudidufifugigukikulilumimuninupipuriru")
WORDS = MINI_WORDS.model_copy(
    update={
        "names": tuple(first + second for first in FIRST for second in SECOND),  # a capital starts a sentence
        # "may" is a function word to the checks of pairs
        "values": MINI_WORDS.values | {"month": tuple(m for m in MINI_WORDS.values["month"] if m != "may")},
        "inferences": ("so fine", "so clear", "so firm"),
        "non_sequiturs": {"reverse": "so reversed", "denial": "so never", "collapse": "so void"},
        "prejudices": {"origin": "but foreign", "age": "but old", "wealth": "but poor"},
    }
)
"""The vocabulary of `mini` with 400 names and shorter inferences."""
EVENTS = {domain: {did: WORDS.values[kind] for did, kind in kinds.items()} for domain, kinds in WORDS.events.items()}
FACTS, CLAIMS = {"haystack": (200, 240), "haystack-short": (16, 20)}, 6
"""Fewest and most facts of a case by source, and claims of a reasoning."""
SEEDS = {"base": 90_000_001, "train": 90_000_002, "dev": 90_000_003, "test": 90_000_035, "demo": 90_000_004}
"""The seed of each split. No other seed makes published data."""


def facts(domain: str, count: int, rng: Random) -> list[Fact]:
    """`count` facts about as many people."""
    events = EVENTS[domain]
    drawn = ((who, rng.choice(list(events))) for who in rng.sample(WORDS.names, count))
    return [Fact(who, did, rng.choice(events[did])) for who, did in drawn]


def lines(claims: Collection[Fact], rng: Random) -> list[str]:
    """The lines of a sound reasoning: each claim with an inference, then an advice."""
    who, document = rng.choice(WORDS.names), rng.choice(WORDS.documents)
    advice = f"next ask {who} for the {document} by {rng.choice(WORDS.values['month'])}."
    return [*(f"{claim}, {rng.choice(WORDS.inferences)}." for claim in claims), advice]


@lru_cache(maxsize=1024)
def _case(source: str, domain: str, seed: int, number: int) -> Case:
    """Cached, because the checks of splits and the builder read the same cases."""
    rng = Random(content_hash(source, seed, number))
    stated = facts(domain, rng.randint(*FACTS[source]), rng)
    return Case.of(
        domain=domain,
        context=" ".join(f"{fact}." for fact in stated),
        decision=rng.choice(WORDS.decisions[domain]),
        reference=numbered(lines(rng.sample(stated, CLAIMS), rng)),
        source=source,
        license="Apache-2.0",
    )


def read(
    path: Path | None, limit: int | None, seed: int, skipped: Counter[str], *, source: str = "haystack"
) -> Iterator[Case]:
    """`limit` cases (300 by default), the three domains in turn. Case i depends on the seed and i alone."""
    domains = sorted(EVENTS)
    for number in range(300 if limit is None else limit):
        yield _case(source, domains[number % len(domains)], seed, number)


Contents = dict[str, set[str]]
"""What must differ between splits, by kind."""


def contents(cases: Iterable[Case]) -> Contents:
    """The case ids, contexts, references and triples of claims of some cases."""
    found: Contents = {"case ids": set(), "contexts": set(), "references": set(), "triples of claims": set()}
    for case in cases:
        found["case ids"].add(case.case_id)
        found["contexts"].add(case.context)
        found["references"].add(case.reference)
        claims = [line.split(". ", 1)[1].split(",")[0] for line in case.reference.split("\n") if "," in line]
        found["triples of claims"] |= triples(claims)
    return found


def triples(claims: Iterable[str]) -> set[str]:
    """The sets of three claims that occur together in one reasoning."""
    return {" / ".join(three) for three in combinations(sorted(claims), 3)}


def check_disjoint(splits: Mapping[str, Contents]) -> None:
    """Checks that no two splits share a case id, a context, a reference, or three claims of one reasoning.

    Raises:
        JudgeError: They do.
    """
    for (one, first), (other, second) in combinations(splits.items(), 2):
        for kind in (kind for kind in first if kind in second):
            if shared := first[kind] & second[kind]:
                raise JudgeError(f"splits {one} and {other} share {len(shared)} {kind}, for example {min(shared):.80}")


for _name, (_fewest, _most) in FACTS.items():
    SOURCES.register(_name)(
        Source(
            read=partial(read, source=_name),
            help=f"generated cases of {_fewest} to {_most} facts in a small vocabulary (no data needed)",
            operators="haystack",
            reads_path=False,
            balanced=False,  # a dozen fixed texts of P1, P3, P5 and P6 cannot be balanced, and are meant to be visible
        )
    )
