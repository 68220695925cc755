"""Rebuild data_builders/sources/builtin.jsonl, the cases that ship with the package: python -m scripts.build_builtin_cases

Scenarios are written by hand (`scripts/builtin_cases/texts`); this lays each out in one of several forms and fills it
with what such a file also holds: normal results, procedure, set-up. A case depends on its scenario and SEED alone.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

from data_builders.sources.reading import numbered
from judge_r1.jsonl import write_jsonl
from judge_r1.records import Case, content_hash
from scripts.builtin_cases import academic, legal, medical
from scripts.builtin_cases.scenario import Scenario, scenarios

SEED = 2026
OUT = Path(__file__).parents[1] / "data_builders" / "sources" / "builtin.jsonl"
COMPOSERS: dict[str, Callable[[Scenario, Random], str]] = {
    "medical": medical.compose,
    "legal": legal.compose,
    "academic": academic.compose,
}


def cases() -> list[Case]:
    """All cases: the first of each domain, the second of each …"""
    found = [case for domain in COMPOSERS for case in enumerate(map(_case, scenarios(domain)))]
    return [case for _, case in sorted(found, key=lambda entry: entry[0])]


def _case(scenario: Scenario) -> Case:
    rng = Random(int(content_hash("builtin", SEED, scenario.domain, scenario.slug), 16))
    return Case.of(
        domain=scenario.domain,
        context=COMPOSERS[scenario.domain](scenario, rng),
        decision=scenario.field("decision"),
        reference=numbered(scenario.steps),
        source="builtin",
        license="Apache-2.0",
        meta={"name": scenario.slug, "group": f"{scenario.domain}/{scenario.slug}"},
    )


if __name__ == "__main__":
    write_jsonl(OUT, cases())
