"""Builds the splits of `haystack`: train, dev, test and the demo's, with reserved seeds, checked to be disjoint."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

from data_builders.build import build, write_pairs
from data_builders.worlds.haystack.source import SEEDS, Contents, check_disjoint, contents, read
from judge_r1.core.record_base import content_hash
from judge_r1.core.records import Case, ReasoningPair, Span
from judge_r1.core.verdicts import Preference
from judge_r1.files.pair_set import PairSet, load_pairs

CASES: Mapping[str, int] = {"train": 600, "dev": 30, "test": 30, "demo": 30}
VARIANTS = 4
"""Variants of P2 and of P4 in each case; the other principles have one."""


def build_splits(
    out: Path, cases: Mapping[str, int] = CASES, draw: int = 0, source: str = "haystack"
) -> dict[str, PairSet]:
    """Writes a folder of `out` for each split, and returns them. `draw` numbers independent draws of all splits.

    Raises:
        JudgeError: Two splits share content.
    """
    check_splits(cases, draw, source)
    return {name: build_split(out / name, name, count, draw, source) for name, count in cases.items()}


def check_splits(cases: Mapping[str, int], draw: int = 0, source: str = "haystack") -> None:
    """Checks that splits of these sizes share no content. Raises JudgeError."""
    check_disjoint({name: contents_of(name, count, draw, source) for name, count in cases.items()})


def contents_of(split: str, cases: int, draw: int = 0, source: str = "haystack") -> Contents:
    """What a split of that many cases contains."""
    return contents(read(None, cases, seed_of(split, draw), Counter(), source=source))


def seed_of(split: str, draw: int = 0) -> int:
    """The reserved seed of a split in a draw."""
    return SEEDS[split] + 100 * draw


def build_split(out: Path, name: str, cases: int, draw: int = 0, source: str = "haystack") -> PairSet:
    """Writes the pairs of a split of that many cases to `out`, and returns them."""
    build(source, out / "all", variants=VARIANTS, seed=seed_of(name, draw), limit=cases)
    every = load_pairs(out / "all")
    kept = PairSet(every.cases, [pair for pair in every.pairs if is_kept(pair)])
    write_pairs(kept, out)
    return kept


def is_kept(pair: ReasoningPair) -> bool:
    """All pairs that violate only P2 or only P4, which need a search, and the first variant of the others."""
    return pair.violated in ((2,), (4,)) or pair.variant == 1


def shuffled_labels(data: PairSet, seed: int) -> PairSet:
    """The pairs with the labels of other pairs: which side is better by a coin, the flaws by a permutation.

    The texts stay where they are. A control: training on such pairs must teach nothing about the reasonings. The side
    that the coin prefers becomes the reference of a case of its own.
    """
    rng = Random(content_hash("shuffled labels", seed))
    others = rng.sample(list(data.pairs), len(data.pairs))
    made = [_relabelled(data.case_of(pair), pair, other, rng) for pair, other in zip(data.pairs, others, strict=True)]
    return PairSet.of((case for case, _ in made), [pair for _, pair in made])


def _relabelled(case: Case, pair: ReasoningPair, other: ReasoningPair, rng: Random) -> tuple[Case, ReasoningPair]:
    preferred: Preference = rng.choice(["A", "B"])
    texts = {"A": pair.reasoning_a, "B": pair.reasoning_b}
    better, (worse,) = texts.pop(preferred), texts.values()
    fields = case.model_dump(exclude={"schema_", "case_id", "reference"})
    case = Case.of(reference=better, **fields)
    flaws = tuple(
        flaw.model_copy(update={"span": Span(start=0, end=1), "context_spans": ()}) for flaw in other.origin.flaws
    )
    return case, ReasoningPair(
        schema=1,
        **pair.model_dump(exclude={"schema_", "pair_id", "case_id", "preferred", "violated", "kind", "origin"}),
        pair_id=content_hash(case.case_id, better, worse, list(other.violated)),
        case_id=case.case_id,
        preferred=preferred,
        violated=other.violated,
        kind=other.kind,
        origin=other.origin.model_copy(update={"flaws": flaws}),
    )
