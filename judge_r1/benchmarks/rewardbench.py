"""RewardBench (Lambert et al., 2025): a chosen and a rejected answer to each prompt, in 23 subsets and four sections.

UNVERIFIED: the file is not at hand here; the fields (`prompt`, `chosen`, `chosen_model`, `rejected`, `rejected_model`,
`subset`, `id`), the split `filtered` and the subsets are those of the data set's card. Of Chat Hard the composition is
known from the paper of LRBench (section 4.4: 456 pairs, six applications) and from LLMBar's own files; a subset of it
that holds another number of pairs is refused.

The better answer always comes first in the file, so pairs are placed by hash(item_id); one game. A section counts each
pair once, but for Reasoning, where `math-prm` counts as much as the six subsets of code together, as on the
leaderboard; `score` is the mean of the four sections. (The leaderboard gives half a point for an unreadable answer;
here it is wrong.)
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark, place_by_hash
from judge_r1.benchmarks.pairwise import cluster_of, select_subset, unique_items
from judge_r1.core.items import Item, ItemResult
from judge_r1.core.tabular import HUB, Row, rows

CHAT_HARD: Mapping[str, int] = {
    "mt-bench-hard": 37,
    "llmbar-natural": 100,
    "llmbar-adver-neighbor": 134,
    "llmbar-adver-GPTInst": 92,
    "llmbar-adver-GPTOut": 47,
    "llmbar-adver-manual": 46,
}
"""Subset -> pairs: 456 in all."""
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
    items = unique_items(map(item_of, rows(path, ("filtered",))), path)
    kept = list(select_subset(items, subset, lambda item: (item.group, section_of(item.group))))
    check_composition(kept, path, whole=subset == "Chat Hard")
    return LoadedBenchmark(kept, metrics=sections)


def item_of(row: Row) -> Item:
    """Grouped by subset; the pairs of one prompt are one cluster."""
    group = row.name("subset")
    if not section_of(group):
        raise row.error("subset", f"must be a subset of RewardBench, not {group[:80]!r}")
    item_id = f"{group}/{row.name('id')}"
    candidates, gold = place_by_hash(item_id, row.text("chosen"), row.text("rejected"))
    return Item(
        item_id=item_id,
        cluster_id=cluster_of(row.text("prompt")),
        group=group,
        instruction=row.text("prompt"),
        candidates=candidates,
        gold=gold,
    )


def section_of(subset: str) -> str:
    """The section of a subset; "" where it has none."""
    return next((section for section, subsets in SECTIONS.items() if subset in subsets), "")


def check_composition(items: Iterable[Item], path: Path, *, whole: bool) -> None:
    """Every subset of Chat Hard that is there must be whole, and with `whole` all of them must be there. Errors:
    BadBenchmark."""
    counts = Counter(item.group for item in items)
    for subset, pairs in CHAT_HARD.items():
        if counts[subset] != pairs and (whole or counts[subset]):
            raise BadBenchmark(
                f"{path} holds {counts[subset]} pairs of {subset}, which has {pairs}: give the whole split 'filtered'"
            )


def sections(outcomes: Sequence[ItemResult]) -> dict[str, Any]:
    """Accuracy of each section, None where it has no pairs, and `score`, None unless all four have."""
    shares = {section: _section(section, outcomes) for section in SECTIONS}
    known = [share for share in shares.values() if share is not None]
    return {**shares, "score": sum(known) / len(known) if len(known) == len(SECTIONS) else None}


def _section(section: str, outcomes: Sequence[ItemResult]) -> float | None:
    there = [o for o in outcomes if section_of(o.group) == section]
    if not there:
        return None
    rest = sum(o.group != MATH for o in there)
    maths = len(there) - rest
    weights = [rest / maths if o.group == MATH and rest else 1.0 for o in there]
    return sum(weight * o.score for weight, o in zip(weights, there, strict=True)) / sum(weights)


BENCHMARKS.register("rewardbench")(
    Benchmark(
        "a chosen and a rejected answer; one game, placed by hash",
        f"the split filtered, as a file or a folder, or {HUB}allenai/reward-bench",
        load,
        verified=False,
        subsets=f"{', '.join(SECTIONS)}; a subset, such as mt-bench-hard",
    )
)
