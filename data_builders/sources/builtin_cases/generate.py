"""Generates any number of cases. Case `number` of a domain depends on the seed and its number alone."""

from collections.abc import Callable, Iterator
from functools import lru_cache
from random import Random

from data_builders.sources.builtin_cases import academic, legal, made_academic, made_legal, made_medical, medical
from data_builders.sources.builtin_cases.matters import GENERAL, Topic
from data_builders.sources.builtin_cases.scenario import Scenario, joined
from data_builders.sources.corpus_io import numbered
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case

STEPS = (9, 10, 10, 11, 12)
"""The most steps of a reference. The steps of a scenario are joined until one of these is reached."""
Maker = Callable[[Topic, int, Random], Scenario]
Composer = Callable[[Scenario, Random], str]
DOMAINS: dict[str, tuple[Maker, Composer, dict[str, Topic]]] = {
    "medical": (made_medical.scenario, medical.compose, made_medical.TOPICS),
    "legal": (made_legal.scenario, legal.compose, made_legal.TOPICS),
    "academic": (made_academic.scenario, academic.compose, made_academic.TOPICS),
}


def generated(per_domain: int, seed: int) -> Iterator[Case]:
    """Returns so many cases of each domain, the three domains in turn. A larger number continues a smaller one."""
    for number in range(per_domain):
        for domain in DOMAINS:
            yield generated_case(domain, number, seed)


def generated_case(domain: str, number: int, seed: int) -> Case:
    """Returns one case. Every topic of a domain comes once before any comes again."""
    make, compose, topics = DOMAINS[domain]
    names = [name for name in topics if name != GENERAL]
    topic = topics[_order(domain, number // len(names), seed, tuple(names))[number % len(names)]]
    rng = _rng(domain, seed, number)
    scenario = make(topic, rng.randrange(60), rng)
    return Case.of(
        domain=domain,
        context=compose(scenario, rng),
        decision=scenario.fields["decision"],
        reference=numbered(joined(scenario.steps, rng.choice(STEPS))),
        source="builtin",
        license="Apache-2.0",
        meta={"name": f"{topic.name}-{seed}-{number}", "topic": topic.name, "generated": f"seed {seed}"},
    )


@lru_cache(maxsize=8)
def _order(domain: str, turn: int, seed: int, names: tuple[str, ...]) -> list[str]:
    return _rng(domain, seed, f"topics {turn}").sample(names, len(names))


def _rng(*parts: str | int) -> Random:
    return Random(int(content_hash("builtin, generated", *parts), 16))
