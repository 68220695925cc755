"""The out-of-distribution rows of the LRBench paper (Table 5): Chat Hard of RewardBench and Reasoning of JudgeBench.

Five applications of Chat Hard are LLMBar's own sets and are read from LLMBar. judge-bench-reasoning is read from
JudgeBench's GPT-4o pairs (98 in the full set). mt-bench-hard (37 pairs) exists only in RewardBench's file and is added
if that file is present (UNVERIFIED). Each pair is judged once, in the order of the files; RewardBench's pairs are
ordered by hash. Group names are those of the table.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path

from judge_r1.benchmarks import judgebench, llmbar, rewardbench
from judge_r1.benchmarks.base import BENCHMARKS, BadBenchmark, Benchmark, LoadedBenchmark
from judge_r1.benchmarks.pairwise import select_items
from judge_r1.core.items import Item
from judge_r1.files.tabular import rows

REASONING = "judge-bench-reasoning"
MT_BENCH = "mt-bench-hard"
APPLICATIONS: Mapping[str, str] = {
    "GPTInst": "llmbar-adver-GPTInst",
    "GPTOut": "llmbar-adver-GPTOut",
    "Manual": "llmbar-adver-manual",
    "Neighbor": "llmbar-adver-neighbor",
    "Natural": "llmbar-natural",
}
"""LLMBar set -> application in Table 5."""


def load(path: Path, subset: str | None) -> LoadedBenchmark:
    """`subset` is an application."""
    return LoadedBenchmark(select_items(_items(path), path, subset))


def _items(path: Path) -> Iterator[Item]:
    pairs, bar = _folder(path, "judgebench"), _folder(path, "llmbar")
    if pairs is None or bar is None:
        missing = "JudgeBench" if pairs is None else "LLMBar"
        raise BadBenchmark(f"{path} must be a folder that holds LLMBar and JudgeBench as folders: {missing} is missing")
    for row in rows(pairs):
        item = judgebench.item_of(row)
        if item.group == "Reasoning" and row.name("response_model").startswith("gpt-4o"):
            yield item.model_copy(update={"group": REASONING})
    whole = llmbar.load(bar, None).items
    for name, application in APPLICATIONS.items():
        yield from (item.model_copy(update={"group": application}) for item in whole if item.group == name)
    rewards = _folder(path, "rewardbench", "reward-bench")
    if rewards is not None:
        yield from rewardbench.load(rewards, MT_BENCH).items


def _folder(path: Path, *names: str) -> Path | None:
    """The subfolder of `path` with one of these names, ignoring case."""
    entries = sorted(path.iterdir()) if path.is_dir() else []
    return next((folder for folder in entries if folder.name.lower() in names and folder.is_dir()), None)


BENCHMARKS.register("ood")(
    Benchmark(
        "Table 5 of the LRBench paper: Chat Hard of RewardBench by application, Reasoning of JudgeBench; one order",
        "a folder that holds LLMBar and JudgeBench as folders, and RewardBench (unverified) for the seventh row",
        load,
        verified=True,
        subsets=", ".join((REASONING, *sorted(APPLICATIONS.values()), MT_BENCH)),
    )
)
