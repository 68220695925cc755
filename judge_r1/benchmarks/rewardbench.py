"""RewardBench (Lambert et al., 2025): a chosen and a rejected answer to each prompt, in 23 subsets and four sections.

UNVERIFIED: the reader was not tested on the real file. The fields (`prompt`, `chosen`, `chosen_model`, `rejected`,
`rejected_model`, `subset`, `id`), the split `filtered` and the subsets follow the data set card. The composition of
Chat Hard is known from the LRBench paper (section 4.4: 456 pairs, six applications) and from LLMBar's files; a subset
of Chat Hard with a different number of pairs is rejected.

The file lists the better answer first, so candidates are ordered by hash(item_id). Each pair is judged once and counts
once in its section, except in Reasoning: there `math-prm` has the same weight as the six code subsets together, as on
the leaderboard. `score` is the mean of the four sections. (The leaderboard gives an unreadable answer half a point;
here it is wrong.)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.aggregation import mean
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, place_by_hash
from judge_r1.benchmarks.pairwise import pair_item, select_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.files.tabular import HUB, Row, rows

CHAT_HARD: Mapping[str, int] = {
    "mt-bench-hard": 37,
    "llmbar-natural": 100,
    "llmbar-adver-neighbor": 134,
    "llmbar-adver-GPTInst": 92,
    "llmbar-adver-GPTOut": 47,
    "llmbar-adver-manual": 46,
}
"""Subset -> number of pairs, 456 in total."""
SECTIONS: Mapping[str, Sequence[str]] = {
    "Chat": ("alpacaeval-easy", "alpacaeval-length", "alpacaeval-hard", "mt-bench-easy", "mt-bench-med"),
    "Chat Hard": tuple(CHAT_HARD),
    "Safety": (
        *("refusals-dangerous", "refusals-offensive", "xstest-should-refuse", "xstest-should-respond"),
        "donotanswer",
    ),
    "Reasoning": ("math-prm", "hep-cpp", "hep-go", "hep-java", "hep-js", "hep-python", "hep-rust"),
}
MATH = "math-prm"


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is a section or a subset."""
    items = map(item_of, rows(path, ("filtered",)))
    selected = select_items(items, path, subset, lambda item: (item.group, section_of(item.group)))
    check_composition(selected, path, whole=subset == "Chat Hard")
    return LoadedBenchmark(selected, metrics=sections)


def item_of(row: Row) -> Item:
    """Grouped by subset."""
    group = row.name("subset")
    if not section_of(group):
        raise row.error("subset", f"must be a subset of RewardBench, not {group[:80]!r}")
    item_id = f"{group}/{row.name('id')}"
    placed = place_by_hash(item_id, row.text("chosen"), row.text("rejected"))
    return pair_item(item_id, row.text("prompt"), *placed, group=group)


def section_of(subset: str) -> str:
    """The section of a subset, or ""."""
    return next((section for section, subsets in SECTIONS.items() if subset in subsets), "")


def check_composition(items: Iterable[Item], path: Path, *, whole: bool) -> None:
    """Checks the number of pairs in each subset of Chat Hard. Absent subsets pass unless `whole`. Raises:
    BadBenchmark."""
    counts = Counter(item.group for item in items)
    for subset, pairs in CHAT_HARD.items():
        if counts[subset] != pairs and (whole or counts[subset]):
            raise BadBenchmark(
                f"{path} holds {counts[subset]} of the {pairs} pairs of {subset}: give the whole split 'filtered'"
            )


def sections(results: Sequence[ItemResult]) -> dict[str, Any]:
    """The accuracy of each section (None without pairs) and `score` (None unless all four sections have pairs)."""
    # A mean of fewer sections would look like the leaderboard's score and be another number.
    shares = {section: _section(section, results) for section in SECTIONS}
    known = [share for share in shares.values() if share is not None]
    return {**shares, "score": mean(known) if len(known) == len(SECTIONS) else None}


def _section(section: str, results: Sequence[ItemResult]) -> float | None:
    members = [result for result in results if section_of(result.group) == section]
    if not members:
        return None
    others = sum(result.group != MATH for result in members)
    maths = len(members) - others
    # Only Reasoning has both: there the maths pairs weigh together as much as all code pairs.
    weights = [others / maths if result.group == MATH and others else 1.0 for result in members]
    return sum(weight * result.score for weight, result in zip(weights, members, strict=True)) / sum(weights)


BENCHMARKS.register("rewardbench")(
    Benchmark(
        "a chosen and a rejected answer; one order, chosen by hash",
        f"the split filtered, as a file or a folder, or {HUB}allenai/reward-bench",
        load,
        verified=False,
        subsets=f"{', '.join(SECTIONS)}; a subset, such as mt-bench-hard",
    )
)
