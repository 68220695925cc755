"""Rebuild data_builders/sources/builtin.jsonl, which ships with the package: python -m scripts.build_builtin_cases

Scenarios are written by hand (`scripts/builtin_cases/texts`); this lays each out in one of several forms and fills it
with what such a file also holds: normal results, procedure, set-up. Of `ATTEMPTS` fillings it keeps the one that shares
least with the cases before it. Everything is a pure function of the texts and SEED.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

from data_builders.sources.corpus_io import numbered, words
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.records import Case, content_hash
from scripts.builtin_cases import academic, legal, medical
from scripts.builtin_cases.overlap import overlap, runs
from scripts.builtin_cases.scenario import Scenario, ScenarioError, scenarios

SEED = 2026
ATTEMPTS = 40
FEWEST_WORDS = 710
OUT = Path(__file__).parents[1] / "data_builders" / "sources" / "builtin.jsonl"
COMPOSERS: dict[str, Callable[[Scenario, Random], str]] = {
    "medical": medical.compose,
    "legal": legal.compose,
    "academic": academic.compose,
}
STEPS = [8, 9, 10, 10, 11, 12]
"""How many steps a reference may have; those of a scenario are joined until it has one of these numbers."""


def cases() -> list[Case]:
    """All cases: the first of each domain, the second of each …"""
    found = [entry for domain in COMPOSERS for entry in enumerate(_domain(domain))]
    return [case for _, case in sorted(found, key=lambda entry: entry[0])]


def _domain(domain: str) -> list[Case]:
    before: list[frozenset[str]] = []
    made = []
    for scenario in scenarios(domain):
        drafts = []
        for attempt in range(ATTEMPTS):
            rng = Random(int(content_hash("builtin", SEED, domain, scenario.slug, attempt), 16))
            text = COMPOSERS[domain](scenario, rng)
            if words(text) >= FEWEST_WORDS:
                found = runs(text)
                drafts.append((max((overlap(found, other) for other in before), default=0.0), attempt, text, found))
        if not drafts:
            raise ScenarioError(f"scenario {domain}/{scenario.slug} is too short: no filling has {FEWEST_WORDS} words")
        _, _, context, found = min(drafts, key=lambda draft: draft[:2])
        before.append(found)
        made.append(_case(scenario, context))
    return made


def _case(scenario: Scenario, context: str) -> Case:
    rng = Random(int(content_hash("builtin", SEED, scenario.domain, scenario.slug), 16))
    return Case.of(
        domain=scenario.domain,
        context=context,
        decision=scenario.field("decision"),
        reference=numbered(joined(scenario.steps, rng.choice(STEPS))),
        source="builtin",
        license="Apache-2.0",
        meta={"name": scenario.slug, "group": f"{scenario.domain}/{scenario.slug}"},
    )


def joined(steps: tuple[str, ...], most: int) -> list[str]:
    """At most so many steps: the two neighbours that are shortest together become one, again and again."""
    found = list(steps)
    while len(found) > most:
        at = min(range(len(found) - 1), key=lambda n: words(found[n]) + words(found[n + 1]))
        found[at : at + 2] = [f"{found[at]} {found[at + 1]}"]
    return found


if __name__ == "__main__":
    write_jsonl(OUT, cases())
