"""Folders of pairs for tests of splits and exports."""

from collections import Counter
from functools import cache
from pathlib import Path
from random import Random

from factories import make_pair

from data_builders.perturb.rules.engine import perturb
from data_builders.worlds.mini.source import read
from judge_r1.core.records import Case, ReasoningPair
from judge_r1.files.jsonl import write_jsonl
from judge_r1.files.pair_set import CASES_FILE, PAIRS_FILE


def mini_folder(at: Path, count: int, *, variants: int = 3, seed: int = 0) -> Path:
    """Writes `count` cases of `mini` with all of their pairs."""
    return folder(at, *_mini(count, variants, seed))


@cache
def _mini(count: int, variants: int, seed: int) -> tuple[list[Case], list[ReasoningPair]]:
    cases = list(read(None, count, seed, Counter()))
    pairs = [pair for case in cases for pair in perturb(case, variants=variants, rule_set="mini", abstained=Counter())]
    return cases, pairs


def folder(at: Path, cases: list[Case], pairs: list[ReasoningPair]) -> Path:
    write_jsonl(at / CASES_FILE, cases)
    write_jsonl(at / PAIRS_FILE, pairs)
    return at


def long_case(seed: int, words: int = 120, **meta: str) -> Case:
    """A case of random words; different seeds share nothing."""
    rng = Random(seed)
    text = [f"w{rng.randrange(10_000)}" for _ in range(2 * words)]
    return Case.of(
        domain="legal",
        context=" ".join(text[:words]) + ".",
        decision="grant",
        reference=" ".join(text[words:]) + ".",
        source="toy",
        license="Apache-2.0",
        meta=dict(meta),
    )


def copied(case: Case, *, context: int | None = None, reasoning: int | None = None, seed: int = 0) -> Case:
    """A near duplicate in context or reasoning: every n-th word is changed."""

    def edited(text: str, every: int | None) -> str:
        if every is None:
            return text
        return " ".join(f"x{at}" if at % every == every - 1 else word for at, word in enumerate(text.split()))

    other = long_case(1_000_000 + seed)
    return Case.of(
        domain=case.domain,
        context=edited(case.context, context) if context else other.context,
        decision=case.decision,
        reference=edited(case.reference, reasoning) if reasoning else other.reference,
        source="toy",
        license="Apache-2.0",
    )


def pairs_of(case: Case) -> list[ReasoningPair]:
    """One pair for each of the seven sets."""
    violated = [(n,) for n in range(1, 7)] + [(1, 2)]
    return [make_pair(case, f"{case.reference} and {n}.", numbers) for n, numbers in enumerate(violated)]
