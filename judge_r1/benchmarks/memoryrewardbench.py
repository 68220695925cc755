"""MemoryRewardBench (Tang et al., 2026, arXiv 2601.11969): pairs of memory trajectories over 8K to 128K tokens.

UNVERIFIED: the reader was not tested on the real files. The fields (`task`, `subtask`, `ctx_length`, `question`,
`chosen`, `rejected`) and the names of the three files follow the repository's README. `question` holds the context.
The files list the better trajectory first, so candidates are ordered by hash(item_id). Groups are the tasks; a subset
is a task, a subtask or a context length.
"""

from collections import Counter
from pathlib import Path

from judge_r1.benchmarks.base import BENCHMARKS, Benchmark, LoadedBenchmark, place_by_hash
from judge_r1.benchmarks.pairwise import pair_item, select_items
from judge_r1.core.items import Item
from judge_r1.core.tabular import Row, rows
from judge_r1.judges.request import TokenLimits

TASKS = ("Long-context_Reasoning", "Multi-turn_Dialogue_Understanding", "Long-form_Generation")
LIMITS = TokenLimits(prompt_tokens=262_144)
"""A context of 128K tokens and two trajectories: the model's own context is the limit."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    parts: dict[str, tuple[str, ...]] = {}
    items: list[Item] = []
    numbers: Counter[str] = Counter()
    for row in rows(path, TASKS):
        item = item_of(row, numbers[row.split])
        numbers[row.split] += 1
        parts[item.item_id] = (item.group, row.name("subtask"), row.name("ctx_length"))
        items.append(item)
    return LoadedBenchmark(select_items(items, path, subset, lambda item: parts[item.item_id]), limits=LIMITS)


def item_of(row: Row, number: int) -> Item:
    """All pairs of a question form one cluster. The item's id is the file and the row's position in it."""
    item_id = f"{row.split}/{number}"
    candidates, gold = place_by_hash(item_id, row.text("chosen"), row.text("rejected"))
    return pair_item(item_id, row.text("question"), candidates, gold, row.split)


BENCHMARKS.register("memoryrewardbench")(
    Benchmark(
        "pairs of memory trajectories over contexts of 8K to 128K tokens",
        f"a folder with {', '.join(f'{task}.jsonl' for task in TASKS)}",
        load,
        verified=False,
        subsets=f"{', '.join(TASKS)}; a subtask such as Mixed-Drop; a length such as 32k",
    )
)
