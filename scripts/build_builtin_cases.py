"""Rebuilds data_builders/sources/builtin.jsonl, which ships with the package: python -m scripts.build_builtin_cases

Scenarios are written by hand (`data_builders/sources/builtin_cases/texts`). The script lays out each one in one of
several forms and adds the other content of such a file: normal results, procedure, set-up. Of `ATTEMPTS` variants it
keeps the one with the smallest overlap with earlier cases. The result is a pure function of the texts and SEED.
"""

import re
from collections.abc import Callable
from pathlib import Path
from random import Random

from data_builders.sources.builtin_cases import academic, legal, medical
from data_builders.sources.builtin_cases.scenario import Scenario, ScenarioError, scenarios
from data_builders.sources.builtin_cases.steps import joined
from data_builders.sources.corpus_io import numbered, words
from judge_r1.core.jsonl import write_jsonl
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case

SEED = 2026
ATTEMPTS = 40
FEWEST_WORDS = 710
RUN = 8
"""Words of a run, in which the overlap of two texts is counted."""
OUT = Path(__file__).parents[1] / "data_builders" / "sources" / "builtin.jsonl"
COMPOSERS: dict[str, Callable[[Scenario, Random], str]] = {
    "medical": medical.compose,
    "legal": legal.compose,
    "academic": academic.compose,
}
STEPS = [8, 9, 10, 10, 11, 12]
"""Numbers of steps of a reference. The steps of a scenario are joined until one of these is reached."""


def cases() -> list[Case]:
    """Returns all cases, alternating between domains."""
    found = [entry for domain in COMPOSERS for entry in enumerate(_domain(domain))]
    return [case for _, case in sorted(found, key=lambda entry: entry[0])]


def runs(text: str) -> frozenset[str]:
    """Returns all runs of eight words, lower-cased and without punctuation."""
    words = re.findall(r"\w+", text.lower())
    return frozenset(" ".join(words[n : n + RUN]) for n in range(len(words) - RUN + 1))


def overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """Returns the common runs as a share of the runs of the shorter text."""
    return len(one & other) / max(1, min(len(one), len(other)))


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
            raise ScenarioError(f"scenario {domain}/{scenario.slug} is too short: no variant has {FEWEST_WORDS} words")
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


if __name__ == "__main__":
    write_jsonl(OUT, cases())
