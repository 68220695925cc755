"""Builds the splits of `haystack`: train, dev and test with reserved seeds, checked to be disjoint."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from data_builders.build import build, write_pairs
from data_builders.sources.haystack import SEEDS, check_disjoint, read
from judge_r1.core.pair_set import PairSet, load_pairs
from judge_r1.core.records import ReasoningPair

CASES: Mapping[str, int] = {"train": 600, "dev": 30, "test": 120}
VARIANTS = 4
"""Variants of P2 and of P4 in each case; the other principles have one."""


def build_splits(out: Path, cases: Mapping[str, int] = CASES) -> dict[str, PairSet]:
    """Writes the folders `out`/train, dev and test, and returns them.

    Raises:
        JudgeError: Two splits, or one and the base's texts, share content.
    """
    check_disjoint({name: list(read(None, count, SEEDS[name], Counter())) for name, count in cases.items()})
    splits = {}
    for name, count in cases.items():
        build("haystack", out / name / "all", variants=VARIANTS, seed=SEEDS[name], limit=count)
        every = load_pairs(out / name / "all")
        splits[name] = PairSet(every.cases, [pair for pair in every.pairs if is_kept(pair)])
        write_pairs(splits[name], out / name)
    return splits


def is_kept(pair: ReasoningPair) -> bool:
    """All pairs that violate only P2 or only P4, which need a search, and the first variant of the others."""
    return pair.violated in ((2,), (4,)) or pair.variant == 1
